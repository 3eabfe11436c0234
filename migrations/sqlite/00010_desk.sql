-- +goose Up
-- Who is signed in at the desk. The token itself is kept by the browser alone.
CREATE TABLE staff_sessions (
    token_hash blob PRIMARY KEY NOT NULL,
    staff      text NOT NULL,
    created_at datetime NOT NULL,
    seen_at    datetime NOT NULL,
    expires_at datetime NOT NULL
);

-- Sign-ins that have not succeeded, for fifteen minutes. subject is a hash of a user name or an address.
CREATE TABLE sign_in_tries (
    id       text PRIMARY KEY NOT NULL,
    subject  text NOT NULL,
    tried_at datetime NOT NULL
);

CREATE INDEX sign_in_tries_by_subject ON sign_in_tries (subject, tried_at);

-- Who asked for what at the desk, kept before it is done.
CREATE TABLE staff_actions (
    id     text PRIMARY KEY NOT NULL,
    staff  text NOT NULL,
    action text NOT NULL,
    about  text NOT NULL,
    key    text NOT NULL,
    at     datetime NOT NULL,
    CONSTRAINT staff_actions_once UNIQUE (key, action)
);

CREATE INDEX staff_actions_by_subject ON staff_actions (about);

-- The desk's lists and searches. Ids are made in the order of time.
CREATE INDEX orders_by_status ON orders (status, id);
CREATE INDEX orders_by_email ON orders (lower(email), id);
CREATE INDEX payments_by_charge ON payments (charge_id) WHERE charge_id <> '';
