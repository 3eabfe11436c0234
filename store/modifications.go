package store

import (
	"context"
	"database/sql"
	"time"

	"example.com/eenmaal/domain"
)

type modificationRow struct {
	ID          string
	PaymentID   string
	Kind        string
	Status      string
	Amount      int64
	Currency    string
	Reason      string
	ProviderKey string
	ProviderID  string
	Code        string
	CreatedAt   time.Time
	SettledAt   sql.NullTime
}

func (r modificationRow) modification() domain.Modification {
	return domain.Modification{
		ID: r.ID, PaymentID: r.PaymentID, Kind: domain.ModificationKind(r.Kind), Status: domain.ModificationStatus(r.Status),
		Amount: domain.Money{Amount: r.Amount, Currency: r.Currency}, Reason: r.Reason, ProviderKey: r.ProviderKey,
		ProviderID: r.ProviderID, Code: r.Code, CreatedAt: r.CreatedAt.UTC(), SettledAt: r.SettledAt.Time.UTC(),
	}
}

// Modification reads one capture, void or refund by its id.
func (db *DB) Modification(ctx context.Context, id string) (domain.Modification, error) {
	var row modificationRow
	err := db.gorm.WithContext(ctx).Table("modifications").Where("id = ?", id).Take(&row).Error
	return row.modification(), notFound(err, "not_found", "There is no such capture, void or refund.")
}

// ModificationsOf reads a payment's captures, voids and refunds, oldest first.
func (db *DB) ModificationsOf(ctx context.Context, paymentID string) ([]domain.Modification, error) {
	var rows []modificationRow
	err := db.gorm.WithContext(ctx).Table("modifications").Where("payment_id = ?", paymentID).Order("created_at, id").Find(&rows).Error
	list := make([]domain.Modification, len(rows))
	for i, r := range rows {
		list[i] = r.modification()
	}
	return list, err
}

// InsertModification queues a change of the payment p, and with it the check that p's row is still
// the one the amount was decided on: of two changes that race for what is left, the second is decided
// anew (ErrStale). s is the scope of the request, or nil when the shop itself asks.
func (tx *Tx) InsertModification(m domain.Modification, p domain.Payment, s *domain.Scope) {
	consumer, key := int64(0), any(nil)
	if s != nil {
		consumer, key = s.Consumer, keyID(*s)
	}
	tx.queue(`UPDATE payments SET revision = revision + 1 WHERE id = ? AND revision = ?`, p.ID, p.Revision).orMissing(ErrStale)
	tx.queue(`INSERT INTO modifications (id, payment_id, kind, status, amount, currency, reason, provider_key, provider_id, code, consumer_id, key, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', '', ?, ?, ?)`,
		m.ID, m.PaymentID, string(m.Kind), string(m.Status), m.Amount.Amount, m.Amount.Currency, m.Reason, m.ProviderKey,
		consumer, key, m.CreatedAt).or("modifications_once_per_key", ErrKeySpent).
		or("modifications_provider_key_key", ErrKeySpent)
}

// SettleModification queues what became of a pending change. ErrStale says that it is settled already.
func (tx *Tx) SettleModification(m domain.Modification) {
	tx.queue(`UPDATE modifications SET status = ?, provider_id = ?, code = ?, settled_at = ? WHERE id = ? AND status = 'pending'`,
		string(m.Status), m.ProviderID, m.Code, m.SettledAt, m.ID).orMissing(ErrStale)
}
