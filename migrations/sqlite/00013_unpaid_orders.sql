-- +goose Up
-- Why an order was cancelled: requested, expired; empty while it is not.
ALTER TABLE orders ADD COLUMN cancelled_for text NOT NULL DEFAULT '';

-- For ending orders that nobody pays. It holds unpaid orders alone, so those that were paid cost nothing.
CREATE INDEX orders_unpaid ON orders (created_at) WHERE status = 'awaiting_payment';
