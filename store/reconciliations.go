package store

import (
	"context"
	"time"

	"example.com/eenmaal/domain"
)

type reconciliationRow struct {
	Run         string
	FromAt      time.Time
	ToAt        time.Time
	Compared    int
	Repaired    int
	Differences int
	EndedAt     time.Time
}

// Reconciliations reads the last completed reconciliation of each run.
func (db *DB) Reconciliations(ctx context.Context) ([]domain.Reconciliation, error) {
	var rows []reconciliationRow
	err := db.gorm.WithContext(ctx).Table("reconciliations").Order("run").Find(&rows).Error
	list := make([]domain.Reconciliation, len(rows))
	for i, r := range rows {
		list[i] = domain.Reconciliation{Run: r.Run, From: r.FromAt.UTC(), To: r.ToAt.UTC(), Compared: r.Compared,
			Repaired: r.Repaired, Differences: r.Differences, EndedAt: r.EndedAt.UTC()}
	}
	return list, err
}

// KeepReconciliation keeps what a reconciliation found, in the place of the one before.
func (db *DB) KeepReconciliation(ctx context.Context, r domain.Reconciliation) error {
	tx := db.Begin()
	tx.queue(`INSERT INTO reconciliations (run, from_at, to_at, compared, repaired, differences, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (run) DO UPDATE SET from_at = excluded.from_at, to_at = excluded.to_at, compared = excluded.compared,
		repaired = excluded.repaired, differences = excluded.differences, ended_at = excluded.ended_at`,
		r.Run, r.From, r.To, r.Compared, r.Repaired, r.Differences, r.EndedAt)
	return tx.Commit(ctx)
}

// PaymentsByProviderKeys reads those of the payments that exist, by the key of their charge.
func (db *DB) PaymentsByProviderKeys(ctx context.Context, keys []string) (map[string]domain.Payment, error) {
	var rows []paymentRow
	err := db.gorm.WithContext(ctx).Table("payments").Where("provider_key IN ? AND provider_key <> ''", keys).Find(&rows).Error
	payments := make(map[string]domain.Payment, len(rows))
	for _, r := range rows {
		payments[r.ProviderKey] = r.payment()
	}
	return payments, err
}

// claimsMoney is true of a payment that says that the provider holds the customer's money, or did.
const claimsMoney = `status IN ('authorized', 'paid', 'duplicate', 'refunded')`

// PaymentsClaimingMoney reads at most limit payments that were made in a stretch of time and claim
// money, in the order of their ids: those after the id, or the first when it is empty. Ids tell when
// they were made.
func (db *DB) PaymentsClaimingMoney(ctx context.Context, from, to time.Time, after string, limit int) ([]domain.Payment, error) {
	var rows []paymentRow
	err := db.gorm.WithContext(ctx).Table("payments").Where(claimsMoney).
		Where("id > ? AND id < ?", max(after, firstKeyOf(from)), firstKeyOf(to)).Order("id").Limit(limit).Find(&rows).Error
	payments := make([]domain.Payment, len(rows))
	for i, r := range rows {
		payments[i] = r.payment()
	}
	return payments, err
}
