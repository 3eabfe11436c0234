package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// noteTimeout bounds writing down that a charge's outcome is unknown, after the run's own time is up.
const noteTimeout = 2 * time.Second

// payOrder charges the order's total. The payment is kept before the provider is called and settled
// after it; between the two no transaction is open.
func (a *API) payOrder(ctx context.Context, run *idempotent.Run, in PayOrder) (Payment, error) {
	pay, err := idempotent.Step(ctx, run, "reserve", func(tx *idempotent.Tx) (domain.Payment, error) {
		return a.reservePayment(ctx, tx, run.OutsideKey("charge"), in)
	})
	if err != nil {
		return Payment{}, err
	}
	charge, err := idempotent.Call(ctx, run, "charge", func(ctx context.Context, key string) (domain.Charge, error) {
		return a.charge(ctx, key, run, pay, in.Method)
	})
	refusal, refused := errors.AsType[*domain.Error](err)
	if refused = refused && refusal.Kind == domain.Refused; err != nil && !refused {
		return Payment{}, err
	}
	return idempotent.Finish(ctx, run, func(tx *idempotent.Tx) (Payment, error) {
		// Read again: the provider's event may have been faster than its answer.
		pay, err := a.db.Payment(ctx, pay.ID)
		if err != nil {
			return Payment{}, err
		}
		if refused && pay.Status.Unheard() {
			out, err := a.failPayment(ctx, tx.Tx, pay)
			out.Code, out.Detail = refusal.Code, refusal.Message
			return out, err
		}
		if refused {
			return newPayment(pay), nil
		}
		pay, err = a.hear(ctx, tx.Tx, pay, charge)
		if errors.Is(err, domain.ErrWrongCharge) {
			err = domain.Errorf(domain.Unknown, "outcome_unknown", "charge %s: %w", charge.ID, err)
		}
		return newPayment(pay), err
	})
}

// reservePayment checks that the order can be paid and keeps the attempt.
func (a *API) reservePayment(ctx context.Context, tx *idempotent.Tx, providerKey string, in PayOrder) (domain.Payment, error) {
	if err := domain.PaymentDraft(in).Validate(); err != nil {
		return domain.Payment{}, err
	}
	order, err := a.orderOf(ctx, tx.Scope.Consumer, in.OrderID)
	if err != nil {
		return domain.Payment{}, err
	}
	if order.Status != domain.OrderAwaitingPayment {
		return domain.Payment{}, a.unlessSpent(ctx, "payments", tx.Scope, notPayable(order))
	}
	if err := a.provider.refuse(ctx); err != nil {
		return domain.Payment{}, err
	}
	pay := domain.Payment{
		ID: newID(), OrderID: order.ID, Status: domain.PaymentProcessing, Method: domain.PaymentMethod{Type: in.Method.Type},
		Amount: order.Total, Manual: in.Capture == "manual", ProviderKey: providerKey, CreatedAt: tx.Now(),
	}
	pay.Captured.Currency, pay.Refunded.Currency = pay.Amount.Currency, pay.Amount.Currency
	tx.InsertPayment(pay, tx.Scope, domain.Errorf(domain.Busy, "another_payment_in_progress",
		"Another payment of this order is still open. Ask again with the same key."))
	return pay, nil
}

func notPayable(o domain.Order) *domain.Error {
	refusal := domain.Errorf(domain.Refused, "order_not_payable", "The order cannot be paid: it is %s.", o.Status)
	refusal.Resource = newOrder(o).Path()
	return refusal
}

// unlessSpent gives the refusal of a request, unless something was made with its key before: then it
// is a late retry whose record is gone, and what looks like a "no" is the trace of its own success.
func (a *API) unlessSpent(ctx context.Context, table string, s domain.Scope, refusal error) error {
	spent, err := a.db.Spent(ctx, table, s)
	switch {
	case err != nil:
		return err
	case spent:
		return store.ErrKeySpent
	default:
		return refusal
	}
}

// charge asks the provider for the money. A resumed run looks first: an earlier attempt may have
// charged. What the provider does not know is asked for again while it is sure to remember the key, and
// only for a client who is there.
func (a *API) charge(ctx context.Context, key string, run *idempotent.Run, pay domain.Payment, method domain.PaymentMethod) (domain.Charge, error) {
	order, err := a.db.Order(ctx, pay.OrderID)
	if err != nil {
		return domain.Charge{}, err
	}
	request := domain.ChargeRequest{Reference: order.Number, Amount: pay.Amount, Method: method, Manual: pay.Manual,
		ReturnURL: a.baseURL + "/return/" + pay.ID}
	if run.Resumed() {
		charge, err := a.provider.Find(ctx, key, request)
		if !errors.Is(err, domain.ErrNoCharge) {
			return charge, a.chargeError(ctx, pay, err)
		}
		if err := a.mayCharge(ctx, run, pay, order.Number); err != nil {
			return domain.Charge{}, err
		}
	}
	charge, err := a.provider.Charge(ctx, key, request)
	return charge, a.chargeError(ctx, pay, err)
}

