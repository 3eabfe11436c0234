-- +goose Up
-- When an unfinished key is looked at next, and how often that was done in vain. Finished keys have
-- neither, so what is done in one commit pays nothing for them and is not in the index.
ALTER TABLE idempotency_keys
    ADD COLUMN look_at bigint,
    ADD COLUMN looks   smallint;

UPDATE idempotency_keys SET look_at = lease_until + 5000000, looks = 0 WHERE state < 3;

CREATE INDEX idempotency_keys_unfinished ON idempotency_keys (look_at) WHERE look_at IS NOT NULL;
