-- +goose Up
-- Where consumers want to be told of events. A consumer has ten slots; deleting an endpoint frees its
-- slot and its URL. events is a list with commas; empty means all.
CREATE TABLE webhook_endpoints (
    id          uuid PRIMARY KEY,
    consumer_id bigint NOT NULL,
    slot        smallint NOT NULL CHECK (slot BETWEEN 1 AND 10),
    url         text NOT NULL,
    secret      text NOT NULL,
    events      text NOT NULL,
    key         uuid NOT NULL,
    created_at  timestamptz NOT NULL,
    disabled_at timestamptz,
    deleted_at  timestamptz,
    CONSTRAINT webhook_endpoints_once_per_key UNIQUE (key, consumer_id)
);

CREATE UNIQUE INDEX webhook_endpoints_one_per_slot ON webhook_endpoints (consumer_id, slot) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX webhook_endpoints_one_per_url ON webhook_endpoints (consumer_id, url) WHERE deleted_at IS NULL;

-- One event on its way to one endpoint. state: pending, delivered, dead.
CREATE TABLE deliveries (
    id           uuid PRIMARY KEY,
    event_id     uuid NOT NULL REFERENCES events (id),
    endpoint_id  uuid NOT NULL REFERENCES webhook_endpoints (id),
    state        text NOT NULL,
    tries        integer NOT NULL,
    retry_until  timestamptz NOT NULL,
    next_try_at  timestamptz,
    last_status  integer NOT NULL,
    last_error   text NOT NULL,
    created_at   timestamptz NOT NULL,
    delivered_at timestamptz,
    CONSTRAINT deliveries_once UNIQUE (event_id, endpoint_id)
);

-- Ids are made in the order of time, so this lists the newest first as well.
CREATE INDEX deliveries_by_endpoint ON deliveries (endpoint_id, id);
