package chaos

import (
	"encoding/json"
	"slices"
	"testing"
)

// always are the rules that hold also while everything is on its way.
var always = []string{"two orders for one key", "two payments for one key", "stock that does not add up", "an event that is twice in the inbox",
	"a payment that was paid and then something less", "something that happened twice"}

// early looks at what holds at every moment before everything has come to rest, in a run that may end with
// it.
func (w *world) early(t *testing.T) {
	t.Helper()
	if *catchFlag == "" {
		return
	}
	w.checkAlways()
	if err := w.checkAsked(); err != nil {
		t.Fatal(err)
	}
}

// checkAlways looks at what holds at every moment. It lets a run that looks for one thing end early; other
// runs look once, in the end.
func (w *world) checkAlways() {
	for _, rule := range rules {
		if !slices.Contains(always, rule.what) {
			continue
		}
		if broken, err := w.texts(rule.query); err == nil && len(broken) > 0 { // Postgres may be down
			w.violation(rule.invariant, "%s: %s (%d in all)", rule.what, broken[0], len(broken))
		}
	}
	_ = w.checkOwners() // the same
}

// checkAsked looks whether the provider was asked under a key that was not kept before (I7).
func (w *world) checkAsked() error {
	charges, err := w.ledger()
	if err != nil {
		return err
	}
	kept, err := w.texts(`SELECT provider_key FROM payments`)
	for _, c := range charges {
		if err == nil && !slices.Contains(kept, c.Key) {
			w.violation("I7", "the provider has a charge for order %s under the key %s, which no payment has", c.Reference, c.Key)
		}
	}
	return err
}

// checkOwners looks whether anybody was told of somebody else's order (I6).
func (w *world) checkOwners() error {
	owners, err := w.pairs(`SELECT o.id || chr(31) || c.name FROM orders o JOIN consumers c ON c.id = o.consumer_id`)
	if err != nil {
		return err
	}
	for _, a := range w.history.finals() {
		var told struct{ ID string }
		if json.Unmarshal(a.body, &told) != nil || a.Endpoint != "POST /v1/orders" {
			continue // what cannot be read breaks I3
		}
		if owner := owners[told.ID]; owner != "" && owner != a.Consumer {
			w.violation("I6", "%s was answered with %s, an order of %s's", a.scope(), a.body, owner)
		}
	}
	return nil
}
