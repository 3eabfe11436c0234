package simulated

import (
	"context"
	"fmt"
)

// schemas are the steps from an empty file to today's tables; user_version counts those a file has
// had. Times are milliseconds since 1970.
//
// Charges, modifications and events are the witness and are never deleted; keys are a memory that
// ends. status and answer of a key are null when it was tried but has no answer.
var schemas = []string{`
CREATE TABLE IF NOT EXISTS charges (
	seq             INTEGER PRIMARY KEY,
	id              TEXT    NOT NULL UNIQUE,
	reference       TEXT    NOT NULL,
	idempotency_key TEXT    NOT NULL,
	amount          INTEGER NOT NULL CHECK (amount > 0),
	currency        TEXT    NOT NULL,
	status          TEXT    NOT NULL CHECK (status IN ('succeeded', 'declined')),
	captured        INTEGER NOT NULL CHECK (captured BETWEEN 0 AND amount),
	refunded        INTEGER NOT NULL CHECK (refunded BETWEEN 0 AND captured),
	created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS charges_reference ON charges (reference);
CREATE INDEX IF NOT EXISTS charges_key ON charges (idempotency_key);
CREATE TABLE IF NOT EXISTS keys (
	key         TEXT    PRIMARY KEY,
	fingerprint TEXT    NOT NULL,
	tries       INTEGER NOT NULL,
	status      INTEGER,
	answer      BLOB,
	first_used  INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS keys_first_used ON keys (first_used);`,

	// The table is made anew, since SQLite cannot alter a check. redirect_url, return_url and
	// page_token are empty for a charge without pages; due is null when an event need not be sent.
	`
ALTER TABLE charges RENAME TO charges_1;
DROP INDEX charges_reference;
DROP INDEX charges_key;
CREATE TABLE charges (
	seq             INTEGER PRIMARY KEY,
	id              TEXT    NOT NULL UNIQUE,
	reference       TEXT    NOT NULL,
	idempotency_key TEXT    NOT NULL,
	amount          INTEGER NOT NULL CHECK (amount > 0),
	currency        TEXT    NOT NULL,
	status          TEXT    NOT NULL CHECK (status IN ('pending', 'authorized', 'succeeded', 'declined', 'canceled', 'voided')),
	captured        INTEGER NOT NULL CHECK (captured >= 0),
	voided          INTEGER NOT NULL CHECK (voided >= 0 AND captured + voided <= amount),
	refunded        INTEGER NOT NULL CHECK (refunded BETWEEN 0 AND captured),
	version         INTEGER NOT NULL CHECK (version > 0),
	manual          INTEGER NOT NULL,
	redirect_url    TEXT    NOT NULL,
	return_url      TEXT    NOT NULL,
	page_token      TEXT    NOT NULL,
	created_at      INTEGER NOT NULL
) STRICT;
INSERT INTO charges SELECT seq, id, reference, idempotency_key, amount, currency, status, captured, 0, refunded,
	1, 0, '', '', '', created_at FROM charges_1;
DROP TABLE charges_1;
CREATE INDEX charges_reference ON charges (reference);
CREATE INDEX charges_key ON charges (idempotency_key);
CREATE INDEX charges_pending ON charges (created_at) WHERE status = 'pending';
CREATE TABLE modifications (
	seq             INTEGER PRIMARY KEY,
	id              TEXT    NOT NULL UNIQUE,
	charge_id       TEXT    NOT NULL REFERENCES charges (id),
	idempotency_key TEXT    NOT NULL,
	kind            TEXT    NOT NULL CHECK (kind IN ('capture', 'void', 'refund')),
	amount          INTEGER NOT NULL CHECK (amount > 0),
	created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX modifications_key ON modifications (idempotency_key);
CREATE TABLE events (
	seq        INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	body       BLOB    NOT NULL,
	copies     INTEGER NOT NULL,
	failures   INTEGER NOT NULL,
	due        INTEGER,
	created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX events_due ON events (due, seq) WHERE due IS NOT NULL;`,

	// When a charge last changed. How long the customers of earlier charges took is not known any more.
	`
ALTER TABLE charges ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
UPDATE charges SET updated_at = max(created_at,
	coalesce((SELECT max(m.created_at) FROM modifications m WHERE m.charge_id = charges.id), 0));
CREATE INDEX charges_updated ON charges (updated_at, id);`,
}

// upgrade brings the file's tables up to date in one transaction.
func (l *ledger) upgrade(ctx context.Context) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	if version > len(schemas) {
		return fmt.Errorf("the ledger has schema %d, made by a newer program; this one knows %d", version, len(schemas))
	}
	for _, step := range schemas[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, len(schemas))); err != nil {
		return err
	}
	return tx.Commit()
}
