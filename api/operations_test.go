package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/api"
	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/store/storetest"
)

// operation asks what happened to a key.
func (s *shop) operation(t *testing.T, endpoint, key string) (answer, api.Operation) {
	t.Helper()
	return s.operationAt(t, "/v1/operations?endpoint="+url.QueryEscape(endpoint)+"&key="+url.QueryEscape(key))
}

func (s *shop) operationAt(t *testing.T, path string) (answer, api.Operation) {
	t.Helper()
	got := s.do(call{method: "GET", path: path})
	var op api.Operation
	if got.Status == 200 {
		must(t, json.Unmarshal([]byte(got.Body), &op))
		if cache := got.Header.Get("Cache-Control"); cache != "no-store" {
			t.Errorf("%s may be cached: %q", path, cache)
		}
	}
	return got, op
}

// TestAnAnswerThatWasLostIsFoundByItsKey covers T22, for every form of a key.
func TestAnAnswerThatWasLostIsFoundByItsKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		for _, key := range []string{newKey(), uuid.NewString(), "order:2026-11.0001_a"} {
			first := s.order(key, mugOrder)
			wantStatus(t, "order", first, 201)
			got, op := s.operation(t, "POST /v1/orders", key)
			if op.State != idempotent.Completed || op.Status != 201 || op.Resource != first.Header.Get("Location") || op.Key != key ||
				op.Endpoint != "POST /v1/orders" || op.Attempts != 1 || op.CompletedAt == nil || op.ExpiresAt == nil || op.FirstSeen.IsZero() {
				t.Fatalf("%s: %s", key, got.Body)
			}
			if got := op.ExpiresAt.Sub(*op.CompletedAt); got != 72*time.Hour {
				t.Errorf("it expires after %s", got)
			}
			if again, byID := s.operationAt(t, "/v1/operations/"+op.ID); again.Body != got.Body {
				t.Errorf("by its id: %+v", byID)
			}
			if _, op := s.operation(t, "POST /v1/orders", `"`+strings.ToUpper(key)+`"`); strings.Contains(key, ":") == (op.ID != "") {
				t.Errorf("%s in capitals and quotes: %+v", key, op)
			}
		}
	})
}

// TestAnOperationShowsEveryStateOfItsKey: nothing yet, running, stopped half-way, done, over.
func TestAnOperationShowsEveryStateOfItsKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan), withRegistry(noMemory))
		const endpoint = "POST /v1/payments"
		id, _ := s.newOrder()
		key := newKey()
		request := call{path: "/v1/payments", key: key, body: payBody(id, "tok_ok")}
		state := func(want idempotent.RecordState, attempts int64) api.Operation {
			t.Helper()
			got, op := s.operation(t, endpoint, key)
			if op.State != want || op.Attempts != attempts || (op.CompletedAt != nil) != (op.Status != 0) {
				t.Errorf("got %s, want %s after %d attempts", got.Body, want, attempts)
			}
			return op
		}

		got, _ := s.operation(t, endpoint, key)
		refusal(t, "before", got, 404, "operation_not_found")
		reached, release := f.hold(t, "before_charge")
		first := s.inBackground(request)
		await(t, "the payment", reached)
		state(idempotent.InProgress, 1)
		f.once("after_charge", func(context.Context, string) error { panic("broken") })
		release()
		broken := refusal(t, "broken", <-first, 503, "retry_same_key")
		op := state(idempotent.Retryable, 1)
		if broken.Operation != "/v1/operations/"+op.ID {
			t.Errorf("the problem links to %q, the operation is %s", broken.Operation, op.ID)
		}
		if _, byLink := s.operationAt(t, broken.Operation); byLink != op {
			t.Errorf("behind the link: %+v", byLink)
		}
		paid := s.untilFinal(request)
		wantStatus(t, "payment", paid, 201)
		if op := state(idempotent.Completed, 2); op.Status != 201 || op.Resource != paid.Header.Get("Location") {
			t.Errorf("completed: %+v", op)
		}
		s.clock.Move(169 * time.Hour)
		if op := state(idempotent.Expired, 2); op.Status != 201 || op.Resource != paid.Header.Get("Location") {
			t.Errorf("expired: %+v", op)
		}
		s.exec("DELETE FROM idempotency_keys")
		got, _ = s.operation(t, endpoint, key)
		refusal(t, "too old to know", got, 410, "idempotency_key_expired")
	})
}

