-- +goose Up
CREATE TABLE consumers (
    id          bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    name        text NOT NULL UNIQUE,
    secret_hash bytea NOT NULL UNIQUE
);

CREATE TABLE products (
    sku      text PRIMARY KEY,
    name     text NOT NULL,
    price    bigint NOT NULL CHECK (price > 0),
    currency text NOT NULL,
    stock    bigint NOT NULL,
    position integer NOT NULL,
    CONSTRAINT products_stock_not_negative CHECK (stock >= 0)
);

CREATE TABLE endpoints (
    id      smallint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    pattern text NOT NULL UNIQUE
);

-- One row per (key, consumer, endpoint). The key comes first, so that keys made one after the other
-- lie side by side. state: 1 running, 2 released, 3 done, 4 tombstone. Times are microseconds.
CREATE TABLE idempotency_keys (
    key         uuid NOT NULL,
    consumer_id bigint NOT NULL,
    created_at  bigint NOT NULL,
    lease_until bigint NOT NULL,
    done_at     bigint NOT NULL,
    endpoint_id smallint NOT NULL,
    state       smallint NOT NULL,
    status      smallint NOT NULL,
    attempt     integer NOT NULL,
    request_id  text NOT NULL,
    fingerprint bytea NOT NULL,
    fields      bytea NOT NULL,
    header      text NOT NULL,
    body        bytea NOT NULL,
    resource    text NOT NULL,
    input       bytea,
    steps       bytea,
    key_text    text,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key, consumer_id, endpoint_id)
) PARTITION BY RANGE (key);

-- Keys that carry no time have ids from ff on (domain.Key.ID). The days before that are partitions
-- made ahead by the program; there is no default one, so that a day can be detached without a scan.
CREATE TABLE idempotency_keys_opaque PARTITION OF idempotency_keys
    FOR VALUES FROM ('ff000000-0000-0000-0000-000000000000') TO (MAXVALUE);

CREATE TABLE orders (
    id          uuid PRIMARY KEY,
    number      text NOT NULL UNIQUE,
    token       text NOT NULL,
    status      text NOT NULL,
    email       text NOT NULL,
    name        text NOT NULL,
    line1       text NOT NULL,
    postal_code text NOT NULL,
    city        text NOT NULL,
    country     text NOT NULL,
    language    text NOT NULL,
    shipping    bigint NOT NULL CHECK (shipping >= 0),
    total       bigint NOT NULL CHECK (total > 0),
    currency    text NOT NULL,
    consumer_id bigint NOT NULL,
    key         uuid NOT NULL,
    created_at  timestamptz NOT NULL,
    CONSTRAINT orders_once_per_key UNIQUE (key, consumer_id)
);

CREATE INDEX orders_by_consumer ON orders (consumer_id) WHERE consumer_id < 0;

CREATE TABLE order_lines (
    order_id   uuid NOT NULL REFERENCES orders (id),
    position   integer NOT NULL,
    sku        text NOT NULL REFERENCES products (sku),
    name       text NOT NULL,
    quantity   bigint NOT NULL CHECK (quantity > 0),
    unit_price bigint NOT NULL,
    PRIMARY KEY (order_id, position)
);

CREATE TABLE payments (
    id          uuid PRIMARY KEY,
    order_id    uuid NOT NULL REFERENCES orders (id),
    status      text NOT NULL,
    method      text NOT NULL,
    amount      bigint NOT NULL CHECK (amount > 0),
    currency    text NOT NULL,
    charge_id   text NOT NULL,
    consumer_id bigint NOT NULL,
    key         uuid NOT NULL,
    created_at  timestamptz NOT NULL,
    CONSTRAINT payments_once_per_key UNIQUE (key, consumer_id)
);

CREATE INDEX payments_by_order ON payments (order_id);

-- An order has one open or successful payment at a time: the second of two racing payment attempts
-- is refused here, before it reaches the provider.
CREATE UNIQUE INDEX payments_one_live_per_order ON payments (order_id)
    WHERE status IN ('processing', 'unknown', 'paid');

CREATE TABLE messages (
    id          uuid PRIMARY KEY,
    reference   text NOT NULL UNIQUE,
    name        text NOT NULL,
    email       text NOT NULL,
    message     text NOT NULL,
    consumer_id bigint NOT NULL,
    key         uuid NOT NULL,
    created_at  timestamptz NOT NULL,
    CONSTRAINT messages_once_per_key UNIQUE (key, consumer_id)
);

CREATE INDEX messages_by_consumer ON messages (consumer_id) WHERE consumer_id < 0;

CREATE TABLE mails (
    id         uuid PRIMARY KEY,
    message_id text NOT NULL UNIQUE,
    kind       text NOT NULL,
    about      uuid NOT NULL,
    recipient  text NOT NULL,
    subject    text NOT NULL,
    body       text NOT NULL,
    created_at timestamptz NOT NULL,
    sent_at    timestamptz,
    CONSTRAINT mails_once UNIQUE (about, kind)
);

CREATE TABLE drafts (
    id           uuid PRIMARY KEY,
    order_key    uuid NOT NULL,
    payment_key  uuid NOT NULL,
    language     text NOT NULL,
    items        text NOT NULL,
    email        text NOT NULL,
    name         text NOT NULL,
    line1        text NOT NULL,
    postal_code  text NOT NULL,
    city         text NOT NULL,
    country      text NOT NULL,
    method_type  text NOT NULL,
    method_token text NOT NULL,
    created_at   timestamptz NOT NULL
);
