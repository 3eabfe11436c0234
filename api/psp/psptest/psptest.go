// Package psptest holds the promises that every payment provider's adapter keeps, as one suite.
package psptest

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"testing"

	"example.com/eenmaal/domain"
)

// Suite says how to reach one adapter. Ledger asks the provider's own books, by a way that does not
// pass through the adapter, for every charge that has the reference.
//
// What a provider cannot be asked for stays empty; the promises about it are then no part of the suite.
type Suite struct {
	NewProvider func(t *testing.T) domain.PaymentProvider
	Ledger      func(reference string) []domain.Charge
	Cards       Cards
	Manual      bool // money can be reserved first, then captured or voided

	// Approve does on the provider's pages what the customer does who agrees.
	Approve func(t *testing.T, pending domain.Charge)
	// LoseAnswer makes the provider do the next such modification of the charge without a good answer.
	LoseAnswer func(t *testing.T, kind domain.ModificationKind, chargeID string)
}

// Cards names the provider's test cards.
type Cards struct {
	Good        string   // succeeds
	Declined    string   // is declined by the customer's bank
	Unsupported string   // cannot be charged at all
	DownAtFirst string   // the provider refuses the first request without charging, then works
	Redirect    string   // sends the customer to a page of the provider
	AnswerLost  []string // is charged, but the first answer never arrives or says it failed
}

// SimulatedCards are the tokens of the simulated provider.
var SimulatedCards = Cards{
	Good: "tok_ok", Declined: "tok_declined", Unsupported: "tok_never_heard_of", DownAtFirst: "tok_unavailable",
	Redirect:   "tok_3ds",
	AnswerLost: []string{"tok_charged_then_timeout", "tok_charged_then_500"},
}

// Run runs every promise as a parallel subtest with a provider of its own. They share the ledger, in
// which each uses its own references.
func (s Suite) Run(t *testing.T) {
	run := func(name string, promise func(t *testing.T, c *customer)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			promise(t, &customer{Suite: s, provider: s.NewProvider(t), key: rand.Text(), reference: "EM-" + rand.Text()[:10]})
		})
	}
	run("a good card is charged", chargesAGoodCard)
	run("a repeated key is answered with the same charge", repeatsTheSameCharge)
	run("overlapping calls with one key make one charge", overlapsMakeOneCharge)
	run("another key is another charge", anotherKeyIsAnotherCharge)
	run("a key is not charged for another amount", keyIsBoundToItsAmount)
	run("a charge can be found by its key", findsACharge)
	run("a key without a charge is told apart from a failure", findsNoCharge)
	run("a cancelled call claims no false certainty", cancelledCallIsHonest)
	if s.Cards.Declined != "" {
		run("a declined card is an outcome and moves no money", declinedCardIsAnOutcome)
	}
	if s.Cards.Unsupported != "" {
		run("an unsupported card is certainly not charged", unsupportedCardIsNotCharged)
	}
	if s.Cards.DownAtFirst != "" {
		run("a provider that is down charges nothing and the key stays good", downProviderLeavesTheKeyGood)
	}
	for _, card := range s.Cards.AnswerLost {
		run("a lost answer is never called not charged ("+card+")", func(t *testing.T, c *customer) {
			lostAnswerIsNotARefusal(t, c, card)
		})
	}
	run("the books can be read by time", listsItsBooks)
	s.runModifications(run)
}

// customer is one subtest: a key and a reference that nobody else uses.
type customer struct {
	Suite
	provider       domain.PaymentProvider
	key, reference string
	manual         bool // charges only reserve
}

func (c *customer) request(card string) domain.ChargeRequest {
	return domain.ChargeRequest{
		Reference: c.reference, Amount: domain.EUR(4195), Method: domain.PaymentMethod{Type: "card", Token: card},
		Manual: c.manual,
	}
}

