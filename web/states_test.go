package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/checkout"
)

// standing is a checkout that was brought into a state, and what each of its addresses then shows.
type standing struct {
	bring                                  func(*bundle) (attempt string)
	details, review, status, pay, payments string // the state that the page shows where a GET ends
	changed                                string // where a details form with another city ends
	nothing                                bool   // some page says that nothing was charged
}

var standings = map[checkout.State]standing{
	checkout.Open: {
		bring:   func(b *bundle) string { return b.begin("") },
		details: "details-open", review: "details-open", status: "details-open", pay: "details-open", payments: "details-open",
		changed: "review-ready",
	},
	checkout.Ready: {
		bring:   func(b *bundle) string { return b.review("", "tok_ok") },
		details: "details-ready", review: "review-ready", status: "status-ready", pay: "review-ready", payments: "details-ready",
		changed: "review-ready",
	},
	checkout.Expired: {
		bring: func(b *bundle) string {
			defer func() { b.now = b.now.Add(73 * time.Hour) }()
			return b.review("", "tok_ok")
		},
		details: "expired", review: "expired", status: "expired", pay: "expired", payments: "expired", changed: "expired",
	},
	checkout.Placed: {
		bring: func(b *bundle) string {
			b.payFails = domain.Errorf(domain.Unavailable, "x", "Trouble.")
			return b.ordered("tok_ok")
		},
		details: "review-placed", review: "review-placed", status: "status-placed", pay: "review-placed", payments: "review-placed",
		changed: "used",
	},
	checkout.Paying: {
		bring:   func(b *bundle) string { return b.ordered("tok_charged_then_timeout") },
		details: "status-paying", review: "status-paying", status: "status-paying", pay: "status-paying", payments: "status-paying",
		changed: "used",
	},
	checkout.AtBank: {
		bring:   func(b *bundle) string { return b.ordered("tok_3ds") },
		details: "details-at-bank", review: "status-at-bank", status: "status-at-bank", pay: "status-at-bank", payments: "details-at-bank",
		changed: "used",
	},
	checkout.Switching: {
		bring: func(b *bundle) string {
			attempt := b.ordered("tok_3ds")
			b.now = b.now.Add(time.Minute)
			b.post("/checkout/"+attempt+"/payments", url.Values{"payment_key": {b.drafts[attempt].PaymentKey}, "method": {"tok_ok"}})
			return attempt
		},
		details: "details-switching", review: "review-switching", status: "status-switching", pay: "review-switching", payments: "details-switching",
		changed: "used",
	},
	checkout.Ended: {
		bring:   func(b *bundle) string { return b.ordered("tok_declined") },
		details: "details-ended", review: "review-ended", status: "details-ended", pay: "review-ended", payments: "details-ended",
		changed: "used", nothing: true,
	},
	checkout.Paid: {
		bring:   func(b *bundle) string { return b.ordered("tok_ok") },
		details: "already-paid", review: "already-paid", status: "order-paid", pay: "already-paid", payments: "already-paid",
		changed: "used",
	},
	checkout.Cancelled: {
		bring: func(b *bundle) string {
			attempt := b.ordered("tok_declined")
			b.orders[0].Status = domain.OrderCancelled
			return attempt
		},
		details: "order-cancelled", review: "order-cancelled", status: "order-cancelled", pay: "order-cancelled", payments: "order-cancelled",
		changed: "used",
	},
}

// ordered presses the paying button of a new checkout.
func (b *bundle) ordered(method string) (attempt string) {
	b.t.Helper()
	attempt = b.review("", method)
	b.pay()
	return attempt
}

var mainState = regexp.MustCompile(`<main[^>]* data-state="([^"]*)"`)

func (a answer) state() string {
	found := mainState.FindStringSubmatch(a.body)
	if found == nil {
		return ""
	}
	return found[1]
}

// TestEveryAddressInEveryState opens every page of a checkout in every state, and sends a changed form
// to it. Looking changes nothing, and no page says of the money what is not certain.
func TestEveryAddressInEveryState(t *testing.T) {
	t.Parallel()
	for _, state := range checkout.States {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			want, ok := standings[state]
			if !ok {
				t.Fatal("no test brings a checkout into this state")
			}
			b := setup(t)
			attempt := want.bring(b)
			orders, payments, draft := len(b.orders), len(b.payments), b.drafts[attempt]
			said := ""
			for page, shown := range map[string]string{
				"": want.details, "/review": want.review, "/status": want.status, "/pay": want.pay, "/payments": want.payments,
			} {
				got := b.get("/checkout/" + attempt + page)
				if got.state() != shown || got.status >= 500 {
					t.Errorf("%q shows %q with %d, want %q", page, got.state(), got.status, shown)
				}
				said += got.body
			}
			if len(b.orders) != orders || len(b.payments) != payments || b.drafts[attempt].PaymentKey != draft.PaymentKey {
				t.Error("looking at the pages changed something")
			}
			if claims := strings.Contains(strings.ToLower(said), "nothing was charged"); claims != want.nothing {
				t.Errorf("a page says that nothing was charged: %v, want %v", claims, want.nothing)
			}
			other := details("tok_ok")
			other.Set("city", "Utrecht")
			if got := b.post("/checkout/"+attempt, other); got.state() != want.changed {
				t.Errorf("a changed details form ends at %q (%s), want %q", got.state(), got.path, want.changed)
			}
			if state != checkout.Open && state != checkout.Ready && b.drafts[attempt].Address.City == "Utrecht" {
				t.Error("what was ordered, or expired, was changed")
			}
		})
	}
}
