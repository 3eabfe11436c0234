-- +goose Up
-- One row: what tells this database from all others. Copies in Redis carry it in their names. A database
-- that was restored from a backup, or copied, needs a new one:
-- UPDATE instance SET id = lower(hex(randomblob(16))), and a restart of every process.
CREATE TABLE instance (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id  text NOT NULL
);

INSERT INTO instance (id) VALUES (lower(hex(randomblob(16))));
