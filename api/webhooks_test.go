package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/jobs"
	"example.com/eenmaal/store/storetest"
)

func TestAnEndpointReceivesItsConsumersEventsSigned(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		all, some, others := newHook(t, nil), newHook(t, nil), newHook(t, nil)
		endpoint := s.newEndpoint(all.url)
		s.newEndpoint(some.url, "order.paid", "order.cancelled")
		wantStatus(t, "beta's", s.do(call{path: "/v1/webhook-endpoints", key: newKey(), body: endpointAt(others.url), consumer: "demo-beta"}), 201)
		order, _ := s.newOrder()
		wantStatus(t, "pay", s.pay(newKey(), order, "tok_ok"), 201)
		s.untilDelivery("delivered", 3)
		s.untilWorkIsDone()
		if got := len(others.all()); got != 0 {
			t.Errorf("another consumer received %d events", got)
		}
		if got := some.all(); len(got) != 1 || !strings.Contains(got[0].body, `"order.paid"`) {
			t.Errorf("the one that asked for orders received %v", got)
		}
		got := all.all()
		if len(got) != 2 {
			t.Fatalf("received %d events", len(got))
		}
		secret, other := s.secretOf(endpoint), "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		sequence := map[string]int64{}
		for _, r := range got {
			if err := r.verify(secret); err != nil {
				t.Error(err)
			}
			if err := r.verify(other); err == nil {
				t.Error("any secret verifies")
			}
			var event struct {
				ID, Type   string
				Sequence   int64
				OccurredAt time.Time `json:"occurred_at"`
				Data       struct {
					ID, Status string
					OrderID    string `json:"order_id"`
				}
			}
			must(t, json.Unmarshal([]byte(r.body), &event))
			if event.ID != r.id() || event.OccurredAt.IsZero() || event.Data.Status != "paid" || r.header.Get("Content-Type") != "application/json" {
				t.Errorf("%v %s", r.header, r.body)
			}
			if event.Type == "order.paid" && event.Data.ID != order || event.Type == "payment.paid" && event.Data.OrderID != order {
				t.Errorf("about another order: %s", r.body)
			}
			sequence[event.Type] = event.Sequence
		}
		if sequence["payment.paid"] == 0 || sequence["order.paid"] <= sequence["payment.paid"] {
			t.Errorf("sequences: %v", sequence)
		}
		if delivered, lag := s.metric("webhook_deliveries_total", "delivered"), s.metric("webhook_delivery_lag_seconds", ""); delivered != 3 || lag != 3 {
			t.Errorf("metrics: %v delivered, %v lags", delivered, lag)
		}
	})
}

// metric reads a counter or a gauge, or how often a histogram was given something.
func (s *shop) metric(name, outcome string) (sum float64) {
	s.t.Helper()
	families, err := s.metrics.Gather()
	must(s.t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() != name || outcome != "" && (len(m.GetLabel()) != 1 || m.GetLabel()[0].GetValue() != outcome) {
				continue
			}
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

// TestTheSecretIsToldToItsOwnerAndStoredInNoAnswer: S32 for secrets.
func TestTheSecretIsToldToItsOwnerAndStoredInNoAnswer(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t))
	made := s.do(call{path: "/v1/webhook-endpoints", key: newKey(), body: endpointAt("http://localhost/a")})
	secret := s.secretOf(made.field(t, "id"))
	if !strings.HasPrefix(secret, "whsec_") || len(secret) < 38 || secret == s.secretOf(s.newEndpoint("http://localhost/b")) {
		t.Errorf("secret %q", secret)
	}
	list := s.do(call{method: "GET", path: "/v1/webhook-endpoints"})
	if strings.Contains(made.Body+list.Body, "whsec_") || !strings.Contains(list.Body, made.field(t, "id")) {
		t.Errorf("%s %s", made.Body, list.Body)
	}
	if got := s.count("SELECT count(*) FROM idempotency_keys WHERE CAST(body AS text) LIKE '%whsec%'"); got != 0 {
		t.Error("an answer with a secret is stored")
	}
	if got := made.Header.Get("Location"); got != "/v1/webhook-endpoints/"+made.field(t, "id") {
		t.Errorf("Location %q", got)
	}
}

