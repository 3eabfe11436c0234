package store

import (
	"context"
	"slices"
)

// Opaque keys are found by the time of their completion, in an index of their own.
const (
	isOpaque   = `AND key >= 'ff000000-0000-0000-0000-000000000000' `
	nextOpaque = `SELECT count(*), coalesce(min(done_at), 0), coalesce(max(done_at), 0) FROM (SELECT done_at FROM idempotency_keys
		WHERE state = ? AND endpoint_id = ? ` + isOpaque + `AND done_at > ? AND done_at <= ? ORDER BY done_at LIMIT ?) next`
	completed    = isOpaque + `AND done_at >= ? AND done_at <= ?`
	deleteOpaque = `DELETE FROM idempotency_keys WHERE state = 4 AND endpoint_id = ? `
)

// opaque wipes answers, and deletes the tombstones whose time is over as well. What was made with such
// a key still carries it, and refuses it for ever.
func (s *sweep) opaque(ctx context.Context) error {
	for _, e := range s.endpoints {
		err := s.inStretches(ctx, e, 3, s.due(e), &s.did.Wiped, s.db.dialect.wipe(), []byte{}, s.due(e), e.id)
		if err != nil {
			return err
		}
		over := s.now.Add(-e.tombstone).UnixMicro() - 1
		if err := s.inStretches(ctx, e, 4, over, &s.did.TombstonesDeleted, deleteOpaque, e.id); err != nil {
			return err
		}
	}
	return nil
}

// inStretches repeats a write for one stretch of completion times after the other, each with a batch
// of an endpoint's keys in a state. It never goes back over the rows that it has just changed.
func (s *sweep) inStretches(ctx context.Context, e sweptEndpoint, state int16, until int64, sum *int64, query string, args ...any) error {
	for from := int64(0); ; {
		var found, first, last int64
		next := s.db.dialect.placeholders(nextOpaque)
		err := s.db.sql.QueryRowContext(ctx, next, state, e.id, from, until, sweepBatch).Scan(&found, &first, &last)
		if err != nil || found == 0 {
			return err
		}
		var n int64
		tx := s.db.Begin()
		tx.queue(query+completed, slices.Concat(args, []any{first, last})...).counting(&n)
		if err := tx.Commit(ctx); err != nil {
			return err
		}
		*sum += n
		from = last
	}
}
