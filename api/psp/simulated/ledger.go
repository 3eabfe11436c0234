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

// ledger is the provider's own database: every charge there ever was with its changes, the events
// that tell of them, and the recent keys. What it has committed survives the death of the process at
// any moment.
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
	l := &ledger{db: db, ttl: ttl, now: now}
	if err := l.upgrade(context.Background()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
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

// once commits what do writes, together with the answer it gives as the key's answer. first is
// false, and nothing is written, when the key has an answer already or belongs to another request.
func (l *ledger) once(ctx context.Context, key, fingerprint string, do func(*sql.Tx) (reply, error)) (answer reply, first bool, err error) {
	err = l.write(ctx, func(tx *sql.Tx) error {
		claimed, err := tx.ExecContext(ctx, `
			INSERT INTO keys (key, fingerprint, tries, first_used) VALUES (?, ?, 1, ?)
			ON CONFLICT (key) DO UPDATE SET fingerprint = fingerprint
			WHERE status IS NULL AND fingerprint = excluded.fingerprint`,
			key, fingerprint, l.now().UnixMilli())
		if err != nil {
			return err
		}
		if n, err := claimed.RowsAffected(); err != nil || n == 0 {
			return err
		}
		if answer, err = do(tx); err != nil {
			return err
		}
		first = true
		_, err = tx.ExecContext(ctx, `UPDATE keys SET status = ?, answer = ? WHERE key = ?`, answer.status, answer.body, key)
		return err
	})
	return answer, first && err == nil, err
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
