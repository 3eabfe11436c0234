package store

import (
	"context"
	"time"

	"example.com/eenmaal/domain"
)

type paymentRow struct {
	ID        string
	OrderID   string
	Status    string
	Method    string
	Amount    int64
	Currency  string
	ChargeID  string
	CreatedAt time.Time
}

func (r paymentRow) payment() domain.Payment {
	return domain.Payment{
		ID: r.ID, OrderID: r.OrderID, Status: domain.PaymentStatus(r.Status), Method: domain.PaymentMethod{Type: r.Method},
		Amount: domain.Money{Amount: r.Amount, Currency: r.Currency}, ChargeID: r.ChargeID, CreatedAt: r.CreatedAt.UTC(),
	}
}

// Payment reads one payment by its id.
func (db *DB) Payment(ctx context.Context, id string) (domain.Payment, error) {
	var row paymentRow
	err := db.gorm.WithContext(ctx).Table("payments").Where("id = ?", id).Take(&row).Error
	return row.payment(), notFound(err, "payment_not_found", "There is no such payment.")
}

// PaymentsOf reads the attempts to pay an order, the oldest first.
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

// InsertPayment queues a new payment. An order that already has an open or successful one gives
// taken.
func (tx *Tx) InsertPayment(p domain.Payment, s domain.Scope, taken error) {
	tx.queue(`INSERT INTO payments (id, order_id, status, method, amount, currency, charge_id, consumer_id, key, created_at)
		VALUES (?, ?, ?, ?, ?, ?, '', ?, ?, ?)`,
		p.ID, p.OrderID, string(p.Status), p.Method.Type, p.Amount.Amount, p.Amount.Currency, s.Consumer, keyID(s), p.CreatedAt).
		or("payments_once_per_key", ErrKeySpent).or("payments_one_live_per_order", taken)
}

// SettlePayment queues the outcome of a payment that is still open.
func (tx *Tx) SettlePayment(id string, status domain.PaymentStatus, chargeID string, otherwise error) {
	tx.queue(`UPDATE payments SET status = ?, charge_id = ? WHERE id = ? AND status IN ('processing', 'unknown')`,
		string(status), chargeID, id).orMissing(otherwise)
}

// NotePaymentUnknown says that the provider was asked and gave no answer that can be believed.
func (db *DB) NotePaymentUnknown(ctx context.Context, id string) error {
	tx := db.Begin()
	tx.queue(`UPDATE payments SET status = 'unknown' WHERE id = ? AND status = 'processing'`, id)
	return tx.Commit(ctx)
}
