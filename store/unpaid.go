package store

import (
	"context"
	"time"
)

// UnpaidOrders finds orders that were placed before a time, still await their payment and have none that
// may bring money: at most limit of them, the oldest first. It locks nothing: whoever ends one of them
// has to decide again (CancelOrder).
func (db *DB) UnpaidOrders(ctx context.Context, before time.Time, limit int) (ids []string, err error) {
	err = db.gorm.WithContext(ctx).Raw(unpaidOrders, before, limit).Scan(&ids).Error
	return ids, err
}

// unpaidOrders walks an index that holds unpaid orders alone, however many were ever paid. The payments
// that moved no money are those of PaymentStatus.NothingCharged; any other, known here or not, may.
const unpaidOrders = `SELECT id FROM orders WHERE status = 'awaiting_payment' AND created_at < ?
	AND NOT EXISTS (SELECT 1 FROM payments WHERE order_id = orders.id AND status NOT IN ('declined', 'failed', 'voided'))
	ORDER BY created_at LIMIT ?`
