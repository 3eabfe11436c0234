package api

import (
	"context"
	"time"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
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
// captured money refunded, by jobs of the same transaction. A payment that is under way must end
// first. One that waits at a bank need not: when its money comes after all, it is given back.
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
	tx.CancelOrder(out.ID, order, tx.Scope)
	for _, pay := range payments {
		kind, undo := undoing(pay)
		if pay.Status == domain.PaymentProcessing || pay.Status == domain.PaymentUnknown {
			return Cancellation{}, domain.Errorf(domain.Busy, "payment_in_progress",
				"A payment of this order is under way. Ask again with the same key.")
		}
		if !undo {
			continue
		}
		m, err := a.changeLater(ctx, tx.Tx, kind, pay, "order_cancelled")
		if domain.KindOf(err) == domain.Refused {
			continue // all of it is on its way back already
		}
		if err != nil {
			return Cancellation{}, err
		}
		if kind == domain.Refund {
			out.RefundIDs = append(out.RefundIDs, m.ID)
		}
	}
	a.mail(tx.Tx, a.cancelled(order, tx.Now()))
	order.Status = domain.OrderCancelled
	a.emit(tx.Tx, order.Consumer, "order.cancelled", order.ID, newOrder(order))
	return out, nil
}

// undoing tells what gives a payment's money back, if it has any.
func undoing(p domain.Payment) (domain.ModificationKind, bool) {
	switch p.Status {
	case domain.PaymentAuthorized:
		return domain.Void, true
	case domain.PaymentPaid:
		return domain.Refund, true
	default:
		return "", false
	}
}

// Path is where the cancelled order is found.
func (c Cancellation) Path() string { return "/v1/orders/" + c.OrderID }
