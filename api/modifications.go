package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
)

// capturePayment takes reserved money, all that is left of it or a part.
func (a *API) capturePayment(ctx context.Context, run *idempotent.Run, in CapturePayment) (Modification, error) {
	return a.changeNow(ctx, run, domain.Capture, in.PaymentID, in.Amount)
}

// voidPayment gives the money that was reserved and not captured back to the customer's card.
func (a *API) voidPayment(ctx context.Context, run *idempotent.Run, in VoidPayment) (Modification, error) {
	return a.changeNow(ctx, run, domain.Void, in.PaymentID, Amount{})
}

// refundPayment promises to give captured money back; a job does it.
func (a *API) refundPayment(ctx context.Context, tx *idempotent.Tx, in RefundPayment) (Modification, error) {
	pay, err := a.ownPayment(ctx, tx.Scope.Consumer, in.PaymentID)
	if err != nil {
		return Modification{}, err
	}
	m, err := a.newChange(ctx, domain.Refund, pay, in.Amount)
	if err != nil {
		return Modification{}, a.unlessSpent(ctx, "modifications", tx.Scope, err)
	}
	m.ProviderKey, m.CreatedAt = m.ID, tx.Now()
	tx.InsertModification(m, pay, &tx.Scope)
	a.jobs.Enqueue(tx.Tx, jobs.Modify, m.ID)
	return newModification(m), nil
}

// newChange decides on a change of a payment that a client asks for.
func (a *API) newChange(ctx context.Context, kind domain.ModificationKind, pay domain.Payment, amount Amount) (domain.Modification, error) {
	if err := amount.validate(pay.Amount.Currency); err != nil {
		return domain.Modification{}, err
	}
	others, err := a.db.ModificationsOf(ctx, pay.ID)
	if err != nil {
		return domain.Modification{}, err
	}
	m, err := pay.Modify(kind, amount.Amount, others)
	m.ID, m.Reason = newID(), "requested"
	return m, err
}

// changeByClient decides on a capture or a void. Nothing more is captured for an order that has ended: its
// rest is on its way back. That the order has not ended since is secured by the payment's revision, which
// that raises. The order is read last, so that what its end took is not mistaken for somebody's capture.
func (a *API) changeByClient(ctx context.Context, kind domain.ModificationKind, pay domain.Payment, amount Amount) (domain.Modification, error) {
	m, refusal := a.newChange(ctx, kind, pay, amount)
	order, err := a.db.Order(ctx, pay.OrderID)
	if err != nil {
		return m, err
	}
	if kind == domain.Capture && order.Status == domain.OrderCancelled {
		ended := domain.Errorf(domain.Refused, "order_not_capturable", "The order is cancelled: nothing more is captured for it.")
		ended.Resource = newOrder(order).Path()
		return m, ended
	}
	return m, refusal
}

// changeLater queues a change that the shop itself wants, of all that is left, and the job that does
// it. pay is the payment as it will be when the writes queued before this one are done.
func (a *API) changeLater(ctx context.Context, tx *store.Tx, kind domain.ModificationKind, pay domain.Payment, reason string) (domain.Modification, error) {
	m, err := a.newChange(ctx, kind, pay, Amount{})
	if err != nil {
		return m, err
	}
	m.Reason, m.ProviderKey, m.CreatedAt = reason, m.ID, tx.Now()
	tx.InsertModification(m, pay, nil)
	a.jobs.Enqueue(tx, jobs.Modify, m.ID)
	return m, nil
}

