package api

import (
	"context"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// Stopped runs are looked for every few seconds, a number of them at a time.
const (
	completeEvery = 2 * time.Second
	completeBatch = 20
)

// completing gives the loop that goes on with runs whose clients have not come back, and asks a provider
// that was left alone how it is. It tells of a database that is not there once, not every few seconds.
func (a *API) completing() func(ctx context.Context) (more bool) {
	failing := false
	return func(ctx context.Context) bool {
		_ = a.provider.probe(ctx) // the breaker has logged what it shows
		n, err := a.registry.Complete(ctx, completeBatch)
		if err != nil && !failing {
			a.log.WarnContext(ctx, "stopped runs cannot be looked for", "error", err)
		}
		failing = err != nil
		return n == completeBatch && ctx.Err() == nil
	}
}

// abandonAfter is how long a payment that was certainly not charged is kept for a client that may come
// back.
const abandonAfter = 15 * time.Minute

// absentClient decides on a payment that the provider does not know, in a run without its client: it is
// not charged, since its customer may have gone. A client who comes back with the same key is charged
// after all; when he stays away the payment is closed.
func (a *API) absentClient(pay domain.Payment) error {
	if left := pay.CreatedAt.Add(abandonAfter).Sub(a.db.Now()); left > 0 {
		later := domain.Errorf(domain.Unavailable, "payment_not_begun", "Nothing was charged. The payment begins when its client asks again.")
		later.RetryAfter = left
		return later
	}
	return domain.Errorf(domain.Refused, "payment_abandoned", "The payment was not begun, and its client did not ask again. Nothing was charged.")
}

// inDoubt keeps that a charge was asked for long ago and cannot be found. The provider may have forgotten
// its key, so nobody may ask for it again: a person has to find out (SettleUnknown).
func (a *API) inDoubt(ctx context.Context, pay domain.Payment, reference string) error {
	tx := a.db.Begin()
	tx.NotePaymentUnknown(pay.ID)
	tx.Flag(domain.PaymentInDoubt, pay.ID, "order "+reference+": a charge was asked for, and the provider does not tell of it")
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	return domain.Errorf(domain.Unknown, "outcome_unknown", "The payment is in doubt, and a person has been called.")
}

// NotCharged is what a person can find of a payment in doubt. That it was charged is for the provider to
// say, whose word is heard as ever.
const NotCharged = "not_charged"

// SettleUnknown notes what a person has found out about a payment in doubt: it has failed, its order can
// be paid anew, and its key gets its final answer from whoever asks next, the completer within seconds.
// Should the provider tell of money after all, its word wins.
func (a *API) SettleUnknown(ctx context.Context, paymentID, found, by string) error {
	if found != NotCharged {
		return domain.Errorf(domain.Invalid, "settlement_unsupported", "A payment in doubt can be settled as %s only.", NotCharged)
	}
	return a.commit(ctx, func(tx *store.Tx) error {
		pay, err := a.db.Payment(ctx, paymentID)
		if err != nil {
			return err
		}
		if pay.Status != domain.PaymentUnknown || domain.MayCharge(pay.CreatedAt, tx.Now(), a.provider.KeyMemory()) {
			return domain.Errorf(domain.Refused, "payment_not_in_doubt", "The payment is %s, and not for a person to settle.", pay.Status)
		}
		if _, err := a.failPayment(ctx, tx, pay); err != nil {
			return err
		}
		tx.SettleFlag(domain.PaymentInDoubt, pay.ID, by)
		tx.LookAtPayment(pay.ID)
		return nil
	})
}
