package psptest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"example.com/eenmaal/domain"
)

func (s Suite) runModifications(run func(name string, promise func(t *testing.T, c *customer))) {
	run("a charge can be read by its id", getsACharge)
	run("a repeated refund is one refund", repeatsTheSameRefund)
	run("overlapping refunds with one key are one refund", overlappingRefundsAreOne)
	run("a refund can be made in parts and raises the version", refundsInParts)
	run("a refund of more than is left is refused", refundsNoMoreThanIsLeft)
	run("refunds at the same moment never exceed the charge", racingRefundsNeverExceed)
	run("a key is not refunded for another amount", refundKeyIsBound)
	run("a refund can be found by its key", findsARefund)
	if s.Manual {
		run("reserved money is captured in parts", capturesInParts)
		run("a second capture is refused, and the first is found (T27)", alreadyCaptured)
		run("a void gives back what was reserved", voids)
		run("a void leaves what was captured", voidsTheRest)
	}
	if s.Cards.Redirect != "" && s.Approve != nil {
		run("a customer who approves turns pending into paid", approves)
	}
	if s.LoseAnswer != nil {
		run("a refund whose answer is lost is done once", lostRefundIsDoneOnce)
	}
}

// modify changes the charge and fails the test when that is refused or unknown.
func (c *customer) modify(t *testing.T, key string, kind domain.ModificationKind, charge domain.Charge, cents int64) domain.Modified {
	t.Helper()
	made, err := c.provider.Modify(t.Context(), key, change(kind, charge, cents))
	if err != nil {
		t.Fatalf("%s of %d: got error %v", kind, cents, err)
	}
	return made
}

// untilKnown asks with the same key until the provider says yes or no, as whoever resumes does.
func (c *customer) untilKnown(t *testing.T, key string, r domain.ModifyRequest) (made domain.Modified, err error) {
	for range 10 {
		if made, err = c.provider.Modify(t.Context(), key, r); err == nil || domain.KindOf(err) == domain.Refused {
			break
		}
	}
	return made, err
}

// refused checks that the provider says a final no.
func (c *customer) refused(t *testing.T, key string, kind domain.ModificationKind, charge domain.Charge, cents int64) {
	t.Helper()
	if made, err := c.provider.Modify(t.Context(), key, change(kind, charge, cents)); domain.KindOf(err) != domain.Refused {
		t.Errorf("%s of %d: got %+v, %v, want it refused", kind, cents, made, err)
	}
}

func change(kind domain.ModificationKind, charge domain.Charge, cents int64) domain.ModifyRequest {
	return domain.ModifyRequest{Kind: kind, ChargeID: charge.ID, Amount: domain.EUR(cents)}
}

// books checks the one charge in the provider's own books.
func (c *customer) books(t *testing.T, status domain.ChargeStatus, captured, refunded int64) {
	t.Helper()
	list := c.Ledger(c.reference)
	if len(list) != 1 || list[0].Status != status || list[0].Captured != domain.EUR(captured) || list[0].Refunded != domain.EUR(refunded) {
		t.Errorf("ledger: got %+v, want one %s charge with %d captured and %d refunded", list, status, captured, refunded)
	}
}

func getsACharge(t *testing.T, c *customer) {
	made := c.pay(t, c.key, c.Cards.Good)
	if got, err := c.provider.Get(t.Context(), made.ID); err != nil || got != made {
		t.Errorf("got %+v, %v, want %+v", got, err, made)
	}
	if got, err := c.provider.Get(t.Context(), made.ID+"x"); err == nil {
		t.Errorf("another id: got %+v, want an error", got)
	}
}

func repeatsTheSameRefund(t *testing.T, c *customer) {
	charge := c.pay(t, c.key, c.Cards.Good)
	first := c.modify(t, c.key+"-r", domain.Refund, charge, 1000)
	for range 3 {
		if again := c.modify(t, c.key+"-r", domain.Refund, charge, 1000); again.ID != first.ID {
			t.Errorf("got %+v, want %+v", again, first)
		}
	}
	c.books(t, domain.ChargeSucceeded, 4195, 1000)
}

func overlappingRefundsAreOne(t *testing.T, c *customer) {
	charge := c.pay(t, c.key, c.Cards.Good)
	made, errs := together(20, func(int) (domain.Modified, error) {
		return c.untilKnown(t, c.key+"-r", change(domain.Refund, charge, 1000))
	})
	c.books(t, domain.ChargeSucceeded, 4195, 1000)
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("got errors %v, want the refund for everybody", err)
	}
	for _, m := range made {
		if m.ID != made[0].ID {
			t.Errorf("got %+v, want %+v", m, made[0])
		}
	}
}

