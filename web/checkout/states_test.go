package checkout

import (
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

var pages = map[string]func(row) way{
	"details": func(r row) way { return r.details }, "save": func(r row) way { return r.save },
	"review": func(r row) way { return r.review }, "pay": func(r row) way { return r.pay },
	"status": func(r row) way { return r.status }, "choose": func(r row) way { return r.choose },
}

func TestEveryPageKnowsWhatToDoInEveryState(t *testing.T) {
	t.Parallel()
	if len(table) != len(States) {
		t.Errorf("the table has %d states, want %d", len(table), len(States))
	}
	for _, state := range States {
		for name, page := range pages {
			if page(table[state]) == unset {
				t.Errorf("%s in state %s is not decided", name, state)
			}
		}
	}
}

func TestNoStateSendsTheBrowserInCircles(t *testing.T) {
	t.Parallel()
	next := map[way]string{toDetails: "details", toReview: "review", toStatus: "status"}
	for _, state := range States {
		for name, page := range pages {
			seen := page(table[state])
			for hops := 0; next[seen] != ""; hops++ {
				if hops > 2 {
					t.Fatalf("%s in state %s never arrives", name, state)
				}
				seen = pages[next[seen]](table[state])
			}
		}
	}
}

// TestOnlyAnUnorderedCheckoutCanBeChanged holds the rule that an order's contents are fixed.
func TestOnlyAnUnorderedCheckoutCanBeChanged(t *testing.T) {
	t.Parallel()
	for _, state := range States {
		if changes := table[state].save == here; changes != (state == Open || state == Ready) {
			t.Errorf("state %s: details can be saved: %v", state, changes)
		}
		if renews := table[state].choose == here; renews != (state == Ended || state == AtBank || state == Switching) {
			t.Errorf("state %s: another payment can be begun: %v", state, renews)
		}
	}
}

func TestStateIsReadFromWhatHappened(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	full := domain.Draft{
		OrderKey: site.NewKey(now), Email: "sanne@example.nl", Name: "Sanne", Language: "nl",
		Address: domain.Address{Line1: "Damrak 1", PostalCode: "1012 AB", City: "Amsterdam", Country: "NL"},
		Items:   []domain.Item{{SKU: "mug", Quantity: 1}}, Method: domain.PaymentMethod{Type: "card", Token: "tok_ok"},
	}
	aged := func(d time.Duration) domain.Draft { old := full; old.OrderKey = site.NewKey(now.Add(-d)); return old }
	odd := full
	odd.Method.Token = "tok_declined"
	ideal := full
	ideal.Method = domain.PaymentMethod{Type: "ideal"}
	ordered := func(s domain.OrderStatus, payments ...domain.PaymentStatus) visit {
		v := visit{Draft: aged(100 * time.Hour), Placed: true, Order: domain.Order{Status: s}}
		for _, status := range payments {
			v.Payments = append(v.Payments, domain.Payment{Status: status})
		}
		return v
	}
	for _, tt := range []struct {
		name string
		v    visit
		want State
	}{
		{"nothing filled in", visit{Draft: domain.Draft{OrderKey: site.NewKey(now)}}, Open},
		{"filled in", visit{Draft: full}, Ready},
		{"a card that this shop does not offer", visit{Draft: odd}, Open},
		{"by a bank transfer", visit{Draft: ideal}, Ready},
		{"71 hours old", visit{Draft: aged(71 * time.Hour)}, Ready},
		{"73 hours old", visit{Draft: aged(73 * time.Hour)}, Expired},
		{"ordered in time, looked at late", ordered(domain.OrderAwaitingPayment), Placed},
		{"processing", ordered(domain.OrderAwaitingPayment, domain.PaymentProcessing), Paying},
		{"unknown", ordered(domain.OrderAwaitingPayment, domain.PaymentUnknown), Paying},
		{"a status from the future", ordered(domain.OrderAwaitingPayment, "frozen"), Paying},
		{"declined", ordered(domain.OrderAwaitingPayment, domain.PaymentDeclined), Ended},
		{"failed", ordered(domain.OrderAwaitingPayment, domain.PaymentFailed), Ended},
		{"unknown after a decline", ordered(domain.OrderAwaitingPayment, domain.PaymentDeclined, domain.PaymentUnknown), Paying},
		{"declined after an unknown", ordered(domain.OrderAwaitingPayment, domain.PaymentUnknown, domain.PaymentDeclined), Paying},
		{"at the bank", ordered(domain.OrderAwaitingPayment, domain.PaymentPending), AtBank},
		{"at the bank after a decline", ordered(domain.OrderAwaitingPayment, domain.PaymentDeclined, domain.PaymentPending), AtBank},
		{"at the bank, chosen otherwise", chosenAgain(ordered(domain.OrderAwaitingPayment, domain.PaymentPending)), Switching},
		{"declined while another waits at the bank", ordered(domain.OrderAwaitingPayment, domain.PaymentPending, domain.PaymentDeclined), Ended},
		{"unknown while another waits at the bank", ordered(domain.OrderAwaitingPayment, domain.PaymentPending, domain.PaymentUnknown), Paying},
		{"reserved", ordered(domain.OrderAwaitingPayment, domain.PaymentAuthorized), Paying},
		{"voided", ordered(domain.OrderAwaitingPayment, domain.PaymentVoided), Ended},
		{"paid twice", ordered(domain.OrderPaid, domain.PaymentDuplicate, domain.PaymentPaid), Paid},
		{"paid and refunded", ordered(domain.OrderPaid, domain.PaymentRefunded), Paid},
		{"paid, order not told yet", ordered(domain.OrderAwaitingPayment, domain.PaymentPaid), Paid},
		{"paid", ordered(domain.OrderPaid, domain.PaymentDeclined, domain.PaymentPaid), Paid},
		{"cancelled", ordered(domain.OrderCancelled, domain.PaymentDeclined), Cancelled},
	} {
		if got := stateOf(tt.v, false, now, 72*time.Hour); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// chosenAgain gives the checkout a payment key that is younger than its payments.
func chosenAgain(v visit) visit {
	v.PaymentKey = site.NewKey(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	return v
}

// certainly lists every status, and whether it is certain that it moved no money.
var certainly = map[domain.PaymentStatus]bool{
	domain.PaymentProcessing: false, domain.PaymentUnknown: false, domain.PaymentPending: false, domain.PaymentAuthorized: false,
	domain.PaymentPaid: false, domain.PaymentDuplicate: false, domain.PaymentRefunded: false, "frozen": false,
	domain.PaymentDeclined: true, domain.PaymentFailed: true, domain.PaymentVoided: true,
}

func TestNothingChargedNeedsCertainty(t *testing.T) {
	t.Parallel()
	for status, want := range certainly {
		if got := nothingCharged([]domain.Payment{{Status: domain.PaymentDeclined}, {Status: status}}); got != want {
			t.Errorf("after %s: %v, want %v", status, got, want)
		}
	}
}

// TestNoSentenceClaimsMoreThanIsCertain reads what is said in every state after two payments of any
// status, and to whom comes back from the bank with one (S24).
func TestNoSentenceClaimsMoreThanIsCertain(t *testing.T) {
	t.Parallel()
	claims := func(texts ...ui.Text) bool {
		for _, text := range texts {
			if strings.Contains(text.En, "othing was charged") || strings.Contains(text.Nl, "niets afgeschreven") {
				return true
			}
		}
		return false
	}
	for first, one := range certainly {
		if view := stands(first); claims(view.title, view.text) != one {
			t.Errorf("back from the bank, %s: %q", first, view.text.En)
		}
		for second, other := range certainly {
			for _, charge := range []string{"", "ch"} {
				said := ended(visit{Payments: []domain.Payment{{Status: first}, {Status: second, ChargeID: charge}}})
				if certain := one && other; claims(said.title, said.text) != certain {
					t.Errorf("after %s and %s: %q", first, second, said.text.En)
				}
			}
		}
	}
}
