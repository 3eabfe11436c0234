-- +goose Up
-- Every use of a key for another request than its first, once per request that differs. Times are
-- microseconds; zero is never.
CREATE TABLE mismatches (
    id            bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    consumer_id   bigint NOT NULL,
    endpoint_id   smallint NOT NULL,
    key           uuid NOT NULL,
    key_short     text NOT NULL,
    sum           bytea NOT NULL,
    fields        text NOT NULL,
    first_request text NOT NULL,
    first_seen    bigint NOT NULL,
    request_id    text NOT NULL,
    first_at      bigint NOT NULL,
    last_at       bigint NOT NULL,
    times         bigint NOT NULL,
    explained_by  text NOT NULL DEFAULT '',
    explained_at  bigint NOT NULL DEFAULT 0,
    note          text NOT NULL DEFAULT '',
    CONSTRAINT mismatches_once UNIQUE (key, consumer_id, endpoint_id, sum)
);

CREATE INDEX mismatches_by_time ON mismatches (last_at);
