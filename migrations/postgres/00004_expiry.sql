-- +goose Up
-- How far the sweep has come with the keys of each endpoint.
CREATE TABLE key_sweeps (
    endpoint_id smallint PRIMARY KEY REFERENCES endpoints (id),
    swept_to    uuid NOT NULL
);

-- Keys that the sweep had to leave behind: unfinished, or finished long after they were made.
CREATE TABLE key_stragglers (
    key         uuid NOT NULL,
    consumer_id bigint NOT NULL,
    endpoint_id smallint NOT NULL,
    look_at     bigint NOT NULL,
    PRIMARY KEY (key, consumer_id, endpoint_id)
);

CREATE INDEX key_stragglers_by_time ON key_stragglers (endpoint_id, look_at);

-- An opaque key does not tell its age, so these rows are found by their own time. The days pay
-- nothing for it.
CREATE INDEX idempotency_keys_opaque_by_age ON idempotency_keys_opaque (state, endpoint_id, done_at);