func TestAFailedDeliveryIsTriedAgainUnchanged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		elsewhere := newHook(t, nil)
		h := newHook(t, func(n int, w http.ResponseWriter, r *http.Request) {
			switch n {
			case 1:
				w.WriteHeader(http.StatusInternalServerError)
			case 2:
				http.Redirect(w, r, elsewhere.url, http.StatusTemporaryRedirect)
			case 3:
				<-r.Context().Done() // longer than the client waits
			default:
				w.WriteHeader(http.StatusNoContent)
			}
		})
		endpoint := s.newEndpoint(h.url, "order.paid")
		order, _ := s.newOrder()
		wantStatus(t, "pay", s.pay(newKey(), order, "tok_ok"), 201)
		s.work()
		s.untilDelivery("delivered", 1)
		h.sameEvent()
		secret := s.secretOf(endpoint)
		for _, r := range h.all() {
			must(t, r.verify(secret))
		}
		page := s.deliveriesTo(endpoint, "")
		if got := page.Deliveries[0]; got.Tries != 4 || got.LastStatus != 204 || got.LastError != "" || got.EventID != h.all()[0].id() ||
			got.DeliveredAt.IsZero() || !got.NextTryAt.IsZero() {
			t.Errorf("delivery: %+v", got)
		}
		if len(elsewhere.all()) != 0 {
			t.Error("a redirect was followed")
		}
		if got := s.metric("webhook_deliveries_total", "retried"); got != 3 {
			t.Errorf("%v retries were counted", got)
		}
	})
}

// TestAnEventThatNobodyTakesIsGivenUpAndSentAgainOnRequest: after the retry window a person is called,
// and the consumer can ask for the event once the receiver works.
func TestAnEventThatNobodyTakesIsGivenUpAndSentAgainOnRequest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		h := newHook(t, says(503))
		endpoint := s.newEndpoint(h.url+"/?token=hidden", "order.paid")
		order, _ := s.newOrder()
		wantStatus(t, "pay", s.pay(newKey(), order, "tok_ok"), 201)
		s.until("it was tried twice", func() bool { return s.count("SELECT count(*) FROM deliveries WHERE tries >= 2") == 1 })
		pending := s.deliveriesTo(endpoint, "").Deliveries[0]
		if pending.State != domain.DeliveryPending || pending.NextTryAt.IsZero() || pending.LastStatus != 503 || pending.LastError != domain.ReceiverRefuses {
			t.Errorf("while it is tried: %+v", pending)
		}
		refusal(t, "while it is tried", s.redeliver(endpoint, pending.ID), 422, "delivery_pending")
		s.clock.Move(25 * time.Hour)
		s.untilDelivery("dead", 1)
		s.untilWorkIsDone()
		flags, err := s.db.Attention(t.Context())
		must(t, err)
		if len(flags) != 1 || flags[0].Kind != "delivery_dead" || flags[0].About != pending.ID || strings.Contains(flags[0].Note, "hidden") {
			t.Errorf("flags: %+v", flags)
		}
		h.becomes(200)
		again := s.redeliver(endpoint, pending.ID)
		wantStatus(t, "redeliver", again, 202)
		if again.field(t, "state") != "pending" || again.field(t, "event_id") != pending.EventID {
			t.Errorf("redelivery: %s", again.Body)
		}
		s.untilDelivery("delivered", 1)
		h.sameEvent()
		if flags, err = s.db.Attention(t.Context()); err != nil || len(flags) != 0 {
			t.Errorf("a call is open for what was sent again: %+v %v", flags, err)
		}
		wantStatus(t, "a delivered one", s.redeliver(endpoint, pending.ID), 202)
		s.untilWorkIsDone()
		h.sameEvent()
	})
}

func TestADeletedEndpointGetsNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		h, waiting := newHook(t, nil), newHook(t, says(500))
		first, second := s.newEndpoint(h.url, "order.paid"), s.newEndpoint(waiting.url, "order.paid")
		remove := func(endpoint string) {
			a := s.do(call{method: "DELETE", path: "/v1/webhook-endpoints/" + endpoint, key: newKey()})
			wantStatus(t, "delete", a, 200)
			if want := `{"id":"` + endpoint + `","deleted":true}` + "\n"; a.Body != want {
				t.Errorf("got %s, want %s", a.Body, want)
			}
		}
		remove(first)
		s.work()
		order, _ := s.newOrder()
		wantStatus(t, "pay", s.pay(newKey(), order, "tok_ok"), 201)
		s.until("the other was tried", func() bool { return len(waiting.all()) > 0 })
		remove(second)
		s.untilDelivery("dead", 1)
		s.untilWorkIsDone()
		if len(h.all()) != 0 || s.count("SELECT count(*) FROM deliveries WHERE last_error = 'endpoint_closed'") != 1 || s.count("SELECT count(*) FROM attention") != 0 {
			t.Errorf("%d arrived; deliveries: %v", len(h.all()), s.texts("SELECT last_error FROM deliveries"))
		}
		for what, c := range map[string]call{"read": {method: "GET", path: "/v1/webhook-endpoints/" + first},
			"delete again": {method: "DELETE", path: "/v1/webhook-endpoints/" + first, key: newKey()},
			"its delivery": {method: "GET", path: "/v1/webhook-endpoints/" + second + "/deliveries"},
			"no id":        {method: "GET", path: "/v1/webhook-endpoints/x"}} {
			refusal(t, what, s.do(c), 404, "webhook_endpoint_not_found")
		}
	})
}

func TestAReceiverThatIsGoneIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		h := newHook(t, says(http.StatusGone))
		endpoint := s.newEndpoint(h.url, "order.paid")
		for range 2 {
			order, _ := s.newOrder()
			wantStatus(t, "pay", s.pay(newKey(), order, "tok_ok"), 201)
			s.untilWorkIsDone()
		}
		page := s.deliveriesTo(endpoint, "")
		if len(h.all()) != 1 || len(page.Deliveries) != 1 || page.Deliveries[0].State != domain.DeliveryDead || page.Deliveries[0].LastError != domain.ReceiverGone {
			t.Errorf("%d arrived, deliveries %+v", len(h.all()), page)
		}
		if a := s.do(call{method: "GET", path: "/v1/webhook-endpoints/" + endpoint}); a.field(t, "disabled_at") == "" {
			t.Errorf("not shown as disabled: %s", a.Body)
		}
		refusal(t, "redeliver", s.redeliver(endpoint, page.Deliveries[0].ID), 422, "webhook_endpoint_disabled")
		if got := s.count("SELECT count(*) FROM attention"); got != 0 {
			t.Errorf("%d flags for what the receiver asked for", got)
		}
	})
}

// TestAWorkerThatDiesAfterSendingSendsAgainUnderTheSameID covers T77: the crash is between the receiver's
// 200 and our note of it.
func TestAWorkerThatDiesAfterSendingSendsAgainUnderTheSameID(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		var crash faults
		crash.once("after_delivery", func(context.Context, string) error { panic("killed") })
		s.work(crash.plan)
		h := newHook(t, nil)
		s.newEndpoint(h.url, "order.paid")
		order, _ := s.newOrder()
		wantStatus(t, "pay", s.pay(newKey(), order, "tok_ok"), 201)
		s.untilDelivery("delivered", 1)
		if got := len(h.all()); got != 2 {
			t.Errorf("arrived %d times, want twice", got)
		}
		h.sameEvent()
	})
}

