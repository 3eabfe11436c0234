package simulated

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// schema: charges are the witness and are never deleted; keys are a memory that ends. Times are
// milliseconds since 1970. status and answer are null for a key that was tried but has no answer.
const schema = `
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
CREATE INDEX IF NOT EXISTS keys_first_used ON keys (first_used);`

// ledger is the provider's own database: every charge there ever was, and the recent keys. What it
// has committed survives the death of the process at any moment.
type ledger struct {
	db      *sql.DB
	writing sync.Mutex // writers queue here, in order, instead of polling SQLite's lock
	ttl     time.Duration
	now     func() time.Time
}

func openLedger(path string, ttl time.Duration, now func() time.Time) (*ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "_pragma=busy_timeout(5000)" +
		"&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate"}
	db, err := sql.Open("sqlite", file.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	if _, err := db.ExecContext(context.Background(), schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &ledger{db: db, ttl: ttl, now: now}, nil
}

func (l *ledger) close() error { return l.db.Close() }

// keyMemory is what is known of a key. answer.status is 0 as long as it has no answer.
type keyMemory struct {
	fingerprint string
	answer      reply
}

// memory gives what is remembered of a key, nil when it is new or its time is over.
func (l *ledger) memory(ctx context.Context, key string) (*keyMemory, error) {
	var m keyMemory
	err := l.db.QueryRowContext(ctx,
		`SELECT fingerprint, coalesce(status, 0), answer FROM keys WHERE key = ? AND first_used > ?`,
		key, l.oldest()).Scan(&m.fingerprint, &m.answer.status, &m.answer.body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &m, err
}

// countTry binds the key to its request and gives the number of this try, from 1.
func (l *ledger) countTry(ctx context.Context, key, fingerprint string) (tries int, err error) {
	err = l.write(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			INSERT INTO keys (key, fingerprint, tries, first_used) VALUES (?, ?, 1, ?)
			ON CONFLICT (key) DO UPDATE SET tries = tries + 1
			RETURNING tries`, key, fingerprint, l.now().UnixMilli()).Scan(&tries)
	})
	return tries, err
}

// record writes a charge and the answer of its key in one commit. first is false, and nothing is
// written, when the key has an answer already or belongs to another request.
func (l *ledger) record(ctx context.Context, c charge, fingerprint string, answer reply) (first bool, err error) {
	err = l.write(ctx, func(tx *sql.Tx) error {
		won, err := tx.ExecContext(ctx, `
			INSERT INTO keys (key, fingerprint, tries, status, answer, first_used) VALUES (?, ?, 1, ?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET status = excluded.status, answer = excluded.answer
			WHERE status IS NULL AND fingerprint = excluded.fingerprint`,
			c.IdempotencyKey, fingerprint, answer.status, answer.body, l.now().UnixMilli())
		if err != nil {
			return err
		}
		if n, err := won.RowsAffected(); err != nil || n == 0 {
			return err
		}
		first = true
		return insertCharge(ctx, tx, c)
	})
	return first && err == nil, err
}

func insertCharge(ctx context.Context, tx *sql.Tx, c charge) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO charges (id, reference, idempotency_key, amount, currency, status, captured, refunded, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, c.Reference, c.IdempotencyKey, c.Amount, c.Currency, c.Status, c.Captured, c.Refunded, c.CreatedAt.UnixMilli())
	return err
}

// charges lists by reference and key, oldest first; an empty filter matches everything. The list is
// never nil.
func (l *ledger) charges(ctx context.Context, reference, key string) ([]charge, error) {
	where, args := chargesWhere(reference, key)
	rows, err := l.db.QueryContext(ctx, `
		SELECT id, reference, idempotency_key, amount, currency, status, captured, refunded, created_at
		FROM charges WHERE `+where+` ORDER BY seq`, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err below tells what matters
	list := []charge{}
	for rows.Next() {
		var c charge
		var ms int64
		if err := rows.Scan(&c.ID, &c.Reference, &c.IdempotencyKey, &c.Amount, &c.Currency,
			&c.Status, &c.Captured, &c.Refunded, &ms); err != nil {
			return nil, err
		}
		c.CreatedAt = time.UnixMilli(ms).UTC()
		list = append(list, c)
	}
	return list, rows.Err()
}

// chargesWhere names only the columns that are asked for, so that each query can use its index.
func chargesWhere(reference, key string) (where string, args []any) {
	where = "true"
	if reference != "" {
		where, args = where+" AND reference = ?", append(args, reference)
	}
	if key != "" {
		where, args = where+" AND idempotency_key = ?", append(args, key)
	}
	return where, args
}

// write runs fn in one immediate transaction, from which expired keys are already gone.
func (l *ledger) write(ctx context.Context, fn func(*sql.Tx) error) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if _, err := tx.ExecContext(ctx, `DELETE FROM keys WHERE first_used <= ?`, l.oldest()); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// oldest is the last moment of use that is no longer remembered.
func (l *ledger) oldest() int64 { return l.now().Add(-l.ttl).UnixMilli() }
