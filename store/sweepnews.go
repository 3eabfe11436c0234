package store

import (
	"context"
	"time"
)

// newsAge is how long settled events are kept, ours and those of providers. An id in the inbox makes a
// second delivery harmless, so it must outlive the last one: the simulated provider tries for a day,
// others for three.
const newsAge = 90 * 24 * time.Hour

// The ids of these rows tell when they were made, so each statement begins at the oldest row and stops
// at the age. A delivery needs its event. What is not settled stays, and so does what waits for a person.
const (
	deleteDeliveries = `DELETE FROM deliveries WHERE id IN
		(SELECT id FROM deliveries WHERE id < ? AND state <> 'pending' ORDER BY id LIMIT ?) AND state <> 'pending'`
	deleteEvents = `DELETE FROM events WHERE id IN
		(SELECT id FROM events WHERE id < ? AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_id = events.id) ORDER BY id LIMIT ?)`
	deleteInbox = `DELETE FROM inbox WHERE id IN
		(SELECT id FROM inbox WHERE id < ? AND state IN ('applied', 'superseded') AND settled_at < ? ORDER BY id LIMIT ?)`
)

// news deletes events, deliveries and inbox rows that were settled long ago. Payments, refunds and the
// like are the shop's books and stay.
func (s *sweep) news(ctx context.Context) error {
	old := s.now.Add(-newsAge)
	for _, step := range []struct {
		query string
		args  []any
		sum   *int64
	}{
		{deleteDeliveries, []any{firstKeyOf(old), sweepBatch}, &s.did.DeliveriesDeleted},
		{deleteEvents, []any{firstKeyOf(old), sweepBatch}, &s.did.EventsDeleted},
		{deleteInbox, []any{firstKeyOf(old), old, sweepBatch}, &s.did.InboxDeleted},
	} {
		for n := int64(sweepBatch); n == sweepBatch; *step.sum += n {
			tx := s.db.Begin()
			tx.queue(step.query, step.args...).counting(&n)
			if err := tx.Commit(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
