package api

import (
	"context"
	"errors"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
)

const (
	longestAskPause = time.Hour
	// askFor is how long a customer may be at the bank. Every provider ends the wait long before.
	askFor = 24 * time.Hour
)

// askProvider asks how a payment at the bank ended, for when the provider's news of it is lost: without
// it the customer would look at a waiting page for ever. It asks again after as long as it took so far.
func (a *API) askProvider(ctx context.Context, id string, _ int) error {
	pay, err := a.db.Payment(ctx, id)
	if err != nil || pay.Status != domain.PaymentPending {
		return err
	}
	charge, err := a.provider.Get(ctx, pay.ChargeID)
	if err != nil {
		return err
	}
	_, err = a.hearOf(ctx, charge)
	age := a.db.Now().Sub(pay.CreatedAt)
	switch {
	case errors.Is(err, domain.ErrWrongCharge):
		return a.flag(ctx, "payment_wrong_charge", id, "the provider's charge differs in its amount or reference")
	case err != nil || charge.Status != domain.ChargePending:
		return err
	case age > askFor:
		return a.flag(ctx, "payment_pending", id, "the provider still waits for the customer after a day")
	default:
		return jobs.Again(min(max(age, a.askAfter), longestAskPause))
	}
}

func (a *API) flag(ctx context.Context, kind, about, note string) error {
	return a.commit(ctx, func(tx *store.Tx) error {
		tx.Flag(kind, about, note)
		return nil
	})
}
