package api_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/store/storetest"
)

// TestAProviderThatFailsIsLeftAlone: after five failures no key is spent on it and no payment is made,
// until it answers again.
func TestAProviderThatFailsIsLeftAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		_, address := startProvider(t, simulated.ServerConfig{})
		target, err := url.Parse(address)
		must(t, err)
		var down atomic.Bool
		var asked atomic.Int64
		forward := httputil.NewSingleHostReverseProxy(target)
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			if down.Load() {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			forward.ServeHTTP(w, r)
		}))
		t.Cleanup(front.Close)
		s := newShop(t, d, withProvider(front.URL))
		paid, _ := s.newPayment("automatic")
		var stopped []call
		down.Store(true)
		for range 5 {
			id, _ := s.newOrder()
			stopped = append(stopped, call{path: "/v1/payments", key: newKey(), body: payBody(id, simulated.TokenOK)})
			refusal(t, "while it fails", s.do(stopped[len(stopped)-1]), 503, "outcome_unknown")
		}
		if got := s.metric("provider_breaker_state", ""); got != 2 {
			t.Errorf("state %v after five failures", got)
		}

		id, number := s.newOrder()
		keys, calls := s.keys(), asked.Load()
		request := call{path: "/v1/payments", key: newKey(), body: payBody(id, simulated.TokenOK)}
		refused := s.do(request)
		if p := refusal(t, "while it is left alone", refused, 503, "provider_unavailable"); refused.Header.Get("Retry-After") != "5" || !p.Retryable {
			t.Errorf("%v %+v", refused.Header, p)
		}
		if s.keys() != keys || s.count("SELECT count(*) FROM payments WHERE order_id = ?", id) != 0 || asked.Load() != calls {
			t.Errorf("%d keys, then %d; the provider was asked %d times", keys, s.keys(), asked.Load()-calls)
		}
		request.body = payBody(id, simulated.TokenDeclined) // the key is free: it may carry another request
		refusal(t, "another request", s.do(request), 503, "provider_unavailable")
		request.body = payBody(id, simulated.TokenOK)
		wantStatus(t, "what needs no provider", s.change(paid, "refunds", `{"amount":100}`), 202)

		down.Store(false)
		s.until("the provider is asked again", func() bool { return s.do(request).Status == 201 })
		s.paidOnce(id, number)
		if got := s.metric("provider_breaker_state", ""); got != 0 {
			t.Errorf("state %v after an answer", got)
		}
		for _, c := range stopped {
			wantStatus(t, "stopped before", s.untilFinal(c), 201)
		}
	})
}