func refundsInParts(t *testing.T, c *customer) {
	charge := c.pay(t, c.key, c.Cards.Good)
	first := c.modify(t, c.key+"-1", domain.Refund, charge, 1000).Charge
	second := c.modify(t, c.key+"-2", domain.Refund, charge, 3195).Charge
	if first.Refunded != domain.EUR(1000) || second.Refunded != domain.EUR(4195) {
		t.Errorf("got %v and %v refunded, want 1000 and 4195", first.Refunded, second.Refunded)
	}
	if first.Version <= charge.Version || second.Version <= first.Version {
		t.Errorf("got versions %d, %d, %d, want them to rise", charge.Version, first.Version, second.Version)
	}
	if now, err := c.provider.Find(t.Context(), c.key, c.request(c.Cards.Good)); err != nil || now != second {
		t.Errorf("find: got %+v, %v, want %+v", now, err, second)
	}
	c.books(t, domain.ChargeSucceeded, 4195, 4195)
}

func refundsNoMoreThanIsLeft(t *testing.T, c *customer) {
	charge := c.pay(t, c.key, c.Cards.Good)
	c.refused(t, c.key+"-1", domain.Refund, charge, 4196)
	c.modify(t, c.key+"-2", domain.Refund, charge, 4000)
	c.refused(t, c.key+"-3", domain.Refund, charge, 196)
	c.refused(t, c.key+"-3", domain.Refund, charge, 196) // final for its key
	c.books(t, domain.ChargeSucceeded, 4195, 4000)
}

func racingRefundsNeverExceed(t *testing.T, c *customer) {
	charge := c.pay(t, c.key, c.Cards.Good)
	_, errs := together(20, func(i int) (domain.Modified, error) {
		return c.untilKnown(t, c.key+"-"+string(rune('a'+i)), change(domain.Refund, charge, 1000))
	})
	done := 0
	for _, err := range errs {
		switch {
		case err == nil:
			done++
		case domain.KindOf(err) != domain.Refused:
			t.Errorf("got %v, want a refund or a refusal", err)
		}
	}
	if done != 4 {
		t.Errorf("got %d refunds of 10.00, want the 4 that 41.95 allows", done)
	}
	c.books(t, domain.ChargeSucceeded, 4195, 4000)
}

func refundKeyIsBound(t *testing.T, c *customer) {
	charge := c.pay(t, c.key, c.Cards.Good)
	c.modify(t, c.key+"-r", domain.Refund, charge, 1000)
	if got, err := c.provider.Modify(t.Context(), c.key+"-r", change(domain.Refund, charge, 2000)); err == nil || domain.KindOf(err) == domain.Refused {
		t.Errorf("got %+v, %v for another amount, want an error that is no refusal", got, err)
	}
	c.books(t, domain.ChargeSucceeded, 4195, 1000)
}

func findsARefund(t *testing.T, c *customer) {
	charge := c.pay(t, c.key, c.Cards.Good)
	made := c.modify(t, c.key+"-r", domain.Refund, charge, 1000)
	ask := change(domain.Refund, charge, 1000)
	if found, err := c.provider.FindModification(t.Context(), c.key+"-r", ask); err != nil || found != made {
		t.Errorf("got %+v, %v, want %+v", found, err, made)
	}
	if _, err := c.provider.FindModification(t.Context(), c.key+"-x", ask); !errors.Is(err, domain.ErrNoCharge) {
		t.Errorf("unused key: got %v, want ErrNoCharge", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.provider.FindModification(ctx, c.key+"-x", ask); err == nil || errors.Is(err, domain.ErrNoCharge) {
		t.Errorf("provider not asked: got %v, want another error than ErrNoCharge", err)
	}
}

func lostRefundIsDoneOnce(t *testing.T, c *customer) {
	charge := c.pay(t, c.key, c.Cards.Good)
	c.LoseAnswer(t, domain.Refund, charge.ID)
	_, err := c.provider.Modify(t.Context(), c.key+"-r", change(domain.Refund, charge, 1000))
	if domain.KindOf(err) == domain.Refused {
		t.Errorf("got %v, but the money was refunded", err)
	}
	c.books(t, domain.ChargeSucceeded, 4195, 1000)
	found, err := c.provider.FindModification(t.Context(), c.key+"-r", change(domain.Refund, charge, 1000))
	if err != nil {
		t.Fatalf("find: got %v, want the refund", err)
	}
	if again := c.modify(t, c.key+"-r", domain.Refund, charge, 1000); again.ID != found.ID {
		t.Errorf("repeat: got %+v, want %+v", again, found)
	}
	c.books(t, domain.ChargeSucceeded, 4195, 1000)
}

// together makes n calls at the same moment.
func together[T any](n int, call func(i int) (T, error)) ([]T, []error) {
	got, errs := make([]T, n), make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			got[i], errs[i] = call(i)
		})
	}
	close(start)
	all.Wait()
	return got, errs
}