// TestTwoWorkersAtOnceSendOneEvent: both are inside the receiver at the same moment.
func TestTwoWorkersAtOnceSendOneEvent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		both := make(chan struct{})
		h := newHook(t, func(n int, _ http.ResponseWriter, r *http.Request) {
			switch n {
			case 1:
				tx := s.db.Begin()
				s.jobs.Enqueue(tx, jobs.Deliver, s.texts("SELECT id FROM deliveries")[0])
				if err := tx.Commit(context.Background()); err != nil {
					t.Error(err)
				}
			case 2:
				close(both)
			}
			select {
			case <-both:
			case <-r.Context().Done():
			}
		})
		endpoint := s.newEndpoint(h.url, "order.paid")
		order, _ := s.newOrder()
		wantStatus(t, "pay", s.pay(newKey(), order, "tok_ok"), 201)
		s.untilDelivery("delivered", 1)
		s.untilWorkIsDone()
		if len(h.all()) < 2 {
			t.Error("the two never met")
		}
		h.sameEvent()
		if got := s.metric("webhook_deliveries_total", "delivered"); got != 1 || len(s.deliveriesTo(endpoint, "").Deliveries) != 1 {
			t.Errorf("%v deliveries were counted", got)
		}
	})
}

// TestAnEventIsPublishedOnce: a second run of the job, as after a crash, makes nothing more.
func TestAnEventIsPublishedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		h := newHook(t, nil)
		s.newEndpoint(h.url, "order.paid")
		order, _ := s.newOrder()
		wantStatus(t, "pay", s.pay(newKey(), order, "tok_ok"), 201)
		tx := s.db.Begin()
		for _, event := range s.texts("SELECT id FROM events") {
			for range 3 {
				s.jobs.Enqueue(tx, jobs.PublishEvent, event)
			}
		}
		must(t, tx.Commit(t.Context()))
		s.work()
		s.untilDelivery("delivered", 1)
		s.untilWorkIsDone()
		if events, deliveries := s.count("SELECT count(*) FROM events"), s.count("SELECT count(*) FROM deliveries"); events != 2 || deliveries != 1 || len(h.all()) != 1 {
			t.Errorf("%d events, %d deliveries, %d arrived", events, deliveries, len(h.all()))
		}
	})
}

// TestWhatHappenedIsToldAndNothingElse: a declined payment is told, a payment that was refused is not.
func TestWhatHappenedIsToldAndNothingElse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		order, _ := s.newOrder()
		wantStatus(t, "decline", s.pay(newKey(), order, "tok_declined"), 402)
		wantStatus(t, "pay", s.pay(newKey(), order, "tok_ok"), 201)
		refusal(t, "pay twice", s.pay(newKey(), order, "tok_ok"), 422, "order_not_payable")
		types := s.texts("SELECT type FROM events ORDER BY sequence")
		if !slices.Equal(types, []string{"payment.declined", "payment.paid", "order.paid"}) {
			t.Errorf("events: %v", types)
		}
		if got := s.count("SELECT count(*) FROM river_job WHERE kind = 'publish_event'"); got != 3 {
			t.Errorf("%d jobs", got)
		}
	})
}

func TestAnEndpointThatBreaksARuleIsRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t))
	for body, field := range map[string]string{
		`{"url":""}`: "url", `{"url":"ftp://example.nl"}`: "url", `{"url":"http://example.nl"}`: "url", `{"url":"https://10.0.0.1/"}`: "url",
		`{"url":"https://[::ffff:169.254.169.254]/"}`: "url", `{"url":"https://2130706433/"}`: "url", `{"url":"https://user@example.nl/"}`: "url",
		`{"url":"https://example.nl/","events":["order.paid","order.lost"]}`:             "events[1]",
		`{"url":"https://example.nl/","events":["order.paid","order.paid"]}`:             "events[1]",
		`{"url":"https://example.nl/","events":["` + strings.Repeat(`a","`, 20) + `a"]}`: "events",
	} {
		p := refusal(t, body, s.do(call{path: "/v1/webhook-endpoints", key: newKey(), body: body}), 422, "validation_failed")
		if len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p.Errors)
		}
	}
	wantStatus(t, "no body", s.do(call{path: "/v1/webhook-endpoints", key: newKey()}), 415)
	if got := s.count("SELECT count(*) FROM webhook_endpoints"); got != 0 {
		t.Errorf("%d endpoints", got)
	}
}

