-- +goose Up
-- What happened with a key, line by line: for people, never for a decision. Lines may be missing. Times
-- are microseconds. No two lines of one process have the same time.
CREATE TABLE key_events (
    key         text NOT NULL,
    consumer_id bigint NOT NULL,
    at          bigint NOT NULL,
    endpoint_id smallint NOT NULL,
    attempt     integer NOT NULL,
    times       bigint NOT NULL,
    kind        text NOT NULL,
    step        text NOT NULL,
    request_id  text NOT NULL,
    detail      text NOT NULL,
    process     text NOT NULL
);

CREATE INDEX key_events_by_key ON key_events (key, consumer_id, endpoint_id, at);
CREATE INDEX key_events_by_time ON key_events (at);

-- How the requests of each hour ended.
CREATE TABLE key_counts (
    hour        bigint NOT NULL,
    endpoint_id smallint NOT NULL,
    outcome     text NOT NULL,
    requests    bigint NOT NULL,
    PRIMARY KEY (hour, endpoint_id, outcome)
);
