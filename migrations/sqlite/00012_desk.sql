-- +goose Up
-- What the staff does at the desk, and the indexes of the desk's lists. Ids are made in the order of
-- time, so a list by id has the newest first and a page begins where the one before it ended.
ALTER TABLE messages ADD COLUMN answered_at datetime;
ALTER TABLE messages ADD COLUMN answered_by text NOT NULL DEFAULT '';

CREATE INDEX messages_unanswered ON messages (id) WHERE answered_at IS NULL;
CREATE INDEX messages_answered ON messages (id) WHERE answered_at IS NOT NULL;
CREATE INDEX messages_by_email ON messages (lower(email), id);

-- When the last try to send a mail began, unless it was sent after all.
ALTER TABLE mails ADD COLUMN dead_at datetime;

CREATE INDEX mails_waiting ON mails (id) WHERE sent_at IS NULL AND dead_at IS NULL;
CREATE INDEX mails_dead ON mails (id) WHERE dead_at IS NOT NULL;
CREATE INDEX mails_sent ON mails (id) WHERE sent_at IS NOT NULL;
CREATE INDEX mails_by_recipient ON mails (lower(recipient), id);

DROP INDEX inbox_unsettled; -- the next one holds all of it
CREATE INDEX inbox_not_applied ON inbox (state, id) WHERE state <> 'applied';
CREATE INDEX inbox_by_event ON inbox (event_id, id);
CREATE INDEX inbox_by_payment ON inbox (payment_id, id) WHERE payment_id IS NOT NULL;

CREATE INDEX deliveries_not_delivered ON deliveries (state, id) WHERE state <> 'delivered';

CREATE INDEX attention_open_by_id ON attention (id) WHERE settled_at IS NULL;
CREATE INDEX attention_settled_by_id ON attention (id) WHERE settled_at IS NOT NULL;
