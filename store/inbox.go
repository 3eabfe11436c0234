package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"example.com/eenmaal/domain"
)

type inboxRow struct {
	ID         string
	Provider   string
	EventID    string
	Type       string
	Body       []byte
	Event      string
	State      string
	Tries      int
	Note       string
	PaymentID  sql.NullString
	OccurredAt time.Time
	ReceivedAt time.Time
	SettledAt  sql.NullTime
}

func (r inboxRow) event() domain.InboxEvent {
	return domain.InboxEvent{
		ID: r.ID, Provider: r.Provider, EventID: r.EventID, Type: r.Type, Body: r.Body, Event: r.Event,
		State: domain.InboxState(r.State), Tries: r.Tries, Note: r.Note, PaymentID: r.PaymentID.String,
		OccurredAt: r.OccurredAt.UTC(), ReceivedAt: r.ReceivedAt.UTC(), SettledAt: r.SettledAt.Time.UTC(),
	}
}

// ErrReceived: the inbox has this event already.
var ErrReceived = errors.New("the event was received before")

// InsertInboxEvent queues keeping an event. One that is there already gives ErrReceived.
func (tx *Tx) InsertInboxEvent(e domain.InboxEvent) {
	tx.queue(`INSERT INTO inbox (id, provider, event_id, type, body, event, state, tries, note, occurred_at, received_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)`,
		e.ID, e.Provider, e.EventID, e.Type, e.Body, e.Event, string(e.State), e.Note, e.OccurredAt, e.ReceivedAt).
		or("inbox_once_per_event", ErrReceived)
}

// SettleInboxEvent queues what became of an event, in the transaction of its effect. ErrStale says
// that it was settled before: nothing of the transaction happens.
func (tx *Tx) SettleInboxEvent(id string, state domain.InboxState, paymentID, note string) {
	tx.queue(`UPDATE inbox SET state = ?, payment_id = ?, note = ?, tries = tries + 1, settled_at = ?
		WHERE id = ? AND state IN ('received', 'parked')`,
		string(state), sql.NullString{String: paymentID, Valid: paymentID != ""}, note, tx.Now(), id).orMissing(ErrStale)
}

// ParkInboxEvent keeps an event that cannot be applied yet for a later try.
func (db *DB) ParkInboxEvent(ctx context.Context, id, note string) error {
	tx := db.Begin()
	tx.queue(`UPDATE inbox SET state = 'parked', note = ?, tries = tries + 1 WHERE id = ? AND state IN ('received', 'parked')`, note, id)
	return tx.Commit(ctx)
}

// InboxEvent reads one received event.
func (db *DB) InboxEvent(ctx context.Context, id string) (domain.InboxEvent, error) {
	return db.inboxWhere(ctx, "id = ?", id)
}

// InboxEventByName reads the event that a provider sent under this id of its own.
func (db *DB) InboxEventByName(ctx context.Context, provider, eventID string) (domain.InboxEvent, error) {
	return db.inboxWhere(ctx, "provider = ? AND event_id = ?", provider, eventID)
}

func (db *DB) inboxWhere(ctx context.Context, condition string, args ...any) (domain.InboxEvent, error) {
	var row inboxRow
	err := db.gorm.WithContext(ctx).Table("inbox").Where(condition, args...).Take(&row).Error
	return row.event(), notFound(err, "event_not_found", "There is no such event.")
}

// Inbox reads the newest received events, for the staff.
func (db *DB) Inbox(ctx context.Context, limit int) ([]domain.InboxEvent, error) {
	var rows []inboxRow
	err := db.gorm.WithContext(ctx).Table("inbox").Order("received_at DESC, id").Limit(limit).Find(&rows).Error
	list := make([]domain.InboxEvent, len(rows))
	for i, r := range rows {
		list[i] = r.event()
	}
	return list, err
}
