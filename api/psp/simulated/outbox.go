package simulated

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// How long an event is tried, and the pauses between its tries.
const (
	eventLife  = 24 * time.Hour
	firstPause = time.Second
	longPause  = time.Minute
)

// sending is how an event goes out: after a delay, so many times. With no copies it is kept only.
type sending struct {
	delay  time.Duration
	copies int
}

// outgoing is an event on its way. Every try sends the same id and the same body.
type outgoing struct {
	id       string
	body     []byte
	copies   int // still to be delivered
	failures int
	due      time.Time
}

func eventOf(kind string, c charge, at time.Time) event {
	return event{ID: newID("evt"), Type: kind, CreatedAt: at.UTC().Truncate(time.Millisecond), Charge: c}
}

// insertEvent puts an event into the outbox, in the transaction of the change that it tells of.
func insertEvent(ctx context.Context, tx *sql.Tx, e event, how sending) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	var due any
	if how.copies > 0 {
		due = e.CreatedAt.Add(how.delay).UnixMilli()
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO events (id, body, copies, failures, due, created_at) VALUES (?, ?, ?, 0, ?, ?)`,
		e.ID, body, how.copies, due, e.CreatedAt.UnixMilli())
	return err
}

const outgoingColumns = `id, body, copies, failures, coalesce(due, 0)`

// nextEvent gives the event that is to be sent first, due or not. Those that were tried for eventLife
// are left in the ledger.
func (l *ledger) nextEvent(ctx context.Context) (o outgoing, found bool, err error) {
	return scanOutgoing(l.db.QueryRowContext(ctx, `SELECT `+outgoingColumns+` FROM events
		WHERE due IS NOT NULL AND created_at > ? ORDER BY due, seq LIMIT 1`, l.now().Add(-eventLife).UnixMilli()))
}

func (l *ledger) event(ctx context.Context, id string) (o outgoing, found bool, err error) {
	return scanOutgoing(l.db.QueryRowContext(ctx, `SELECT `+outgoingColumns+` FROM events WHERE id = ?`, id))
}

func scanOutgoing(row *sql.Row) (o outgoing, found bool, err error) {
	var ms int64
	err = row.Scan(&o.id, &o.body, &o.copies, &o.failures, &ms)
	if errors.Is(err, sql.ErrNoRows) {
		return outgoing{}, false, nil
	}
	o.due = time.UnixMilli(ms)
	return o, err == nil, err
}

// delivered counts one copy. The last one ends the sending.
func (l *ledger) delivered(ctx context.Context, o outgoing) error {
	return l.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE events SET copies = max(copies - 1, 0), failures = 0, due = CASE WHEN copies > 1 THEN due END
			WHERE id = ?`, o.id)
		return err
	})
}

// failed puts the next try off, longer each time.
func (l *ledger) failed(ctx context.Context, o outgoing) error {
	pause := min(firstPause<<min(o.failures, 10), longPause)
	return l.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE events SET failures = failures + 1, due = ? WHERE id = ?`,
			l.now().Add(pause).UnixMilli(), o.id)
		return err
	})
}