// mayCharge decides whether a charge that the provider does not know may be asked for again.
func (a *API) mayCharge(ctx context.Context, run *idempotent.Run, pay domain.Payment, reference string) error {
	now, err := a.db.Payment(ctx, pay.ID)
	switch {
	case err != nil:
		return err
	case !now.Status.Unheard(): // by an event, or by a person who found that nothing was charged
		return domain.Errorf(domain.Refused, "payment_settled", "The payment is %s.", now.Status)
	case !domain.MayCharge(pay.CreatedAt, a.db.Now(), a.provider.KeyMemory()):
		return a.inDoubt(ctx, pay, reference)
	case run.Completing():
		return a.absentClient(pay)
	default:
		return nil
	}
}

// chargeError tells apart what is certain and what is not. Neither is final: a retry with the same
// key finds out, or charges.
func (a *API) chargeError(ctx context.Context, pay domain.Payment, err error) error {
	refusal, refused := errors.AsType[*domain.Error](err)
	switch {
	case err == nil:
		return nil
	case refused && refusal.Kind == domain.Refused:
		return refusal
	case errors.Is(err, domain.ErrNotCharged):
		return domain.Errorf(domain.Unavailable, "provider_unavailable", "The payment provider does not answer: %w", err)
	}
	note, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
	defer cancel()
	tx := a.db.Begin()
	tx.NotePaymentUnknown(pay.ID)
	if noteErr := tx.Commit(note); noteErr != nil {
		err = errors.Join(err, noteErr)
	}
	return domain.Errorf(domain.Unknown, "outcome_unknown", "charge payment %s: %w", pay.ID, err)
}

// failPayment ends an attempt that certainly moved no money.
func (a *API) failPayment(ctx context.Context, tx *store.Tx, pay domain.Payment) (Payment, error) {
	order, err := a.db.Order(ctx, pay.OrderID)
	if err != nil {
		return Payment{}, err
	}
	pay.Status = domain.PaymentFailed
	tx.UpdatePayment(pay)
	a.emit(tx, order.Consumer, "payment.failed", pay.ID, newPayment(pay))
	return newPayment(pay), nil
}

func newPayment(p domain.Payment) Payment {
	out := Payment{ID: p.ID, OrderID: p.OrderID, Status: p.Status, Amount: p.Amount, Captured: p.Captured, Refunded: p.Refunded,
		Capture: "automatic", CreatedAt: p.CreatedAt}
	if p.Manual {
		out.Capture = "manual"
	}
	switch p.Status {
	case domain.PaymentPending:
		out.NextAction = &NextAction{Type: "redirect", RedirectURL: p.RedirectURL}
	case domain.PaymentDeclined:
		out.Code, out.Detail = "card_declined", "The customer's bank declined this payment. Nothing was charged."
	case domain.PaymentFailed:
		out.Code, out.Detail = "payment_failed", "The payment was given up before any money moved."
	}
	return out
}

// HTTPStatus is 202 while the customer must act, 402 for a declined payment and 422 for one that could
// not be tried: all of them are answers, not errors.
func (p Payment) HTTPStatus() int {
	switch p.Status {
	case domain.PaymentPending:
		return http.StatusAccepted
	case domain.PaymentDeclined:
		return http.StatusPaymentRequired
	case domain.PaymentFailed, domain.PaymentVoided:
		return http.StatusUnprocessableEntity
	default:
		return http.StatusCreated
	}
}

// Path is where the payment is found.
func (p Payment) Path() string { return "/v1/payments/" + p.ID }

// getPayment tells the state of one of the caller's payments.
func (a *API) getPayment(c *gin.Context) {
	pay, err := a.ownPayment(c.Request.Context(), caller(c).ID, c.Param("id"))
	if err != nil {
		a.fail(c, err)
		return
	}
	live(c, newPayment(pay))
}

// ownPayment reads a payment. Somebody else's is as absent as one that never was.
func (a *API) ownPayment(ctx context.Context, consumer int64, id string) (domain.Payment, error) {
	id, err := parseID(id, "payment")
	if err != nil {
		return domain.Payment{}, err
	}
	pay, err := a.db.Payment(ctx, id)
	if err != nil {
		return domain.Payment{}, err
	}
	if _, err := a.orderOf(ctx, consumer, pay.OrderID); err != nil {
		if domain.KindOf(err) == domain.NotFound {
			err = notThere("payment")
		}
		return domain.Payment{}, err
	}
	return pay, nil
}