// pay charges the card and fails the test when that gives no charge.
func (c *customer) pay(t *testing.T, key, card string) domain.Charge {
	t.Helper()
	charge, err := c.provider.Charge(t.Context(), key, c.request(card))
	if err != nil {
		t.Fatalf("charge: got error %v, want a charge", err)
	}
	return charge
}

// paid checks how many charges for the reference succeeded, by the provider's own books.
func (c *customer) paid(t *testing.T, want int) {
	t.Helper()
	var got []domain.Charge
	for _, charge := range c.Ledger(c.reference) {
		if charge.Status == domain.ChargeSucceeded {
			got = append(got, charge)
		}
	}
	if len(got) != want {
		t.Fatalf("ledger: got %d succeeded charges, want %d: %+v", len(got), want, got)
	}
}

func chargesAGoodCard(t *testing.T, c *customer) {
	got := c.pay(t, c.key, c.Cards.Good)
	if got.ID == "" || got.CreatedAt.IsZero() {
		t.Errorf("got %+v, want an id and a time", got)
	}
	want := domain.Charge{ID: got.ID, Reference: c.reference, Key: c.key, Amount: domain.EUR(4195),
		Captured: domain.EUR(4195), Refunded: domain.EUR(0), Status: domain.ChargeSucceeded, Version: got.Version, CreatedAt: got.CreatedAt}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c.paid(t, 1)
	if entry := c.Ledger(c.reference)[0]; entry.ID != got.ID || entry.Key != c.key || entry.Amount != got.Amount {
		t.Errorf("ledger: got %+v, want %+v", entry, got)
	}
}

func repeatsTheSameCharge(t *testing.T, c *customer) {
	first := c.pay(t, c.key, c.Cards.Good)
	for range 3 {
		if again := c.pay(t, c.key, c.Cards.Good); again != first {
			t.Errorf("got %+v, want %+v", again, first)
		}
	}
	c.paid(t, 1)
}

func overlapsMakeOneCharge(t *testing.T, c *customer) {
	const calls = 20
	charges, errs := make([]domain.Charge, calls), make([]error, calls)
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() { charges[i], errs[i] = c.provider.Charge(t.Context(), c.key, c.request(c.Cards.Good)) })
	}
	all.Wait()
	c.paid(t, 1)
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("got errors %v, want the charge for everybody", err)
	}
	for _, charge := range charges {
		if charge != charges[0] {
			t.Errorf("got %+v, want %+v", charge, charges[0])
		}
	}
}

func anotherKeyIsAnotherCharge(t *testing.T, c *customer) {
	if one, two := c.pay(t, c.key, c.Cards.Good), c.pay(t, c.key+"-2", c.Cards.Good); one.ID == two.ID {
		t.Errorf("got charge %s for both keys, want two charges", one.ID)
	}
	c.paid(t, 2)
}

func keyIsBoundToItsAmount(t *testing.T, c *customer) {
	first := c.pay(t, c.key, c.Cards.Good)
	other := c.request(c.Cards.Good)
	other.Amount = domain.EUR(1)
	if got, err := c.provider.Charge(t.Context(), c.key, other); err == nil {
		t.Errorf("got %+v for another amount, want an error", got)
	} else if errors.Is(err, domain.ErrNotCharged) {
		t.Errorf("got %v, but the key has a charge", err)
	}
	c.paid(t, 1)
	if entry := c.Ledger(c.reference)[0]; entry.Amount != first.Amount {
		t.Errorf("ledger: got %v, want %v", entry.Amount, first.Amount)
	}
}

func findsACharge(t *testing.T, c *customer) {
	made := c.pay(t, c.key, c.Cards.Good)
	found, err := c.provider.Find(t.Context(), c.key, c.request(c.Cards.Good))
	if err != nil || found != made {
		t.Errorf("got %+v, %v, want %+v", found, err, made)
	}
}

