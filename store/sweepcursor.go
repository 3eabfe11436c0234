package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// cursor is the key up to which an endpoint has been swept. The first sweep starts at the oldest key
// there is.
func (s *sweep) cursor(ctx context.Context, e sweptEndpoint) (string, error) {
	at, found, err := s.db.oneKey(ctx, `SELECT swept_to FROM key_sweeps WHERE endpoint_id = ?`, e.id)
	if err != nil || found {
		return at, err
	}
	first, found, err := s.db.oneKey(ctx, `SELECT key FROM idempotency_keys ORDER BY key LIMIT 1`)
	if err != nil || !found {
		return s.limit(e), err
	}
	return min(firstKeyOf(keyTime(first)), s.limit(e)), nil
}

// move sets an endpoint's cursor, unless somebody else has moved it.
func (s *sweep) move(ctx context.Context, e sweptEndpoint, from, to string) error {
	tx := s.db.Begin()
	tx.queueMove(e, from, to)
	return tx.Commit(ctx)
}

// queueMove comes first in its transaction: a second sweep waits here, and then leaves the rest undone.
func (tx *Tx) queueMove(e sweptEndpoint, from, to string) {
	tx.queue(`INSERT INTO key_sweeps (endpoint_id, swept_to) VALUES (?, ?)
		ON CONFLICT (endpoint_id) DO UPDATE SET swept_to = ? WHERE key_sweeps.swept_to = ?`,
		e.id, to, to, from).orMissing(errSweptElsewhere)
}

// oneKey reads a single key, if there is one.
func (db *DB) oneKey(ctx context.Context, query string, args ...any) (key string, found bool, err error) {
	err = db.sql.QueryRowContext(ctx, db.dialect.placeholders(query), args...).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return key, err == nil, err
}

// keyTime reads the time in a key; it undoes firstKeyOf.
func keyTime(key string) time.Time {
	var ms int64
	first, err := hex.DecodeString(strings.ReplaceAll(key[:13], "-", ""))
	if err != nil {
		return time.Time{}
	}
	for _, b := range first {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms).UTC()
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
