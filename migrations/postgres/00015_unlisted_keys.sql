-- +goose Up
-- Keys that an older release has claimed since look_at was added: it lists none. The command is there until
-- the key is finished, so a key of ours is never in here, and wiping an answer changes no index.
CREATE INDEX idempotency_keys_unlisted ON idempotency_keys (lease_until) WHERE look_at IS NULL AND input IS NOT NULL;
