package store

import (
	"context"
	"time"

	"example.com/eenmaal/domain"
)

type eventRow struct {
	ID         string
	Sequence   int64
	ConsumerID int64
	Type       string
	About      string
	Data       string
	OccurredAt time.Time
}

// Event reads one of our own events by its id.
func (db *DB) Event(ctx context.Context, id string) (domain.Event, error) {
	var r eventRow
	err := db.gorm.WithContext(ctx).Table("events").Where("id = ?", id).Take(&r).Error
	return r.event(), notFound(err, "event_not_found", "There is no such event.")
}

func (r eventRow) event() domain.Event {
	return domain.Event{ID: r.ID, Sequence: r.Sequence, Consumer: r.ConsumerID, Type: r.Type, About: r.About, Data: r.Data,
		OccurredAt: r.OccurredAt.UTC()}
}

// InsertEvent queues an event. The database gives its sequence.
func (tx *Tx) InsertEvent(e domain.Event) {
	tx.queue(`INSERT INTO events (id, consumer_id, type, about, data, occurred_at) VALUES (?, ?, ?, ?, ?, ?)`,
		e.ID, e.Consumer, e.Type, e.About, e.Data, e.OccurredAt)
}
