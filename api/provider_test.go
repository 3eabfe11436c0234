package api_test

import (
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// TestEveryMoodOfTheProviderEndsInOneCharge covers T35 and T57: charged without an answer, charged
// and then a 500, not charged for once, and slower than the shop's patience.
func TestEveryMoodOfTheProviderEndsInOneCharge(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d, withRegistry(noMemory), withAttempt(400*time.Millisecond))
		for _, token := range []string{simulated.TokenOK, simulated.TokenChargedThenTimeout, simulated.TokenChargedThen500,
			simulated.TokenUnavailable, simulated.TokenSlow} {
			id, number := s.newOrder()
			request := call{path: "/v1/payments", key: newKey(), body: payBody(id, token)}
			answers := together(t, 8, func(int) (answer, error) { return s.try(t.Context(), request) })
			final := s.untilFinal(request)
			wantStatus(t, token, final, 201)
			for _, a := range answers {
				if a.Status == 201 {
					sameAnswer(t, token, final, a)
				}
			}
			wantReplay(t, token, final, s.do(request))
			s.paidOnce(id, number)
		}
	})
}

func TestAnUnavailableProviderLeavesTheKeyUsable(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		id, number := s.newOrder()
		key := newKey()
		refusal(t, "first try", s.pay(key, id, simulated.TokenUnavailable), 503, "provider_unavailable")
		refusal(t, "another card under its key", s.pay(key, id, simulated.TokenOK), 409, "idempotency_key_reused")
		wantStatus(t, "second try", s.pay(key, id, simulated.TokenUnavailable), 201)
		s.paidOnce(id, number)
	})
}

func TestAnUnknownOutcomeIsToldAsSuchAndFoundOutByTheRetry(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d, withProvider(newSlowProvider(t, 2*time.Second)), withAttempt(300*time.Millisecond))
		id, number := s.newOrder()
		key := newKey()
		p := refusal(t, "first try", s.pay(key, id, simulated.TokenSlow), 503, "outcome_unknown")
		if p.SafeNewKey {
			t.Error("a new key is called safe while money may have moved")
		}
		if got := s.count("SELECT count(*) FROM payments WHERE status = 'unknown'"); got != 1 {
			t.Errorf("payments in doubt: got %d, want 1", got)
		}
		// A second payment of this order would be a second charge.
		refusal(t, "another key", s.pay(newKey(), id, simulated.TokenOK), 409, "another_payment_in_progress")
		wantStatus(t, "retry", s.untilFinal(call{path: "/v1/payments", key: key, body: payBody(id, simulated.TokenSlow)}), 201)
		s.paidOnce(id, number)
	})
}

// TestADeclinedCardIsFinalForItsKeyAndNotForItsOrder covers T12 and T23.
func TestADeclinedCardIsFinalForItsKeyAndNotForItsOrder(t *testing.T) {
	t.Parallel()
	eachSource(t, func(t *testing.T, s source) {
		id, number := s.newOrder()
		declined := call{path: "/v1/payments", key: newKey(), body: payBody(id, simulated.TokenDeclined)}
		first := s.do(declined)
		wantStatus(t, "declined card", first, 402)
		if first.field(t, "code") != "card_declined" || first.Header.Get("Retry-After") != "" {
			t.Errorf("declined: %v %s", first.Header, first.Body)
		}
		s.only(declined, "POST /v1/payments")
		wantReplay(t, "declined card again", first, s.again(declined))

		other := call{path: "/v1/payments", key: newKey(), body: payBody(id, simulated.TokenOK)}
		wantStatus(t, "other card", s.do(other), 201)
		wantReplay(t, "declined card after all", first, s.again(declined))
		if got := s.charges(number); len(got) != 2 {
			t.Errorf("ledger: %v, want the declined and the good charge", got)
		}
		if got := s.count("SELECT count(*) FROM payments"); got != 2 {
			t.Errorf("payments: got %d, want 2", got)
		}
		if got := s.count("SELECT count(*) FROM mails"); got != 1 {
			t.Errorf("mails: got %d, want 1", got)
		}
	})
}

func TestAnUnsupportedCardIsAFinalRefusalWithoutACharge(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		id, number := s.newOrder()
		key := newKey()
		first := s.pay(key, id, "tok_from_elsewhere")
		wantStatus(t, "unsupported", first, 422)
		if first.field(t, "code") != "payment_method_not_supported" || first.Header.Get("Retry-After") != "" {
			t.Errorf("unsupported: %v %s", first.Header, first.Body)
		}
		wantReplay(t, "again", first, s.pay(key, id, "tok_from_elsewhere"))
		wantStatus(t, "other card", s.untilFinal(call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")}), 201)
		if got := s.charges(number); len(got) != 1 {
			t.Errorf("ledger: %v", got)
		}
	})
}

// TestTwoPaymentsOfOneOrderAtOnceChargeOnce covers T37 and S15.
func TestTwoPaymentsOfOneOrderAtOnceChargeOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newShop(t, d)
		processes := []*shop{a, newShop(t, d, withProvider(a.provider))}
		for range 5 {
			id, number := a.newOrder()
			keys := []string{newKey(), newKey(), newKey(), newKey()}
			answers := together(t, len(keys), func(i int) (answer, error) {
				return processes[i%2].try(t.Context(), call{path: "/v1/payments", key: keys[i], body: payBody(id, "tok_ok")})
			})
			paid := 0
			for i, got := range answers {
				switch {
				case got.Status == 201:
					paid++
				case got.Status == 409 && got.Header.Get("Retry-After") != "":
					late := a.untilFinal(call{path: "/v1/payments", key: keys[i], body: payBody(id, "tok_ok")})
					refusal(t, "the other payment", late, 422, "order_not_payable")
				default:
					refusal(t, "the other payment", got, 422, "order_not_payable")
				}
			}
			if paid != 1 {
				t.Errorf("%d of the payments succeeded, want 1", paid)
			}
			a.paidOnce(id, number)
		}
	})
}

// TestAnotherConsumersOrderIsNowhere covers S1.
func TestAnotherConsumersOrderIsNowhere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		id, number := s.newOrder()
		beta := call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok"), consumer: "demo-beta"}
		theirs := s.do(beta)
		refusal(t, "payment of another's order", theirs, 404, "order_not_found")
		beta.body = payBody(newKey(), "tok_ok")
		absent := s.do(beta)
		if absent.Status != theirs.Status || absent.Body != theirs.Body {
			t.Errorf("another's order and none at all differ: %s, %s", theirs.Body, absent.Body)
		}
		payment := s.pay(newKey(), id, "tok_ok")
		wantStatus(t, "own payment", payment, 201)
		for _, path := range []string{"/v1/orders/" + id, payment.Header.Get("Location")} {
			wantStatus(t, "own "+path, s.do(call{method: "GET", path: path}), 200)
			hidden := s.do(call{method: "GET", path: path, consumer: "demo-beta"})
			none := s.do(call{method: "GET", path: path[:strings.LastIndex(path, "/")+1] + newKey(), consumer: "demo-beta"})
			if hidden.Status != 404 || hidden.Body != none.Body {
				t.Errorf("GET %s by another: %d %s, and of none: %s", path, hidden.Status, hidden.Body, none.Body)
			}
		}
		s.paidOnce(id, number)
		if got := s.count("SELECT count(*) FROM payments WHERE status <> ?", string(domain.PaymentPaid)); got != 0 {
			t.Errorf("payments by others: %d", got)
		}
	})
}
