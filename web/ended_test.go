package web_test

import (
	"strings"
	"testing"

	"example.com/eenmaal/domain"
)

// TestAnOrderThatEndedUnpaidTellsTheTruth: also to a checkout that is still open somewhere, which cannot
// pay any more.
func TestAnOrderThatEndedUnpaidTellsTheTruth(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_declined")
	b.pay()
	b.want(200, "/checkout/"+attempt, "declined")
	b.orders[0] = b.orders[0].Cancelled(domain.CancelExpired)
	for prefix, sentences := range map[string][]string{
		"":    {"This order has expired", "It was not paid in time. Nothing was charged, and you can order its articles anew."},
		"/nl": {"Deze bestelling is verlopen", "Er is niet op tijd betaald. Er is niets afgeschreven, en je kunt de artikelen opnieuw bestellen."},
	} {
		b.get(prefix + "/orders/EM-7K4Q-1M?t=token1")
		b.want(200, prefix+"/orders/EM-7K4Q-1M", "order-cancelled")
		for _, sentence := range sentences {
			if !strings.Contains(b.last.body, sentence) {
				t.Errorf("the page does not say %q", sentence)
			}
		}
	}
	b.get("/checkout/" + attempt + "/review")
	b.want(200, "/orders/EM-7K4Q-1M", "order-cancelled")
	b.bankSays(1, domain.PaymentPaid) // after all
	b.get("/orders/EM-7K4Q-1M?t=token1")
	b.want(200, "/orders/EM-7K4Q-1M", "order-cancelled", "refunds")
	if strings.Contains(b.last.body, "Nothing was charged") {
		t.Error("the page says that nothing was charged")
	}
	b.wantEffects(1, 0, 0)
}