// TestAConsumerHasTenEndpointsAtMost also when twenty are registered at once.
func TestAConsumerHasTenEndpointsAtMost(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		requests := make([]call, 20)
		for i := range requests {
			requests[i] = call{path: "/v1/webhook-endpoints", key: newKey(), body: endpointBody(newKey())}
		}
		together(t, len(requests), func(i int) (answer, error) { return s.try(t.Context(), requests[i]) })
		refused := 0
		for _, c := range requests {
			if a := s.untilFinal(c); a.Status != 201 {
				refusal(t, "the eleventh", a, 422, "too_many_webhook_endpoints")
				refused++
			}
		}
		if live := s.count("SELECT count(*) FROM webhook_endpoints"); live != domain.MaxWebhookEndpoints || refused != 10 {
			t.Errorf("%d endpoints, %d refused", live, refused)
		}
		var list []api.WebhookEndpoint
		must(t, json.Unmarshal([]byte(s.do(call{method: "GET", path: "/v1/webhook-endpoints"}).Body), &list))
		wantStatus(t, "delete", s.do(call{method: "DELETE", path: "/v1/webhook-endpoints/" + list[4].ID, key: newKey()}), 200)
		same := endpointAt(list[0].URL)
		refusal(t, "one URL twice", s.do(call{path: "/v1/webhook-endpoints", key: newKey(), body: same}), 422, "webhook_endpoint_exists")
		wantStatus(t, "the same of another consumer", s.do(call{path: "/v1/webhook-endpoints", key: newKey(), body: same, consumer: "demo-beta"}), 201)
		s.newEndpoint(list[4].URL)
	})
}

func TestDeliveriesAreListedInPagesNewestFirst(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		endpoint, other := s.newEndpoint("http://localhost/1"), s.newEndpoint("http://localhost/2")
		var made []string
		for range 5 {
			made = append(made, s.deadDelivery(endpoint))
		}
		elsewhere := s.deadDelivery(other)
		slices.Reverse(made)
		var listed []string
		for query := "?limit=2"; ; {
			page := s.deliveriesTo(endpoint, query)
			for _, d := range page.Deliveries {
				listed = append(listed, d.ID)
			}
			if page.NextCursor == "" {
				break
			}
			query = "?limit=2&cursor=" + page.NextCursor
		}
		if !slices.Equal(listed, made) {
			t.Errorf("listed %v, made %v", listed, made)
		}
		path := "/v1/webhook-endpoints/" + endpoint + "/deliveries"
		for query, code := range map[string]string{"?limit=0": "limit_malformed", "?limit=101": "limit_malformed", "?limit=x": "limit_malformed", "?cursor=x": "cursor_malformed"} {
			refusal(t, query, s.do(call{method: "GET", path: path + query}), 400, code)
		}
		refusal(t, "another consumer", s.do(call{method: "GET", path: path, consumer: "demo-beta"}), 404, "webhook_endpoint_not_found")
		refusal(t, "a delivery to another endpoint", s.redeliver(endpoint, elsewhere), 404, "delivery_not_found")
		refusal(t, "no delivery", s.redeliver(endpoint, newKey()), 404, "delivery_not_found")
		refusal(t, "no id", s.redeliver(endpoint, "1"), 404, "delivery_not_found")
	})
}
