package store

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
)

type keyEvent struct {
	Key        string
	ConsumerID int64
	EndpointID int16
	Endpoint   string
	At         int64
	Attempt    int64
	Times      int64
	Kind       string
	Step       string
	RequestID  string
	Detail     string
	Process    string
}

func (r keyEvent) event() (domain.KeyEvent, error) {
	id, err := uuid.Parse(r.Key)
	return domain.KeyEvent{
		Scope:    domain.Scope{Key: domain.KeyOfID(id, ""), Consumer: r.ConsumerID, Endpoint: r.EndpointID},
		Endpoint: r.Endpoint, At: time.UnixMicro(r.At).UTC(), Kind: domain.KeyEventKind(r.Kind), Attempt: r.Attempt, Step: r.Step,
		Request: r.RequestID, Detail: r.Detail, Process: r.Process, Times: r.Times,
	}, err
}

// KeyEventsShown is how many lines of a journal are read at most: the newest.
const KeyEventsShown = 200

const (
	selectKeyEvents = `SELECT e.key, e.consumer_id, e.endpoint_id, p.pattern AS endpoint, e.at, e.attempt, e.times, e.kind, e.step,
		e.request_id, e.detail, e.process FROM key_events e JOIN endpoints p ON p.id = e.endpoint_id `
	newestFirst   = ` ORDER BY e.at DESC LIMIT ?`
	countRequests = `SELECT count(DISTINCT NULLIF(e.request_id, '')) + coalesce(sum(e.times - 1), 0) FROM key_events e `

	ofKey    = `WHERE e.key = ? AND e.consumer_id = ? AND e.endpoint_id = ?`
	ofPlaced = `WHERE (e.key, e.consumer_id) IN (SELECT key, consumer_id FROM orders WHERE id = ?)`
	ofOrder  = `WHERE (e.key, e.consumer_id) IN (SELECT key, consumer_id FROM orders WHERE id = ?
		UNION SELECT key, consumer_id FROM payments WHERE order_id = ?)`
)

// KeyTimeline reads the journal of a key. It is empty when nothing is known, which says nothing about what
// happened.
func (db *DB) KeyTimeline(ctx context.Context, s domain.Scope) (domain.KeyTimeline, error) {
	id := keyID(s)
	timeline, err := db.keyEvents(ctx, ofKey, id, s.Consumer, s.Endpoint)
	if err == nil {
		timeline.Requests, err = db.keyRequests(ctx, ofKey, id, s.Consumer, s.Endpoint)
	}
	return timeline, err
}

// OrderTimeline reads the journals of the keys with which an order was placed and paid, as one.
func (db *DB) OrderTimeline(ctx context.Context, orderID string) (domain.KeyTimeline, error) {
	timeline, err := db.keyEvents(ctx, ofOrder, orderID, orderID)
	if err == nil {
		timeline.Requests, err = db.keyRequests(ctx, ofPlaced, orderID)
	}
	return timeline, err
}

func (db *DB) keyEvents(ctx context.Context, which string, args ...any) (t domain.KeyTimeline, err error) {
	var rows []keyEvent
	args = append(args, KeyEventsShown+1)
	if err := db.gorm.WithContext(ctx).Raw(selectKeyEvents+which+newestFirst, args...).Scan(&rows).Error; err != nil {
		return t, err
	}
	if t.Earlier = len(rows) > KeyEventsShown; t.Earlier {
		rows = rows[:KeyEventsShown]
	}
	t.Events = make([]domain.KeyEvent, len(rows))
	for i, r := range rows {
		if t.Events[i], err = r.event(); err != nil {
			return t, err
		}
	}
	slices.Reverse(t.Events)
	return t, nil
}

// keyRequests counts requests by their ids, since one request leaves several lines. One that was refused for
// being another one is not counted.
func (db *DB) keyRequests(ctx context.Context, which string, args ...any) (n int64, err error) {
	err = db.gorm.WithContext(ctx).Raw(countRequests+which+` AND e.kind <> 'mismatch'`, args...).Scan(&n).Error
	return n, err
}

// KeyTimeline is DB.KeyTimeline with what this process has noted until now.
func (j *Journal) KeyTimeline(ctx context.Context, s domain.Scope) (domain.KeyTimeline, error) {
	j.Flush()
	return j.db.KeyTimeline(ctx, s)
}

// OrderTimeline is DB.OrderTimeline with what this process has noted until now.
func (j *Journal) OrderTimeline(ctx context.Context, orderID string) (domain.KeyTimeline, error) {
	j.Flush()
	return j.db.OrderTimeline(ctx, orderID)
}

// KeyCounts reads how requests ended, hour by hour since a moment, the oldest hour first.
func (db *DB) KeyCounts(ctx context.Context, since time.Time) ([]domain.KeyCount, error) {
	var rows []struct {
		Hour     int64
		Endpoint string
		Outcome  string
		Requests int64
	}
	err := db.gorm.WithContext(ctx).Raw(`SELECT c.hour, p.pattern AS endpoint, c.outcome, c.requests
		FROM key_counts c JOIN endpoints p ON p.id = c.endpoint_id WHERE c.hour >= ? ORDER BY c.hour, p.pattern, c.outcome`,
		since.Truncate(time.Hour).UnixMicro()).Scan(&rows).Error
	list := make([]domain.KeyCount, len(rows))
	for i, r := range rows {
		list[i] = domain.KeyCount{Hour: time.UnixMicro(r.Hour).UTC(), Endpoint: r.Endpoint, Outcome: domain.KeyEventKind(r.Outcome), Requests: r.Requests}
	}
	return list, err
}