func findsNoCharge(t *testing.T, c *customer) {
	c.pay(t, c.key, c.Cards.Good)
	_, err := c.provider.Find(t.Context(), c.key+"-2", c.request(c.Cards.Good))
	if !errors.Is(err, domain.ErrNoCharge) {
		t.Errorf("unused key: got %v, want ErrNoCharge", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.provider.Find(ctx, c.key+"-2", c.request(c.Cards.Good))
	if err == nil || errors.Is(err, domain.ErrNoCharge) {
		t.Errorf("provider not asked: got %v, want another error than ErrNoCharge", err)
	}
}

func cancelledCallIsHonest(t *testing.T, c *customer) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.provider.Charge(ctx, c.key, c.request(c.Cards.Good))
	if err == nil {
		t.Fatal("got a charge from a cancelled call, want an error")
	}
	if errors.Is(err, domain.ErrNotCharged) {
		c.paid(t, 0)
	}
	c.pay(t, c.key, c.Cards.Good)
	c.paid(t, 1)
}

func declinedCardIsAnOutcome(t *testing.T, c *customer) {
	first := c.pay(t, c.key, c.Cards.Declined)
	if first.Status != domain.ChargeDeclined || first.ID == "" {
		t.Errorf("got %+v, want a declined charge with an id", first)
	}
	if again := c.pay(t, c.key, c.Cards.Declined); again != first {
		t.Errorf("repeat: got %+v, want %+v", again, first)
	}
	if found, err := c.provider.Find(t.Context(), c.key, c.request(c.Cards.Declined)); err != nil || found != first {
		t.Errorf("find: got %+v, %v, want %+v", found, err, first)
	}
	c.paid(t, 0)
}

func unsupportedCardIsNotCharged(t *testing.T, c *customer) {
	_, err := c.provider.Charge(t.Context(), c.key, c.request(c.Cards.Unsupported))
	if !errors.Is(err, domain.ErrNotCharged) {
		t.Errorf("got %v, want ErrNotCharged", err)
	}
	if refusal, ok := errors.AsType[*domain.Error](err); !ok || refusal.Kind != domain.Refused || refusal.Code != "payment_method_not_supported" {
		t.Errorf("got %v, want the refusal payment_method_not_supported", err)
	}
	if _, err := c.provider.Find(t.Context(), c.key, c.request(c.Cards.Unsupported)); !errors.Is(err, domain.ErrNoCharge) {
		t.Errorf("find: got %v, want ErrNoCharge", err)
	}
	c.paid(t, 0)
}

func downProviderLeavesTheKeyGood(t *testing.T, c *customer) {
	_, err := c.provider.Charge(t.Context(), c.key, c.request(c.Cards.DownAtFirst))
	if !errors.Is(err, domain.ErrNotCharged) {
		t.Errorf("got %v, want ErrNotCharged", err)
	}
	c.paid(t, 0)
	if _, err := c.provider.Find(t.Context(), c.key, c.request(c.Cards.DownAtFirst)); !errors.Is(err, domain.ErrNoCharge) {
		t.Errorf("find: got %v, want ErrNoCharge", err)
	}
	c.pay(t, c.key, c.Cards.DownAtFirst)
	c.paid(t, 1)
}

// lostAnswerIsNotARefusal allows the first call to fail, but not to be wrong about it.
func lostAnswerIsNotARefusal(t *testing.T, c *customer, card string) {
	first, err := c.provider.Charge(t.Context(), c.key, c.request(card))
	if errors.Is(err, domain.ErrNotCharged) {
		t.Errorf("got %v, but the card was charged", err)
	}
	c.paid(t, 1)
	found, findErr := c.provider.Find(t.Context(), c.key, c.request(card))
	if findErr != nil || found.Status != domain.ChargeSucceeded {
		t.Fatalf("find: got %+v, %v, want the charge", found, findErr)
	}
	if err == nil && first != found {
		t.Errorf("got %+v from the charge and %+v from find", first, found)
	}
	if again := c.pay(t, c.key, card); again != found {
		t.Errorf("repeat: got %+v, want %+v", again, found)
	}
	c.paid(t, 1)
}
