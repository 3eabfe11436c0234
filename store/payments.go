package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
)

type paymentRow struct {
	ID              string
	OrderID         string
	Status          string
	Method          string
	Amount          int64
	Captured        int64
	Refunded        int64
	Currency        string
	Manual          bool
	ProviderKey     string
	ChargeID        string
	RedirectURL     string
	ProviderVersion int64
	Revision        int64
	CreatedAt       time.Time
}

func (r paymentRow) payment() domain.Payment {
	money := func(amount int64) domain.Money { return domain.Money{Amount: amount, Currency: r.Currency} }
	return domain.Payment{
		ID: r.ID, OrderID: r.OrderID, Status: domain.PaymentStatus(r.Status), Method: domain.PaymentMethod{Type: r.Method},
		Amount: money(r.Amount), Captured: money(r.Captured), Refunded: money(r.Refunded), Manual: r.Manual,
		ProviderKey: r.ProviderKey, ChargeID: r.ChargeID, RedirectURL: r.RedirectURL,
		Version: r.ProviderVersion, Revision: r.Revision, CreatedAt: r.CreatedAt.UTC(),
	}
}

// Payment reads one payment by its id.
func (db *DB) Payment(ctx context.Context, id string) (domain.Payment, error) {
	return db.paymentWhere(ctx, "id = ?", id)
}

// PaymentByProviderKey reads the payment whose charge was asked for with this key. It is found also
// before the charge's id is known here.
func (db *DB) PaymentByProviderKey(ctx context.Context, key string) (domain.Payment, error) {
	return db.paymentWhere(ctx, "provider_key = ? AND provider_key <> ''", key)
}

func (db *DB) paymentWhere(ctx context.Context, condition string, arg any) (domain.Payment, error) {
	var row paymentRow
	err := db.gorm.WithContext(ctx).Table("payments").Where(condition, arg).Take(&row).Error
	return row.payment(), notFound(err, "payment_not_found", "There is no such payment.")
}

// PaymentsOf reads an order's payments, oldest first.
func (db *DB) PaymentsOf(ctx context.Context, orderID string) ([]domain.Payment, error) {
	var rows []paymentRow
	if err := db.gorm.WithContext(ctx).Table("payments").Where("order_id = ?", orderID).Order("created_at, id").Find(&rows).Error; err != nil {
		return nil, err
	}
	payments := make([]domain.Payment, len(rows))
	for i, r := range rows {
		payments[i] = r.payment()
	}
	return payments, nil
}

// PaymentScope reads the key with which a payment was asked for on an endpoint.
func (db *DB) PaymentScope(ctx context.Context, paymentID, pattern string) (domain.Scope, error) {
	var row struct {
		Key        string
		ConsumerID int64
		EndpointID int16
	}
	err := db.gorm.WithContext(ctx).Table("payments").Select("key, consumer_id, endpoints.id AS endpoint_id").
		Joins("JOIN endpoints ON endpoints.pattern = ?", pattern).Where("payments.id = ?", paymentID).Take(&row).Error
	if err != nil {
		return domain.Scope{}, notFound(err, "payment_not_found", "There is no such payment.")
	}
	id, err := uuid.Parse(row.Key)
	return domain.Scope{Key: domain.KeyOfID(id, ""), Consumer: row.ConsumerID, Endpoint: row.EndpointID}, err
}

// InsertPayment queues a payment attempt. An order that has an open or successful one gives taken, and one
// that does not await this amount any more gives ErrStale: the insert looks the amount up in the order,
// where NULL is refused, and keeps the order as it is until the commit.
func (tx *Tx) InsertPayment(p domain.Payment, s domain.Scope, taken error) {
	tx.queue(`INSERT INTO payments (id, order_id, status, method, amount, currency, manual, provider_key, charge_id, consumer_id, key, created_at)
		VALUES (?, ?, ?, ?, (SELECT total FROM orders WHERE id = ? AND total = ? AND status = 'awaiting_payment'`+tx.db.dialect.share+`),
		?, ?, ?, '', ?, ?, ?)`,
		p.ID, p.OrderID, string(p.Status), p.Method.Type, p.OrderID, p.Amount.Amount, p.Amount.Currency, p.Manual, p.ProviderKey,
		s.Consumer, keyID(s), p.CreatedAt).or("payments.amount", ErrStale).
		or("payments_once_per_key", ErrKeySpent).or("payments_by_provider_key", ErrKeySpent).or("payments_one_live_per_order", taken)
}

// UpdatePayment queues a payment's new state. ErrStale says that its row is no longer the one that p
// was decided on, or that another payment of the order is open or successful.
func (tx *Tx) UpdatePayment(p domain.Payment) {
	tx.queue(`UPDATE payments SET status = ?, captured = ?, refunded = ?, charge_id = ?, redirect_url = ?,
		provider_version = ?, revision = revision + 1 WHERE id = ? AND revision = ?`,
		string(p.Status), p.Captured.Amount, p.Refunded.Amount, p.ChargeID, p.RedirectURL, p.Version, p.ID, p.Revision).
		orMissing(ErrStale).or("payments_one_live_per_order", ErrStale)
}

// NotePaymentUnknown queues that a charge was asked for and no answer could be believed.
func (tx *Tx) NotePaymentUnknown(id string) {
	tx.queue(`UPDATE payments SET status = 'unknown', revision = revision + 1 WHERE id = ? AND status = 'processing'`, id)
}

// LookAtPayment queues that the unfinished key of a payment is looked at soon.
func (tx *Tx) LookAtPayment(id string) {
	tx.queue(`UPDATE idempotency_keys SET look_at = 0 WHERE look_at IS NOT NULL
		AND (key, consumer_id) IN (SELECT key, consumer_id FROM payments WHERE id = ?)`, id)
}
