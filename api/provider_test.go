package api_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
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

// TestEveryCallThatMovesMoneyCarriesAKeyOfItsOwn covers T34: whatever is sent to the provider, by requests
// and by jobs, carries a key that a repeat would carry again, and that nothing else carries.
func TestEveryCallThatMovesMoneyCarriesAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		wire := newProviderWire(t)
		s := newShop(t, d, withProvider(wire.url), withRegistry(noMemory))
		s.work()
		for _, e := range examples {
			c := e.request(s)
			c.key = newKey()
			wantStatus(t, e.pattern, s.do(c), e.status)
		}
		s.until("all money has moved", func() bool {
			return s.count("SELECT count(*) FROM modifications WHERE status = 'pending'") == 0
		})
		owner := map[string]string{}
		for _, kind := range []string{"charges", "captures", "voids", "refunds"} {
			calls := wire.sent("/" + kind)
			if len(calls) == 0 {
				t.Errorf("no call to %s was seen", kind)
			}
			for _, c := range calls {
				what := c.path + " " + c.body
				if c.key == "" || owner[c.key] != "" && owner[c.key] != what {
					t.Errorf("%s has the key %q, which is that of %s", what, c.key, owner[c.key])
				}
				owner[c.key] = what
			}
		}
		if posts := len(wire.sent("")); posts != len(owner) {
			t.Errorf("%d POSTs under %d keys", posts, len(owner))
		}
	})
}

// providerWire stands before a provider and remembers the POSTs that come by.
type providerWire struct {
	url   string
	mu    sync.Mutex
	posts []posted
}

type posted struct{ path, key, body string }

func newProviderWire(t *testing.T) *providerWire {
	t.Helper()
	_, address := startProvider(t, simulated.ServerConfig{})
	target, err := url.Parse(address)
	must(t, err)
	w, forward := &providerWire{}, httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method != http.MethodGet {
			w.mu.Lock()
			w.posts = append(w.posts, posted{r.URL.Path, r.Header.Get("Idempotency-Key"), string(body)})
			w.mu.Unlock()
		}
		forward.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// sent gives the POSTs whose path ends so.
func (w *providerWire) sent(end string) (found []posted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.posts {
		if strings.HasSuffix(p.path, end) {
			found = append(found, p)
		}
	}
	return found
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
