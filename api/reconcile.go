package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
)

const (
	reconcileEvery   = 5 * time.Minute
	reconcileTimeout = 4 * time.Minute
	reconcilePage    = 500 // payments of ours
)

// ScheduleReconciliation lets the jobs of this process compare our books with the provider's: every few
// minutes the last hours, and once in the first hour of a day the day before. Call it before they start.
func (a *API) ScheduleReconciliation() {
	a.jobs.Repeat(jobs.Reconcile, reconcileEvery, func() string { return a.db.Now().Truncate(reconcileEvery).Format(time.RFC3339) })
	a.jobs.Repeat(jobs.Reconcile, time.Hour, func() string { return a.db.Now().AddDate(0, 0, -1).Format(time.DateOnly) })
}

// reconcileJob compares the day that its id names, or the hours before that moment. It is not tried
// again: the next one is near.
func (a *API) reconcileJob(ctx context.Context, id string, _ int) error {
	what := domain.Reconciliation{}
	if day, err := time.Parse(time.DateOnly, id); err == nil {
		what = domain.DayReconciliation(day, a.db.Now())
	} else if at, err := time.Parse(time.RFC3339, id); err == nil {
		what = domain.RecentReconciliation(at)
	} else {
		return fmt.Errorf("%w: %w", jobs.ErrGiveUp, err)
	}
	did, err := a.Reconcile(ctx, what)
	if err != nil {
		a.log.WarnContext(ctx, "our books could not be compared with the provider's", "run", what.Run, "error", err)
		return fmt.Errorf("%w: %w", jobs.ErrGiveUp, err)
	}
	if did.Repaired > 0 || did.Differences > 0 {
		a.log.WarnContext(ctx, "our books differed from the provider's", "run", did.Run, "repaired", did.Repaired, "differences", did.Differences)
	}
	return nil
}

// Reconcile compares our books with the provider's. What we missed is heard now, by the same way as an
// event. Anything else is for a person: no money is moved. On an error nothing is said about the rest.
func (a *API) Reconcile(ctx context.Context, what domain.Reconciliation) (domain.Reconciliation, error) {
	r := &reconciling{API: a, did: what, seen: map[string]bool{}}
	for _, step := range []func(context.Context) error{r.theirs, r.ours} {
		if err := step(ctx); err != nil {
			return r.did, fmt.Errorf("reconcile: %w", err)
		}
	}
	r.did.EndedAt = a.db.Now()
	return r.did, a.db.KeepReconciliation(ctx, r.did)
}

// reconciling is one run of Reconcile.
type reconciling struct {
	*API
	did   domain.Reconciliation
	seen  map[string]bool // ids of payments whose charge was compared
	found []difference    // since they were told last
}

// difference is for a person to settle.
type difference struct{ kind, about, note string }

// theirs looks for every charge of the provider in our books.
func (r *reconciling) theirs(ctx context.Context) error {
	for cursor := ""; ; {
		page, err := r.provider.List(ctx, r.did.From, r.did.To, cursor)
		if err != nil {
			return err
		}
		if err := r.comparePage(ctx, page.Charges); err != nil {
			return err
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

func (r *reconciling) comparePage(ctx context.Context, charges []domain.Charge) error {
	keys := make([]string, len(charges))
	for i, c := range charges {
		keys[i] = c.Key
	}
	payments, err := r.db.PaymentsByProviderKeys(ctx, keys)
	if err != nil {
		return err
	}
	for _, c := range charges {
		if err := r.compare(ctx, payments[c.Key], c); err != nil {
			return err
		}
	}
	return r.tell(ctx)
}

// ours looks for every payment of ours that claims money in the provider's books. Its charge may have
// been left out of the list for its time alone, so the provider is asked for it.
func (r *reconciling) ours(ctx context.Context) error {
	for after := ""; ; {
		payments, err := r.db.PaymentsClaimingMoney(ctx, r.did.From, r.did.To, after, reconcilePage)
		if err != nil {
			return err
		}
		for _, pay := range payments {
			if err := r.confirm(ctx, pay); err != nil {
				return err
			}
		}
		if err := r.tell(ctx); err != nil || len(payments) < reconcilePage {
			return err
		}
		after = payments[len(payments)-1].ID
	}
}

func (r *reconciling) confirm(ctx context.Context, pay domain.Payment) error {
	if r.seen[pay.ID] {
		return nil
	}
	charge, err := r.provider.Get(ctx, pay.ChargeID)
	if errors.Is(err, domain.ErrNoCharge) {
		r.differ("reconcile_missing_charge", pay.ID, "the payment is "+string(pay.Status)+", and the provider knows no such charge")
		return nil
	}
	if err != nil {
		return err
	}
	return r.compare(ctx, pay, charge)
}

// compare holds a charge against our payment, which is empty when there is none.
func (r *reconciling) compare(ctx context.Context, pay domain.Payment, charge domain.Charge) error {
	r.did.Compared++
	if pay.ProviderKey != charge.Key || pay.ChargeID != "" && pay.ChargeID != charge.ID {
		r.differ("reconcile_unknown_charge", charge.ID, "the provider has a charge for "+charge.Reference+" that belongs to no payment")
		return nil
	}
	r.seen[pay.ID] = true
	if pay.Agrees(charge) {
		return nil
	}
	agrees, err := r.hearOf(ctx, charge)
	if err == nil && !agrees { // what was listed may be old news by now
		if charge, err = r.provider.Get(ctx, charge.ID); err == nil {
			agrees, err = r.hearOf(ctx, charge)
		}
	}
	switch {
	case errors.Is(err, domain.ErrWrongCharge):
		r.differ("reconcile_amount", pay.ID, "the provider's charge for "+charge.Reference+" differs in its amount or reference")
	case errors.Is(err, store.ErrStale):
		r.did.Differences++ // another payment of the order is under way: only its end can tell
	case err != nil:
		return err
	case agrees:
		r.did.Repaired++
	default:
		r.differ("reconcile_state", pay.ID, "the payment is not as the provider's charge for "+charge.Reference+", which is "+string(charge.Status))
	}
	return nil
}

func (r *reconciling) differ(kind, about, note string) {
	r.found = append(r.found, difference{kind, about, note})
}

// tell flags the differences that were found, and counts those that nobody has settled.
func (r *reconciling) tell(ctx context.Context) error {
	if len(r.found) == 0 {
		return nil
	}
	kinds := map[string][]string{}
	tx := r.db.Begin()
	for _, d := range r.found {
		tx.Flag(d.kind, d.about, d.note)
		kinds[d.kind] = append(kinds[d.kind], d.about)
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	r.found = nil
	for kind, about := range kinds {
		n, err := r.db.Unsettled(ctx, kind, about)
		if err != nil {
			return err
		}
		r.did.Differences += n
	}
	return nil
}