// changeNow asks the provider within the request: the change is kept before the call, so that its
// amount cannot be taken twice, and settled after it.
//
// A run that goes on without its client asks again, as one with a client does: it was the merchant's own
// call, and no customer has to be there. Nor is there a time after which only a look is safe: the look is
// into the provider's books, not into its memory of keys, and nothing can be captured or voided beyond
// what was reserved.
func (a *API) changeNow(ctx context.Context, run *idempotent.Run, kind domain.ModificationKind, paymentID string, amount Amount) (Modification, error) {
	m, err := idempotent.Step(ctx, run, "reserve", func(tx *idempotent.Tx) (domain.Modification, error) {
		pay, err := a.ownPayment(ctx, tx.Scope.Consumer, paymentID)
		if err != nil {
			return domain.Modification{}, err
		}
		m, err := a.changeByClient(ctx, kind, pay, amount)
		if err != nil {
			return m, a.unlessSpent(ctx, "modifications", tx.Scope, err)
		}
		m.ProviderKey, m.CreatedAt = run.OutsideKey(string(kind)), tx.Now()
		tx.InsertModification(m, pay, &tx.Scope)
		return m, nil
	})
	if err != nil {
		return Modification{}, err
	}
	done, err := idempotent.Call(ctx, run, string(kind), func(ctx context.Context, key string) (domain.Modified, error) {
		return a.askForChange(ctx, key, run.Resumed(), m)
	})
	refusal, refused := errors.AsType[*domain.Error](err)
	if refused = refused && refusal.Kind == domain.Refused; err != nil && !refused {
		return Modification{}, domain.Errorf(domain.Unknown, "outcome_unknown", "%s %s: %w", kind, m.ID, err)
	}
	return idempotent.Finish(ctx, run, func(tx *idempotent.Tx) (Modification, error) {
		if refused {
			return newModification(a.failChange(tx.Tx, m, refusal)), nil
		}
		m, err := a.settleChange(ctx, tx.Tx, m, done)
		return newModification(m), err
	})
}

// askForChange asks the provider. Who asks again looks first; and a provider that says no because the
// change was made before is asked for that change.
func (a *API) askForChange(ctx context.Context, key string, again bool, m domain.Modification) (domain.Modified, error) {
	pay, err := a.db.Payment(ctx, m.PaymentID)
	if err != nil {
		return domain.Modified{}, err
	}
	request := domain.ModifyRequest{Kind: m.Kind, ChargeID: pay.ChargeID, Amount: m.Amount}
	if again {
		if done, err := a.provider.FindModification(ctx, key, request); !errors.Is(err, domain.ErrNoCharge) {
			return done, err
		}
	}
	done, err := a.provider.Modify(ctx, key, request)
	if refusal, ok := errors.AsType[*domain.Error](err); ok && refusal.Kind == domain.Refused {
		if found, findErr := a.provider.FindModification(ctx, key, request); findErr == nil {
			return found, nil
		}
	}
	return done, err
}

// settleChange queues that a change was made.
func (a *API) settleChange(ctx context.Context, tx *store.Tx, m domain.Modification, done domain.Modified) (domain.Modification, error) {
	pay, err := a.db.Payment(ctx, m.PaymentID)
	if err != nil {
		return m, err
	}
	if pay, err = a.hear(ctx, tx, pay, done.Charge); err != nil {
		return m, err
	}
	m.Status, m.ProviderID, m.SettledAt = domain.ModificationSucceeded, done.ID, tx.Now()
	tx.SettleModification(m)
	if m.Kind == domain.Refund {
		err = a.tellRefund(ctx, tx, pay, m)
	}
	return m, err
}

// failChange queues that the provider will not make a change. What it held back can be asked for again.
func (a *API) failChange(tx *store.Tx, m domain.Modification, refusal *domain.Error) domain.Modification {
	m.Status, m.Code, m.SettledAt = domain.ModificationFailed, refusal.Code, tx.Now()
	tx.SettleModification(m)
	return m
}

// tellRefund queues telling the customer and the shop's client that money went back.
func (a *API) tellRefund(ctx context.Context, tx *store.Tx, pay domain.Payment, m domain.Modification) error {
	order, err := a.db.Order(ctx, pay.OrderID)
	if err != nil {
		return err
	}
	a.mail(tx, a.refunded(order, m, tx.Now()))
	a.emit(tx, order.Consumer, "refund."+string(m.Status), m.ID, newModification(m))
	return nil
}