// TestAnOperationBelongsToItsConsumer covers S1 and T52.
func TestAnOperationBelongsToItsConsumer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		key := newKey()
		wantStatus(t, "order", s.order(key, mugOrder), 201)
		_, op := s.operation(t, "POST /v1/orders", key)
		for _, path := range []string{"/v1/operations?endpoint=POST+/v1/orders&key=" + key, "/v1/operations/" + op.ID} {
			refusal(t, "another consumer's", s.do(call{method: "GET", path: path, consumer: "demo-beta"}), 404, "operation_not_found")
			refusal(t, "nobody's", s.do(call{method: "GET", path: path, consumer: "nobody"}), 401, "unauthenticated")
		}
		for _, id := range []string{"op_", "op_x", op.ID + "A", op.ID[:len(op.ID)-1], op.ID[3:], "op_" + strings.Repeat("_", 24), "op_" + strings.Repeat("%0A", 24)} {
			refusal(t, id, s.do(call{method: "GET", path: "/v1/operations/" + id}), 404, "operation_not_found")
		}
	})
}

func TestAQueryForAnOperationNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t))
	key := newKey()
	for query, fields := range map[string]string{
		"": "endpoint key", "endpoint=POST+/v1/orders": "key", "key=" + key: "endpoint", "endpoint=&key=": "endpoint key",
		"endpoint=POST+/v1/orders&key=short": "key", "endpoint=/v1/orders&key=" + key: "endpoint", "endpoint=POST&key=" + key: "endpoint",
		"endpoint=POST+/v1/orders&endpoint=POST+/v1/orders&key=" + key: "endpoint",
		"endpoint=POST+/v1/orders&key=" + key + "&key=" + key:          "key",
	} {
		p := refusal(t, query, s.do(call{method: "GET", path: "/v1/operations?" + query}), 400, "parameter_malformed")
		var named []string
		for _, e := range p.Errors {
			named = append(named, e.Field)
		}
		if got := strings.Join(named, " "); got != fields {
			t.Errorf("%q: fields %q, want %q", query, got, fields)
		}
	}
	for _, endpoint := range []string{"GET /v1/orders", "POST /v1/nothing", "post /v1/orders", "POST /v1/orders/", "POST /v1//orders"} {
		got, _ := s.operation(t, endpoint, key)
		refusal(t, endpoint, got, 404, "endpoint_not_found")
	}
}

// TestEveryProblemOfAKeyLinksToItsOperation, and a stored one does so in the same bytes each time.
func TestEveryProblemOfAKeyLinksToItsOperation(t *testing.T) {
	t.Parallel()
	eachSource(t, func(t *testing.T, s source) {
		key := newKey()
		request := call{path: "/v1/orders", key: key, body: strings.Replace(mugOrder, `"sku":"mug","quantity":2`, `"sku":"lamp","quantity":4`, 1)}
		first := s.do(request)
		link := refusal(t, "sold out", first, 422, "sold_out").Operation
		_, op := s.operationAt(t, link)
		if op.State != idempotent.Completed || op.Status != 422 || op.Key != key {
			t.Errorf("%s shows %+v", link, op)
		}
		s.only(request, "POST /v1/orders")
		wantReplay(t, "sold out", first, s.again(request))
		request.body = mugOrder
		if p := refusal(t, "mismatch", s.again(request), 409, "idempotency_key_reused"); p.Operation != link {
			t.Errorf("the mismatch links to %q", p.Operation)
		}
		request.body = `{"total":1}`
		if p := refusal(t, "malformed", s.again(request), 400, "unknown_field"); p.Operation != link {
			t.Errorf("the malformed body links to %q", p.Operation)
		}
		other := call{path: "/v1/orders", body: mugOrder, header: http.Header{"Idempotency-Key": {"short"}}}
		if p := refusal(t, "no key", s.do(other), 400, "idempotency_key_malformed"); p.Operation != "" {
			t.Errorf("a key that cannot be read links to %q", p.Operation)
		}
	})
}
