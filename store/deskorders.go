package store

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
)

// OrdersPerPage is how many orders one page of the desk's list has.
const OrdersPerPage = 50

// Orders reads a part of the orders, newest first and without their lines. A status chooses those that
// have it. A search is the whole of an order's number, of a customer's e-mail address in any case, or of
// the provider's id of a charge.
func (db *DB) Orders(ctx context.Context, search string, status domain.OrderStatus, cursor domain.Cursor) (domain.Part[domain.Order], error) {
	query := db.gorm.WithContext(ctx).Table("orders")
	if status != "" {
		query = query.Where("status = ?", string(status))
	}
	if search = strings.TrimSpace(search); search != "" {
		query = query.Where(matching(search))
	}
	rows, err := partOf(query, "id", cursor, OrdersPerPage, func(r orderRow) string { return r.ID })
	return inPart(rows, func(r orderRow) domain.Order { return r.order(nil) }), err
}

// matching tells by its form what a search is for, so that one index serves it.
func matching(search string) (string, string) {
	switch {
	case strings.Contains(search, "@"):
		return "lower(email) = lower(?)", search
	case strings.HasPrefix(strings.ToUpper(search), "EM-"):
		return "number = ?", strings.ToUpper(search)
	default:
		return "id IN (SELECT order_id FROM payments WHERE charge_id = ? AND charge_id <> '')", search
	}
}

// KeysOf reads the keys under which an order and what belongs to it were made, oldest first.
func (db *DB) KeysOf(ctx context.Context, orderID string) ([]domain.KeyUse, error) {
	rows, err := db.sql.QueryContext(ctx, db.dialect.placeholders(selectKeysOf), orderID, orderID, orderID, orderID, orderID)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var list []domain.KeyUse
	for rows.Next() {
		var use domain.KeyUse
		var id string
		if err := rows.Scan(&use.What, &use.ID, &id, &use.Consumer, &use.At); err != nil {
			return nil, err
		}
		raw, err := uuid.Parse(id)
		if err != nil {
			return nil, err
		}
		use.Key, use.At, use.Endpoint = domain.KeyOfID(raw, ""), use.At.UTC(), madeAt[use.What]
		list = append(list, use)
	}
	slices.SortFunc(list, func(a, b domain.KeyUse) int { return a.At.Compare(b.At) })
	return list, rows.Err()
}

const selectKeysOf = `SELECT 'order', id, key, consumer_id, created_at FROM orders WHERE id = ?
	UNION ALL SELECT 'payment', id, key, consumer_id, created_at FROM payments WHERE order_id = ?
	UNION ALL SELECT m.kind, m.id, m.key, m.consumer_id, m.created_at FROM modifications m JOIN payments p ON p.id = m.payment_id
		WHERE p.order_id = ? AND m.key IS NOT NULL
	UNION ALL SELECT 'cancellation', id, key, consumer_id, created_at FROM cancellations WHERE order_id = ?
	UNION ALL SELECT 'address', id, key, consumer_id, created_at FROM address_changes WHERE order_id = ?`

// madeAt is where each thing with a key is made.
var madeAt = map[string]string{
	"order": "POST /v1/orders", "payment": "POST /v1/payments", "cancellation": "POST /v1/orders/:id/cancellations",
	"address": "PATCH /v1/orders/:id", "capture": "POST /v1/payments/:id/captures", "void": "POST /v1/payments/:id/voids",
	"refund": "POST /v1/payments/:id/refunds",
}

// EventsAbout reads our own events about any of these ids, oldest first.
func (db *DB) EventsAbout(ctx context.Context, about []string) ([]domain.Event, error) {
	var rows []eventRow
	err := db.gorm.WithContext(ctx).Table("events").Where("about IN ?", about).Order("sequence").Limit(200).Find(&rows).Error
	list := make([]domain.Event, len(rows))
	for i, r := range rows {
		list[i] = r.event()
	}
	return list, err
}

// AttentionAbout reads what nobody has settled yet about any of these ids, oldest first.
func (db *DB) AttentionAbout(ctx context.Context, about []string) ([]domain.Attention, error) {
	var rows []attentionRow
	err := db.gorm.WithContext(ctx).Table("attention").Where("settled_at IS NULL AND about IN ?", about).Order("created_at, id").Find(&rows).Error
	list := make([]domain.Attention, len(rows))
	for i, r := range rows {
		list[i] = r.attention()
	}
	return list, err
}

// MailsOf reads the mails about any of these ids, newest first.
func (db *DB) MailsOf(ctx context.Context, about []string) ([]domain.Mail, error) {
	return db.mailsWhere(ctx, 100, "about IN ?", about)
}