// modifyJob makes a pending change. The provider's key and the row's state make a second run harmless.
func (a *API) modifyJob(ctx context.Context, id string, try int) error {
	m, err := a.db.Modification(ctx, id)
	if err != nil || m.Status != domain.ModificationPending {
		return err
	}
	done, err := a.askForChange(ctx, m.ProviderKey, try > 1, m)
	if refusal, ok := errors.AsType[*domain.Error](err); ok && refusal.Kind == domain.Refused {
		return a.commit(ctx, func(tx *store.Tx) error { return a.giveUpChange(ctx, tx, m, refusal) })
	}
	if err != nil {
		return err
	}
	err = a.commit(ctx, func(tx *store.Tx) error {
		_, err := a.settleChange(ctx, tx, m, done)
		return err
	})
	return unlessSettled(err, func() (bool, error) {
		m, err := a.db.Modification(ctx, id)
		return m.Status != domain.ModificationPending, err
	})
}

// unlessSettled drops the error of a write that came too late, because another run did the same.
func unlessSettled(err error, settled func() (bool, error)) error {
	if !errors.Is(err, store.ErrStale) {
		return err
	}
	if done, readErr := settled(); readErr == nil && done {
		return nil
	}
	return err
}

// giveUpChange queues that nobody but a person can make a promised change happen.
func (a *API) giveUpChange(ctx context.Context, tx *store.Tx, m domain.Modification, refusal *domain.Error) error {
	pay, err := a.db.Payment(ctx, m.PaymentID)
	if err != nil {
		return err
	}
	order, err := a.db.Order(ctx, pay.OrderID)
	if err != nil {
		return err
	}
	m = a.failChange(tx, m, refusal)
	tx.Flag(string(m.Kind)+"_failed", m.ID, "order "+order.Number+": the provider says "+refusal.Code)
	if m.Kind == domain.Refund {
		a.emit(tx, order.Consumer, "refund.failed", m.ID, newModification(m))
	}
	return nil
}

func newModification(m domain.Modification) Modification {
	out := Modification{ID: m.ID, PaymentID: m.PaymentID, Status: m.Status, Amount: m.Amount, Reason: m.Reason,
		CreatedAt: m.CreatedAt, Code: m.Code, kind: m.Kind}
	if m.Status == domain.ModificationFailed {
		out.Detail = "The payment provider refused it. Nothing was changed."
	}
	return out
}

// HTTPStatus is 202 for what a job will do, and 422 for what the provider refused.
func (m Modification) HTTPStatus() int {
	switch m.Status {
	case domain.ModificationPending:
		return http.StatusAccepted
	case domain.ModificationFailed:
		return http.StatusUnprocessableEntity
	default:
		return http.StatusCreated
	}
}

// Path is where the capture, void or refund is found.
func (m Modification) Path() string { return "/v1/" + string(m.kind) + "s/" + m.ID }

// getModification tells the state of one of the caller's captures, voids or refunds.
func (a *API) getModification(kind domain.ModificationKind) gin.HandlerFunc {
	return func(c *gin.Context) {
		m, err := a.ownModification(c.Request.Context(), caller(c).ID, kind, c.Param("id"))
		if err != nil {
			a.fail(c, err)
			return
		}
		live(c, newModification(m))
	}
}

func (a *API) ownModification(ctx context.Context, consumer int64, kind domain.ModificationKind, id string) (domain.Modification, error) {
	id, err := parseID(id, string(kind))
	if err != nil {
		return domain.Modification{}, err
	}
	m, err := a.db.Modification(ctx, id)
	if err == nil && m.Kind == kind {
		_, err = a.ownPayment(ctx, consumer, m.PaymentID)
	} else if err == nil {
		err = notThere(string(kind))
	}
	if err != nil && domain.KindOf(err) == domain.NotFound {
		err = notThere(string(kind))
	}
	return m, err
}

// getRefunds lists the refunds of one of the caller's payments, oldest first.
func (a *API) getRefunds(c *gin.Context) {
	pay, err := a.ownPayment(c.Request.Context(), caller(c).ID, c.Param("id"))
	if err != nil {
		a.fail(c, err)
		return
	}
	all, err := a.db.ModificationsOf(c.Request.Context(), pay.ID)
	if err != nil {
		a.fail(c, err)
		return
	}
	refunds := []Modification{}
	for _, m := range all {
		if m.Kind == domain.Refund {
			refunds = append(refunds, newModification(m))
		}
	}
	live(c, refunds)
}
