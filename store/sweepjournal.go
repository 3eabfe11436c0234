package store

import (
	"context"
	"time"
)

const (
	keyEventAge = 7 * 24 * time.Hour // of a line of a key's journal: as long as its answer may be replayed
	keyCountAge = newsAge
)

const deleteKeyEvents = `DELETE FROM key_events WHERE at <= coalesce((SELECT at FROM key_events WHERE at <= ? ORDER BY at LIMIT 1 OFFSET ?), ?)`

// journal deletes old lines of the keys' journals, a batch at a time, and old counts.
func (s *sweep) journal(ctx context.Context) error {
	over := s.now.Add(-keyEventAge).UnixMicro()
	for n := int64(sweepBatch); n >= sweepBatch; s.did.KeyEventsDeleted += n {
		tx := s.db.Begin()
		tx.queue(deleteKeyEvents, over, sweepBatch-1, over).counting(&n)
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
	tx := s.db.Begin()
	tx.queue(`DELETE FROM key_counts WHERE hour < ?`, s.now.Add(-keyCountAge).UnixMicro())
	return tx.Commit(ctx)
}
