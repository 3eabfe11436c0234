-- +goose Up
-- The desk's two lists of mismatches, those that came last first.
CREATE INDEX mismatches_open ON mismatches (last_at, id) WHERE explained_at = 0;
CREATE INDEX mismatches_explained ON mismatches (last_at, id) WHERE explained_at <> 0;
DROP INDEX mismatches_by_time; -- these two hold all of it
