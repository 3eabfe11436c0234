package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"example.com/eenmaal/domain"
)

type deliveryRow struct {
	ID          string
	EventID     string
	Type        string // the event's
	EndpointID  string
	State       string
	Tries       int
	RetryUntil  time.Time
	NextTryAt   sql.NullTime
	LastStatus  int
	LastError   string
	CreatedAt   time.Time
	DeliveredAt sql.NullTime
}

func (r deliveryRow) delivery() domain.Delivery {
	return domain.Delivery{ID: r.ID, EventID: r.EventID, EventType: r.Type, EndpointID: r.EndpointID, State: domain.DeliveryState(r.State),
		Tries: r.Tries, RetryUntil: r.RetryUntil.UTC(), NextTryAt: r.NextTryAt.Time.UTC(), LastStatus: r.LastStatus, LastError: r.LastError,
		CreatedAt: r.CreatedAt.UTC(), DeliveredAt: r.DeliveredAt.Time.UTC()}
}

func (db *DB) deliveries(ctx context.Context) *gorm.DB {
	return db.gorm.WithContext(ctx).Table("deliveries").
		Select("deliveries.id, event_id, type, endpoint_id, state, tries, retry_until, next_try_at, last_status, last_error, deliveries.created_at, delivered_at").
		Joins("JOIN events ON events.id = deliveries.event_id")
}

// Delivery reads one delivery by its id.
func (db *DB) Delivery(ctx context.Context, id string) (domain.Delivery, error) {
	var row deliveryRow
	err := db.deliveries(ctx).Where("deliveries.id = ?", id).Take(&row).Error
	return row.delivery(), notFound(err, "delivery_not_found", "There is no such delivery.")
}

// DeliveriesTo reads at most limit deliveries to an endpoint, newest first: the ones older than the
// delivery before, or the newest of all when before is empty.
func (db *DB) DeliveriesTo(ctx context.Context, endpointID, before string, limit int) ([]domain.Delivery, error) {
	query := db.deliveries(ctx).Where("deliveries.endpoint_id = ?", endpointID)
	if before != "" {
		query = query.Where("deliveries.id < ?", before)
	}
	return readDeliveries(query.Order("deliveries.id DESC").Limit(limit))
}

// inDelivery are the conditions for the states of a delivery. Each names what its index is made of.
var inDelivery = map[domain.DeliveryState]string{
	"":                       "1 = 1",
	domain.DeliveryDelivered: "state = 'delivered'",
	domain.DeliveryPending:   "state <> 'delivered' AND state = 'pending'",
	domain.DeliveryDead:      "state <> 'delivered' AND state = 'dead'",
}

// ListDeliveries reads a part of the deliveries to all endpoints, newest first. l.State is a
// domain.DeliveryState; l.Text the id of an event or an endpoint, or the number of an order that the
// events are about.
func (db *DB) ListDeliveries(ctx context.Context, l domain.Listing) (page domain.Part[domain.Delivery], err error) {
	condition, known := inDelivery[domain.DeliveryState(l.State)]
	if !known {
		return page, nil
	}
	query := db.deliveries(ctx).Where(condition)
	if l.Text != "" {
		column, ids, err := db.deliveriesAbout(ctx, l.Text)
		if err != nil || len(ids) == 0 {
			return page, err
		}
		query = query.Where(column+" IN ?", ids)
	}
	return listed(query, "deliveries.id", l, deliveryRow.delivery, func(r deliveryRow) string { return r.ID })
}

// deliveriesAbout tells what a text stands for: an endpoint, an event, or an order with its payments.
func (db *DB) deliveriesAbout(ctx context.Context, text string) (column string, ids []string, err error) {
	id, malformed := uuid.Parse(text)
	if malformed != nil {
		ids, err = db.ordersThings(ctx, text)
		return "events.about", ids, err
	}
	switch _, err := db.WebhookEndpoint(ctx, id.String()); {
	case err == nil:
		return "deliveries.endpoint_id", []string{id.String()}, nil
	case domain.KindOf(err) == domain.NotFound:
		return "deliveries.event_id", []string{id.String()}, nil
	default:
		return "", nil, err
	}
}

// DeliveriesOf reads all deliveries of an event.
func (db *DB) DeliveriesOf(ctx context.Context, eventID string) ([]domain.Delivery, error) {
	return readDeliveries(db.deliveries(ctx).Where("deliveries.event_id = ?", eventID).Order("deliveries.id"))
}

func readDeliveries(query *gorm.DB) ([]domain.Delivery, error) {
	var rows []deliveryRow
	err := query.Find(&rows).Error
	deliveries := make([]domain.Delivery, len(rows))
	for i, r := range rows {
		deliveries[i] = r.delivery()
	}
	return deliveries, err
}

// InsertDelivery queues a new delivery. When the event has one to this endpoint already, ErrStale.
func (tx *Tx) InsertDelivery(d domain.Delivery) {
	tx.queue(`INSERT INTO deliveries (id, event_id, endpoint_id, state, tries, retry_until, next_try_at, last_status, last_error, created_at)
		VALUES (?, ?, ?, ?, 0, ?, ?, 0, '', ?) ON CONFLICT (event_id, endpoint_id) DO NOTHING`,
		d.ID, d.EventID, d.EndpointID, string(d.State), d.RetryUntil, orNull(d.NextTryAt), d.CreatedAt).orMissing(ErrStale)
}

// ChangeDelivery queues a delivery's next state. When it is no longer in the state it was decided
// from, ErrStale.
func (tx *Tx) ChangeDelivery(from domain.DeliveryState, d domain.Delivery) {
	tx.queue(`UPDATE deliveries SET state = ?, tries = ?, retry_until = ?, next_try_at = ?, last_status = ?, last_error = ?, delivered_at = ?
		WHERE id = ? AND state = ?`,
		string(d.State), d.Tries, d.RetryUntil, orNull(d.NextTryAt), d.LastStatus, d.LastError, orNull(d.DeliveredAt), d.ID, string(from)).
		orMissing(ErrStale)
}

// orNull writes a time that is not set as NULL.
func orNull(t time.Time) sql.NullTime { return sql.NullTime{Time: t, Valid: !t.IsZero()} }
