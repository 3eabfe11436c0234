package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
)

// noteTimeout bounds writing down that a charge's outcome is unknown, after the run's own time is up.
const noteTimeout = 2 * time.Second

var (
	errSettled = errors.New("the payment or its order was settled by somebody else")
	errAmount  = errors.New("amounts differ")
)

// payOrder charges the order's total. The payment is kept before the provider is called and settled
// after it; between the two no transaction is open.
func (a *API) payOrder(ctx context.Context, run *idempotent.Run, in PayOrder) (Payment, error) {
	pay, err := idempotent.Step(ctx, run, "reserve", func(tx *idempotent.Tx) (domain.Payment, error) {
		return a.reservePayment(ctx, tx, in)
	})
	if err != nil {
		return Payment{}, err
	}
	charge, err := idempotent.Call(ctx, run, "charge", func(ctx context.Context, key string) (domain.Charge, error) {
		return a.charge(ctx, key, run.Resumed(), pay, in.Method)
	})
	if refusal, ok := errors.AsType[*domain.Error](err); ok && refusal.Kind == domain.Refused {
		return idempotent.Finish(ctx, run, func(tx *idempotent.Tx) (Payment, error) {
			return failPayment(tx, pay, refusal), nil
		})
	}
	if err != nil {
		return Payment{}, err
	}
	return idempotent.Finish(ctx, run, func(tx *idempotent.Tx) (Payment, error) {
		return a.settlePayment(ctx, tx, pay, charge)
	})
}

// reservePayment checks that the order can be paid and keeps the attempt.
func (a *API) reservePayment(ctx context.Context, tx *idempotent.Tx, in PayOrder) (domain.Payment, error) {
	if err := in.validate(); err != nil {
		return domain.Payment{}, err
	}
	if err := a.owns(ctx, tx.Scope.Consumer, in.OrderID); err != nil {
		return domain.Payment{}, err
	}
	order, err := a.db.Order(ctx, in.OrderID)
	if err != nil {
		return domain.Payment{}, err
	}
	if order.Status != domain.OrderAwaitingPayment {
		refusal := domain.Errorf(domain.Refused, "order_not_payable", "The order cannot be paid: it is %s.", order.Status)
		refusal.Resource = newOrder(order).Path()
		return domain.Payment{}, refusal
	}
	pay := domain.Payment{ID: newID(), OrderID: order.ID, Status: domain.PaymentProcessing,
		Method: domain.PaymentMethod{Type: in.Method.Type}, Amount: order.Total, CreatedAt: tx.Now()}
	tx.InsertPayment(pay, tx.Scope, domain.Errorf(domain.Busy, "another_payment_in_progress",
		"Another payment of this order is still open. Ask again with the same key."))
	return pay, nil
}

func (in PayOrder) validate() error {
	var fields []domain.FieldError
	wrong := func(field, code, message string) {
		fields = append(fields, domain.FieldError{Field: field, Code: code, Message: field + " " + message + "."})
	}
	if _, err := uuid.Parse(in.OrderID); err != nil || len(in.OrderID) != 36 {
		wrong("order_id", "invalid", "must be the id of an order")
	}
	if in.Method.Type != "card" {
		wrong("method.type", "unsupported", `must be "card"`)
	}
	if !isToken(in.Method.Token) {
		wrong("method.token", "invalid", "must be a card token such as tok_ok")
	}
	if in.Capture != "" && in.Capture != "automatic" {
		wrong("capture", "unsupported", `must be "automatic"`)
	}
	if len(fields) == 0 {
		return nil
	}
	return &domain.Error{Kind: domain.Invalid, Code: "validation_failed", Message: "Some fields break a rule.", Fields: fields}
}

func isToken(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= 100
}

