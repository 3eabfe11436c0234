package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
)

// hook is a consumer's receiver of our events.
type hook struct {
	t      *testing.T
	url    string
	mu     sync.Mutex
	got    []received
	answer func(n int, w http.ResponseWriter, r *http.Request) // to the nth; 200 when nil
}

type received struct {
	header http.Header
	body   string
}

func newHook(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *hook {
	t.Helper()
	h := &hook{t: t, answer: answer}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		h.got = append(h.got, received{r.Header.Clone(), string(body)})
		n, answer := len(h.got), h.answer
		h.mu.Unlock()
		if answer != nil {
			answer(n, w, r)
		}
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	h.url = server.URL
	return h
}

func says(status int) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

func (h *hook) becomes(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = says(status)
}

func (h *hook) all() []received {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]received{}, h.got...)
}

func (r received) id() string { return r.header.Get("webhook-id") }

// verify checks the signature as a receiver would.
func (r received) verify(secret string) error {
	wh, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return wh.Verify([]byte(r.body), r.header)
}

// sameEvent checks that everything received is one event, byte for byte and under one id.
func (h *hook) sameEvent() {
	h.t.Helper()
	got := h.all()
	for i, r := range got {
		if r.id() == "" || r.id() != got[0].id() || r.body != got[0].body {
			h.t.Errorf("delivery %d differs: %s %s, first %s %s", i, r.id(), r.body, got[0].id(), got[0].body)
		}
	}
}

// untilWorkIsDone waits until no job is left to do.
func (s *shop) untilWorkIsDone() {
	s.t.Helper()
	s.until("no job is left", func() bool {
		return s.count("SELECT count(*) FROM river_job WHERE kind IN ('publish_event', 'deliver_event') AND state NOT IN ('completed', 'cancelled', 'discarded')") == 0
	})
}

func (s *shop) untilDelivery(state string, n int) {
	s.t.Helper()
	s.until("a delivery is "+state, func() bool { return s.count("SELECT count(*) FROM deliveries WHERE state = ?", state) == n })
}

func endpointBody(path string, events ...string) string {
	return endpointAt("http://localhost/"+path, events...)
}

func endpointAt(url string, events ...string) string {
	text, _ := json.Marshal(api.RegisterWebhookEndpoint{URL: url, Events: events}) // texts alone
	return string(text)
}

func (s *shop) newEndpoint(url string, events ...string) (id string) {
	s.t.Helper()
	a := s.do(call{path: "/v1/webhook-endpoints", key: newKey(), body: endpointAt(url, events...)})
	wantStatus(s.t, "register "+url, a, 201)
	return a.field(s.t, "id")
}

func (s *shop) secretOf(endpoint string) string {
	s.t.Helper()
	return s.do(call{method: "GET", path: "/v1/webhook-endpoints/" + endpoint}).field(s.t, "secret")
}

// deliveriesTo reads an endpoint's list of deliveries.
func (s *shop) deliveriesTo(endpoint, query string) (page api.DeliveryPage) {
	s.t.Helper()
	a := s.do(call{method: "GET", path: "/v1/webhook-endpoints/" + endpoint + "/deliveries" + query})
	wantStatus(s.t, "deliveries", a, 200)
	must(s.t, json.Unmarshal([]byte(a.Body), &page))
	return page
}

func (s *shop) redeliver(endpoint, delivery string) answer {
	s.t.Helper()
	return s.do(call{path: "/v1/webhook-endpoints/" + endpoint + "/deliveries/" + delivery + "/redeliveries", key: newKey()})
}

// deadDelivery makes a delivery to one of alpha's endpoints that was given up.
func (s *shop) deadDelivery(endpoint string) (id string) {
	s.t.Helper()
	event := domain.Event{ID: newKey(), Consumer: 1, Type: "order.paid", About: newKey(), Data: "{}", OccurredAt: s.db.Now()}
	d := domain.Delivery{ID: newKey(), EventID: event.ID, EndpointID: endpoint, State: domain.DeliveryDead, RetryUntil: s.db.Now(), CreatedAt: s.db.Now()}
	tx := s.db.Begin()
	tx.InsertEvent(event)
	tx.InsertDelivery(d)
	must(s.t, tx.Commit(s.t.Context()))
	return d.ID
}

// webhookRoutes are the routes under an endpoint's id, for the test that hides what is not the caller's.
func (s *shop) webhookRoutes() (rows map[string]idRow, delivery string) {
	s.t.Helper()
	endpoint, doomed := s.newEndpoint("http://localhost/1"), s.newEndpoint("http://localhost/2")
	return map[string]idRow{
		"GET /v1/webhook-endpoints/:id":                                    {endpoint, "", 200},
		"DELETE /v1/webhook-endpoints/:id":                                 {doomed, "", 200},
		"GET /v1/webhook-endpoints/:id/deliveries":                         {endpoint, "", 200},
		"POST /v1/webhook-endpoints/:id/deliveries/:delivery/redeliveries": {endpoint, "", 202},
	}, s.deadDelivery(endpoint)
}
