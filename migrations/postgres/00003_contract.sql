-- +goose Up
ALTER TABLE payments
    ADD COLUMN captured         bigint NOT NULL DEFAULT 0,
    ADD COLUMN refunded         bigint NOT NULL DEFAULT 0,
    ADD COLUMN manual           boolean NOT NULL DEFAULT false,
    ADD COLUMN provider_key     text NOT NULL DEFAULT '',
    ADD COLUMN redirect_url     text NOT NULL DEFAULT '',
    ADD COLUMN provider_version bigint NOT NULL DEFAULT 0,
    ADD COLUMN revision         bigint NOT NULL DEFAULT 0;

UPDATE payments SET captured = amount WHERE status = 'paid';

ALTER TABLE payments
    ADD CONSTRAINT payments_captured_within_amount CHECK (captured BETWEEN 0 AND amount),
    ADD CONSTRAINT payments_refunded_within_captured CHECK (refunded BETWEEN 0 AND captured);

CREATE UNIQUE INDEX payments_by_provider_key ON payments (provider_key) WHERE provider_key <> '';

-- A reservation is live too. A pending payment is not: a customer who left the bank's page may pay in
-- another way, and what then comes in twice is given back.
DROP INDEX payments_one_live_per_order;
CREATE UNIQUE INDEX payments_one_live_per_order ON payments (order_id)
    WHERE status IN ('processing', 'unknown', 'authorized', 'paid');

-- Captures, voids and refunds.
CREATE TABLE modifications (
    id           uuid PRIMARY KEY,
    payment_id   uuid NOT NULL REFERENCES payments (id),
    kind         text NOT NULL,
    status       text NOT NULL,
    amount       bigint NOT NULL CHECK (amount > 0),
    currency     text NOT NULL,
    reason       text NOT NULL,
    provider_key text NOT NULL UNIQUE,
    provider_id  text NOT NULL,
    code         text NOT NULL,
    consumer_id  bigint NOT NULL,
    key          uuid,
    created_at   timestamptz NOT NULL,
    settled_at   timestamptz,
    CONSTRAINT modifications_once_per_key UNIQUE (key, consumer_id, kind)
);

CREATE INDEX modifications_by_payment ON modifications (payment_id);

CREATE TABLE cancellations (
    id          uuid PRIMARY KEY,
    order_id    uuid NOT NULL UNIQUE REFERENCES orders (id),
    consumer_id bigint NOT NULL,
    key         uuid NOT NULL,
    created_at  timestamptz NOT NULL
);

CREATE INDEX cancellations_by_key ON cancellations (key, consumer_id);

-- That an order got another address, without the address.
CREATE TABLE address_changes (
    id          uuid PRIMARY KEY,
    order_id    uuid NOT NULL REFERENCES orders (id),
    consumer_id bigint NOT NULL,
    key         uuid NOT NULL,
    created_at  timestamptz NOT NULL,
    CONSTRAINT address_changes_once_per_key UNIQUE (key, consumer_id)
);

-- Events that providers sent us. state: received, applied, superseded, parked, poison.
CREATE TABLE inbox (
    id          uuid PRIMARY KEY,
    provider    text NOT NULL,
    event_id    text NOT NULL,
    type        text NOT NULL,
    body        bytea NOT NULL, -- as it came in
    event       text NOT NULL, -- as it was understood
    state       text NOT NULL,
    tries       integer NOT NULL,
    note        text NOT NULL,
    payment_id  uuid,
    occurred_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    settled_at  timestamptz,
    CONSTRAINT inbox_once_per_event UNIQUE (provider, event_id)
);

CREATE INDEX inbox_unsettled ON inbox (received_at) WHERE state IN ('received', 'parked');

-- What a person has to look at.
CREATE TABLE attention (
    id         uuid PRIMARY KEY,
    kind       text NOT NULL,
    about      text NOT NULL,
    note       text NOT NULL,
    created_at timestamptz NOT NULL,
    settled_at timestamptz,
    settled_by text NOT NULL DEFAULT '',
    CONSTRAINT attention_once UNIQUE (kind, about)
);

CREATE INDEX attention_open ON attention (created_at) WHERE settled_at IS NULL;

-- What happened, for those who asked to be told. An event's sequence is larger than that of every
-- earlier event about the same thing.
CREATE TABLE events (
    sequence    bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    id          uuid NOT NULL UNIQUE,
    consumer_id bigint NOT NULL,
    type        text NOT NULL,
    about       uuid NOT NULL,
    data        text NOT NULL,
    occurred_at timestamptz NOT NULL
);

CREATE INDEX events_by_subject ON events (about);