// charge asks the provider for the money. A resumed run looks first: an earlier attempt may have
// charged, and a provider's own memory of keys ends some day.
func (a *API) charge(ctx context.Context, key string, resumed bool, pay domain.Payment, method domain.PaymentMethod) (domain.Charge, error) {
	order, err := a.db.Order(ctx, pay.OrderID)
	if err != nil {
		return domain.Charge{}, err
	}
	request := domain.ChargeRequest{Reference: order.Number, Amount: pay.Amount, Method: method}
	var charge domain.Charge
	err = domain.ErrNoCharge
	if resumed {
		charge, err = a.provider.Find(ctx, key, request)
	}
	if errors.Is(err, domain.ErrNoCharge) {
		charge, err = a.provider.Charge(ctx, key, request)
	}
	return charge, a.chargeError(ctx, pay, err)
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
	if noteErr := a.db.NotePaymentUnknown(note, pay.ID); noteErr != nil {
		err = errors.Join(err, noteErr)
	}
	return domain.Errorf(domain.Unknown, "outcome_unknown", "charge payment %s: %w", pay.ID, err)
}

// settlePayment writes the provider's word down. The mail is kept and its sending enqueued in the
// same transaction.
func (a *API) settlePayment(ctx context.Context, tx *idempotent.Tx, pay domain.Payment, charge domain.Charge) (Payment, error) {
	if charge.Amount != pay.Amount {
		return Payment{}, domain.Errorf(domain.Unknown, "outcome_unknown", "charge %s is over another amount: %w", charge.ID, errAmount)
	}
	pay.Status = domain.PaymentPaid
	if charge.Status == domain.ChargeDeclined {
		pay.Status = domain.PaymentDeclined
	}
	tx.SettlePayment(pay.ID, pay.Status, charge.ID, errSettled)
	if pay.Status == domain.PaymentPaid {
		order, err := a.db.Order(ctx, pay.OrderID)
		if err != nil {
			return Payment{}, err
		}
		tx.MarkPaid(order.ID, errSettled)
		mail := a.confirmation(order, tx.Now())
		tx.InsertMail(mail)
		a.jobs.SendMail(tx.Tx, mail.ID)
	}
	return newPayment(pay), nil
}

// failPayment ends an attempt that the provider would not even try.
func failPayment(tx *idempotent.Tx, pay domain.Payment, refusal *domain.Error) Payment {
	pay.Status = domain.PaymentFailed
	tx.SettlePayment(pay.ID, pay.Status, "", errSettled)
	out := newPayment(pay)
	out.Code, out.Detail = refusal.Code, refusal.Message
	return out
}

func newPayment(p domain.Payment) Payment {
	out := Payment{ID: p.ID, OrderID: p.OrderID, Status: p.Status, Amount: p.Amount, CreatedAt: p.CreatedAt}
	if p.Status == domain.PaymentDeclined {
		out.Code, out.Detail = "card_declined", "The customer's bank declined this card. Nothing was charged."
	}
	return out
}

// HTTPStatus is 402 for a declined payment and 422 for one that could not be tried: both are answers,
// not errors.
func (p Payment) HTTPStatus() int {
	switch p.Status {
	case domain.PaymentDeclined:
		return http.StatusPaymentRequired
	case domain.PaymentFailed:
		return http.StatusUnprocessableEntity
	default:
		return http.StatusCreated
	}
}

// Path is where the payment is found.
func (p Payment) Path() string { return "/v1/payments/" + p.ID }

// getPayment tells the state of one of the caller's payments.
func (a *API) getPayment(c *gin.Context) {
	id, err := pathID(c, "payment")
	if err != nil {
		a.fail(c, err)
		return
	}
	pay, err := a.db.Payment(c.Request.Context(), id)
	if err == nil && a.owns(c.Request.Context(), caller(c).ID, pay.OrderID) != nil {
		err = domain.Errorf(domain.NotFound, "payment_not_found", "There is no such payment.")
	}
	if err != nil {
		a.fail(c, err)
		return
	}
	live(c, newPayment(pay))
}
