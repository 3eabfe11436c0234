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

// inInbox are the conditions for what a Listing may ask for. Each names what its index is made of.
var inInbox = map[string]string{
	"":                             "1 = 1",
	string(domain.EventApplied):    "state = 'applied'",
	string(domain.EventReceived):   "state <> 'applied' AND state = 'received'",
	string(domain.EventSuperseded): "state <> 'applied' AND state = 'superseded'",
	string(domain.EventParked):     "state <> 'applied' AND state = 'parked'",
	string(domain.EventPoison):     "state <> 'applied' AND state = 'poison'",
	domain.EventUnreadable:         "state <> 'applied' AND state = 'poison' AND event = ''",
}

// ListInbox reads a part of the received events, newest first and without their bodies. l.State is a state, EventUnreadable or
// EventAltered; l.Text the provider's id of an event, or the number of an order.
func (db *DB) ListInbox(ctx context.Context, l domain.Listing) (domain.Part[domain.InboxEvent], error) {
	if l.State == domain.EventAltered {
		return db.listAltered(ctx, l)
	}
	condition, known := inInbox[l.State]
	if !known {
		return domain.Part[domain.InboxEvent]{}, nil
	}
	query := db.gorm.WithContext(ctx).Table("inbox").Omit("body").Where(condition)
	if l.Text != "" {
		things, err := db.ordersThings(ctx, l.Text)
		if err != nil {
			return domain.Part[domain.InboxEvent]{}, err
		}
		if len(things) > 0 {
			query = query.Where("payment_id IN ?", things)
		} else {
			query = query.Where("event_id = ?", l.Text)
		}
	}
	return listed(query, "id", l, inboxRow.event, func(r inboxRow) string { return r.ID })
}

// listAltered reads the events that came again with another body. Their flags know them.
func (db *DB) listAltered(ctx context.Context, l domain.Listing) (page domain.Part[domain.InboxEvent], err error) {
	flags, err := partOf(db.gorm.WithContext(ctx).Table("attention").Where("kind = ?", domain.AlteredEvent), "about", l.Cursor, l.Limit,
		func(r attentionRow) string { return r.About })
	if err != nil || len(flags.Items) == 0 {
		return page, err
	}
	var rows []inboxRow
	err = db.gorm.WithContext(ctx).Table("inbox").Omit("body").
		Where("id IN ?", inPart(flags, func(r attentionRow) string { return r.About }).Items).Order("id DESC").Find(&rows).Error
	page.Older, page.Newer = flags.Older, flags.Newer
	for _, r := range rows {
		page.Items = append(page.Items, r.event())
	}
	return page, err
}

// RetryInboxEvent queues that an event which waits or was given up is looked at anew. ErrStale says that
// it is in another state.
func (tx *Tx) RetryInboxEvent(id string) {
	tx.queue(`UPDATE inbox SET state = 'received', note = '', settled_at = NULL
		WHERE id = ? AND state IN ('parked', 'poison') AND event <> ''`, id).orMissing(ErrStale)
}
