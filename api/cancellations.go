package api

import (
	"context"
	"slices"
	"time"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// CancelOrder is POST /v1/orders/{id}/cancellations. It has no body.
type CancelOrder struct {
	OrderID string `json:"-" path:"id"`
}

// Cancellation is the end of an order. RefundIDs are the refunds that give back what was paid.
type Cancellation struct {
	ID        string             `json:"id"`
	OrderID   string             `json:"order_id"`
	Status    domain.OrderStatus `json:"status"`
	RefundIDs []string           `json:"refund_ids,omitempty"`
	CreatedAt time.Time          `json:"created_at"`
}

// cancelOrder ends an order: its articles go back to the stock, reserved money is released and
// captured money refunded, by jobs of the same transaction. What is under way with a payment must end
// first. A payment that waits at a bank need not: when its money comes after all, it is given back.
func (a *API) cancelOrder(ctx context.Context, tx *idempotent.Tx, in CancelOrder) (Cancellation, error) {
	order, err := a.orderOf(ctx, tx.Scope.Consumer, in.OrderID)
	if err != nil {
		return Cancellation{}, err
	}
	if order.Status == domain.OrderCancelled {
		refusal := domain.Errorf(domain.Refused, "order_not_cancellable", "The order is cancelled already.")
		refusal.Resource = newOrder(order).Path()
		return Cancellation{}, a.unlessSpent(ctx, "cancellations", tx.Scope, refusal)
	}
	payments, err := a.db.PaymentsOf(ctx, order.ID)
	if err != nil {
		return Cancellation{}, err
	}
	out := Cancellation{ID: newID(), OrderID: order.ID, Status: domain.OrderCancelled, CreatedAt: tx.Now()}
	a.endOrder(tx.Tx, order, domain.CancelRequested, payments)
	tx.InsertCancellation(out.ID, order, tx.Scope)
	for _, pay := range payments {
		if err := a.mustRest(ctx, pay); err != nil {
			return Cancellation{}, err
		}
		refunds, err := a.undoPayment(ctx, tx.Tx, pay)
		if err != nil {
			return Cancellation{}, err
		}
		out.RefundIDs = append(out.RefundIDs, refunds...)
	}
	a.mail(tx.Tx, a.cancelled(order, tx.Now()))
	return out, nil
}

// endOrder queues the end of an order whose payments are these, and tells its client.
func (a *API) endOrder(tx *store.Tx, order domain.Order, why domain.CancelReason, payments []domain.Payment) {
	tx.CancelOrder(order, why, payments)
	a.emit(tx, order.Consumer, "order.cancelled", order.ID, newOrder(order.Cancelled(why)))
}

// mustRest refuses to go on while a charge or a capture of the payment is under way.
func (a *API) mustRest(ctx context.Context, pay domain.Payment) error {
	changes, err := a.db.ModificationsOf(ctx, pay.ID)
	if err != nil {
		return err
	}
	capturing := slices.ContainsFunc(changes, func(m domain.Modification) bool {
		return m.Kind == domain.Capture && m.Status == domain.ModificationPending
	})
	if pay.Status.Unheard() || capturing {
		return domain.Errorf(domain.Busy, "payment_in_progress", "A payment of this order is under way. Ask again with the same key.")
	}
	return nil
}

// undoPayment queues what gives a payment's money back: what is reserved and not captured is released,
// and what was captured is refunded. What is on its way back already is left alone.
func (a *API) undoPayment(ctx context.Context, tx *store.Tx, pay domain.Payment) (refunds []string, err error) {
	for _, kind := range undoing(pay) {
		m, err := a.changeLater(ctx, tx, kind, pay, "order_cancelled")
		if domain.KindOf(err) == domain.Refused {
			continue
		}
		if err != nil {
			return nil, err
		}
		pay.Revision++ // by the change that was queued
		if kind == domain.Refund {
			refunds = append(refunds, m.ID)
		}
	}
	return refunds, nil
}

// undoing tells what may give a payment's money back. A payment that was duplicate is given back already.
func undoing(p domain.Payment) []domain.ModificationKind {
	switch p.Status {
	case domain.PaymentAuthorized, domain.PaymentRefunded:
		return []domain.ModificationKind{domain.Void}
	case domain.PaymentPaid:
		return []domain.ModificationKind{domain.Void, domain.Refund}
	default:
		return nil
	}
}

// Path is where the cancelled order is found.
func (c Cancellation) Path() string { return "/v1/orders/" + c.OrderID }
