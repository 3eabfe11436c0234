package api

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// Orders that nobody paid are looked for every minute, a number of them at a time.
const (
	endUnpaidEvery = time.Minute
	endUnpaidBatch = 50
)

// endingUnpaid gives the loop that ends them. It tells of a database that is not there once, not every
// minute.
func (a *API) endingUnpaid() func(ctx context.Context) (more bool) {
	failing := false
	return func(ctx context.Context) bool {
		more, err := a.EndUnpaid(ctx)
		if err != nil && !failing {
			a.log.WarnContext(ctx, "orders that were not paid in time cannot be ended", "error", err)
		}
		failing = err != nil
		return more && !failing && ctx.Err() == nil
	}
}

// EndUnpaid cancels orders that wait for their payment for too long: their articles are kept from
// everybody else. more says that there may be others. It runs in every process that works on jobs; an
// order is ended by one of them. There is no mail: the customer left, and owes nothing.
func (a *API) EndUnpaid(ctx context.Context) (more bool, err error) {
	ids, err := a.db.UnpaidOrders(ctx, a.db.Now().Add(-a.orderExpiry), endUnpaidBatch)
	for _, id := range ids {
		err = errors.Join(err, a.endUnpaid(ctx, id))
	}
	return len(ids) == endUnpaidBatch, err
}

// endUnpaid ends one order, unless it was paid or ended meanwhile, or a payment of it may bring money. A
// payment that begins at the same moment is refused, or this is decided anew (store.Tx.CancelOrder).
func (a *API) endUnpaid(ctx context.Context, id string) error {
	ended := false
	err := a.commit(ctx, func(tx *store.Tx) error {
		order, err := a.db.Order(ctx, id)
		if err != nil {
			return err
		}
		payments, err := a.db.PaymentsOf(ctx, id)
		if err != nil {
			return err
		}
		mayBringMoney := func(p domain.Payment) bool { return !p.Status.NothingCharged() }
		if ended = order.Status == domain.OrderAwaitingPayment && !slices.ContainsFunc(payments, mayBringMoney); ended {
			a.endOrder(tx, order, domain.CancelExpired, payments)
		}
		return nil
	})
	if err == nil && ended {
		a.metrics.unpaid.Inc()
	}
	return err
}
