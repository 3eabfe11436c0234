package psptest

import (
	"errors"
	"testing"

	"example.com/eenmaal/domain"
)

// reserve makes a charge that is to be captured later.
func (c *customer) reserve(t *testing.T) domain.Charge {
	t.Helper()
	c.manual = true
	charge := c.pay(t, c.key, c.Cards.Good)
	if charge.Status != domain.ChargeAuthorized || charge.Captured != domain.EUR(0) {
		t.Fatalf("got %+v, want an authorized charge that captured nothing", charge)
	}
	return charge
}

func capturesInParts(t *testing.T, c *customer) {
	charge := c.reserve(t)
	c.refused(t, c.key+"-0", domain.Refund, charge, 1)
	first := c.modify(t, c.key+"-1", domain.Capture, charge, 4000).Charge
	if first.Status != domain.ChargeSucceeded || first.Captured != domain.EUR(4000) || first.Version <= charge.Version {
		t.Errorf("got %+v, want 4000 captured and a higher version than %d", first, charge.Version)
	}
	c.refused(t, c.key+"-2", domain.Capture, charge, 196)
	c.modify(t, c.key+"-3", domain.Capture, charge, 195)
	c.books(t, domain.ChargeSucceeded, 4195, 0)
}

func alreadyCaptured(t *testing.T, c *customer) {
	charge := c.reserve(t)
	made := c.modify(t, c.key+"-1", domain.Capture, charge, 4195)
	c.refused(t, c.key+"-2", domain.Capture, charge, 4195)
	ask := change(domain.Capture, charge, 4195)
	if found, err := c.provider.FindModification(t.Context(), c.key+"-1", ask); err != nil || found.ID != made.ID {
		t.Errorf("got %+v, %v, want the capture %+v", found, err, made)
	}
	if _, err := c.provider.FindModification(t.Context(), c.key+"-2", ask); !errors.Is(err, domain.ErrNoCharge) {
		t.Errorf("refused key: got %v, want ErrNoCharge", err)
	}
	c.books(t, domain.ChargeSucceeded, 4195, 0)
}

func voids(t *testing.T, c *customer) {
	charge := c.reserve(t)
	first := c.modify(t, c.key+"-1", domain.Void, charge, 0)
	if first.Charge.Status != domain.ChargeVoided || first.Charge.Version <= charge.Version {
		t.Errorf("got %+v, want a voided charge with a higher version than %d", first, charge.Version)
	}
	if again := c.modify(t, c.key+"-1", domain.Void, charge, 0); again.ID != first.ID {
		t.Errorf("repeat: got %+v, want %+v", again, first)
	}
	c.refused(t, c.key+"-2", domain.Void, charge, 0)
	c.refused(t, c.key+"-3", domain.Capture, charge, 1)
	c.books(t, domain.ChargeVoided, 0, 0)
}

func voidsTheRest(t *testing.T, c *customer) {
	charge := c.reserve(t)
	c.modify(t, c.key+"-1", domain.Capture, charge, 1000)
	c.modify(t, c.key+"-2", domain.Void, charge, 0)
	c.refused(t, c.key+"-3", domain.Capture, charge, 1)
	c.modify(t, c.key+"-4", domain.Refund, charge, 1000)
	c.books(t, domain.ChargeSucceeded, 1000, 1000)
}

func approves(t *testing.T, c *customer) {
	pending := c.pay(t, c.key, c.Cards.Redirect)
	if pending.Status != domain.ChargePending || pending.RedirectURL == "" {
		t.Fatalf("got %+v, want a pending charge with a page", pending)
	}
	c.refused(t, c.key+"-0", domain.Refund, pending, 1)
	c.books(t, domain.ChargePending, 0, 0)
	c.Approve(t, pending)
	now, err := c.provider.Find(t.Context(), c.key, c.request(c.Cards.Redirect))
	if err != nil || now.Status != domain.ChargeSucceeded || now.Version <= pending.Version {
		t.Errorf("got %+v, %v, want it paid with a higher version than %d", now, err, pending.Version)
	}
	c.books(t, domain.ChargeSucceeded, 4195, 0)
}
