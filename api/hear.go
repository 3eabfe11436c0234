package api

import (
	"context"
	"errors"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
)

// hear queues what the provider says of a payment's charge and everything that follows from it, and
// gives the payment as it is then. The provider is heard in many ways, at any moment and in any order:
// by the answer to a charge, by an event, by a capture or a refund, by being asked. All of them come
// here, so that whichever is first has the effect and the others find it done.
//
// pay must have been read in the same try: its revision guards the write. store.ErrStale at the commit
// says to read and decide again.
func (a *API) hear(ctx context.Context, tx *store.Tx, pay domain.Payment, charge domain.Charge) (domain.Payment, error) {
	next, changed, err := pay.Heard(charge)
	if err != nil || !changed {
		return pay, err
	}
	order, err := a.db.Order(ctx, pay.OrderID)
	if err != nil {
		return pay, err
	}
	if charge.Reference != order.Number {
		return pay, domain.ErrWrongCharge
	}
	paid := next.Status == domain.PaymentPaid && pay.Status != domain.PaymentPaid
	unwanted := paid && order.Status != domain.OrderAwaitingPayment
	if unwanted {
		next.Status = domain.PaymentDuplicate
	}
	if next.Status == domain.PaymentAuthorized && pay.Status == domain.PaymentPending {
		tx.KeepOrder(order) // which may be cancelled meanwhile: it does not wait for a bank
	}
	tx.UpdatePayment(next)
	next.Revision++
	if pay.Status == domain.PaymentUnknown {
		tx.SettleFlag(domain.PaymentInDoubt, pay.ID, "the provider told")
	}
	if next.Status != pay.Status {
		a.emit(tx, order.Consumer, "payment."+string(next.Status), next.ID, newPayment(next))
		if next.Status == domain.PaymentPending {
			a.jobs.Enqueue(tx, jobs.AskProvider, next.ID)
		}
	}
	switch {
	case unwanted:
		err = a.giveBack(ctx, tx, order, next)
	case paid:
		tx.MarkPaid(order.ID)
		a.mail(tx, a.confirmation(order, tx.Now()))
		order.Status = domain.OrderPaid
		a.emit(tx, order.Consumer, "order.paid", order.ID, newOrder(order))
	case order.Status == domain.OrderCancelled && takesMore(pay, next):
		_, err = a.undoPayment(ctx, tx, next)
	}
	return next, err
}

// takesMore reports whether money was reserved or captured that was not before.
func takesMore(before, now domain.Payment) bool {
	return now.Captured.Amount > before.Captured.Amount || now.Status == domain.PaymentAuthorized && before.Status != domain.PaymentAuthorized
}

// hearOf lets our books hear a charge for which nobody waits, and reports whether they agree with it
// then. Without a payment of ours it is an error of kind NotFound.
func (a *API) hearOf(ctx context.Context, charge domain.Charge) (agrees bool, err error) {
	var next domain.Payment
	err = a.commit(ctx, func(tx *store.Tx) error {
		pay, err := a.db.PaymentByProviderKey(ctx, charge.Key)
		if err != nil {
			return err
		}
		next, err = a.hear(ctx, tx, pay, charge)
		return err
	})
	if err == nil {
		a.noteHeard(ctx, next, "asked")
	}
	return err == nil && next.Agrees(charge), err
}

// noteHeard tells the journal of a payment's key how the provider was heard, and as what the payment stands
// then. When that cannot be told, nothing is amiss.
func (a *API) noteHeard(ctx context.Context, pay domain.Payment, how string) {
	if !a.registry.HasJournal() {
		return
	}
	scope, err := a.db.PaymentScope(ctx, pay.ID, a.PayOrder.Pattern)
	if err != nil {
		a.log.DebugContext(ctx, "not in the journal", "payment", pay.ID, "error", err)
		return
	}
	a.registry.Note(domain.KeyEvent{Scope: scope, Kind: domain.KeyHeard, Step: how, Detail: string(pay.Status)})
}

// giveBack queues the refund of money that nobody had to pay: the order was paid already, or
// cancelled while the customer was at the bank. The customer gets a mail, and the staff a flag.
func (a *API) giveBack(ctx context.Context, tx *store.Tx, order domain.Order, pay domain.Payment) error {
	reason := "duplicate"
	if order.Status == domain.OrderCancelled {
		reason = "order_cancelled"
	}
	if _, err := a.changeLater(ctx, tx, domain.Refund, pay, reason); err != nil {
		return err
	}
	a.mail(tx, a.paidInVain(order, pay, tx.Now()))
	tx.Flag("paid_in_vain", pay.ID, "order "+order.Number+" was "+string(order.Status)+" already; the payment is being refunded")
	return nil
}

// mail queues keeping a mail and sending it.
func (a *API) mail(tx *store.Tx, m domain.Mail) {
	tx.InsertMail(m)
	a.jobs.Enqueue(tx, jobs.SendMail, m.ID)
}

// commit lets fn read, decide and queue, and commits it. It is for what has no key of a client's:
// events and jobs, whose own rows say whether they were done.
func (a *API) commit(ctx context.Context, fn func(tx *store.Tx) error) error {
	for try := 1; ; try++ {
		tx := a.db.Begin()
		err := fn(tx)
		if err == nil {
			err = tx.Commit(ctx)
		}
		if !errors.Is(err, store.ErrStale) || try == store.MaxStale {
			return err
		}
	}
}
