-- +goose Up
-- The last comparison of each kind of our books with the provider's. run: recent, day.
CREATE TABLE reconciliations (
    run         text PRIMARY KEY,
    from_at     timestamptz NOT NULL,
    to_at       timestamptz NOT NULL,
    compared    bigint NOT NULL,
    repaired    bigint NOT NULL,
    differences bigint NOT NULL,
    ended_at    timestamptz NOT NULL
);
