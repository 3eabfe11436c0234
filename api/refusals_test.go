package api_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/api"
	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/api/limit"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// The tests of this file provoke what the contract declares for every operation. That the answers are as
// it declares is checked with every exchange; that nothing was left out, by TestMain.

// TestEveryOperationRefusesWhatIsMalformed sends every operation a bad key and a bad body.
func TestEveryOperationRefusesWhatIsMalformed(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t))
	for _, o := range s.registry.Operations() {
		good := exampleCall(documented(o.Pattern))
		key := func(keys ...string) call {
			c := good
			c.header = http.Header{"Idempotency-Key": keys}
			return c
		}
		body := func(body string) call {
			c := good
			c.key, c.body = newKey(), body
			return c
		}
		type refused struct {
			code string
			call call
		}
		all := []refused{
			{"idempotency_key_missing", key()},
			{"idempotency_key_malformed", key("too-short")},
			{"idempotency_key_ambiguous", key(newKey(), newKey())},
			{"idempotency_key_from_the_future", key(keyOfTime(s.db.Now().Add(time.Hour)))},
			{"body_malformed", body("{")},
			{"unknown_field", body(`{"no_such_field":1}`)},
			{"wrong_type", body(`{"no_such_field":null}`)},
		}
		var fields map[string]json.RawMessage
		must(t, json.Unmarshal([]byte(good.body), &fields))
		for name, value := range fields {
			twice := `"` + name + `":` + string(value)
			all = append(all, refused{"duplicate_field", body("{" + twice + "," + twice + "}")})
		}
		for _, r := range all {
			refusal(t, o.Pattern, s.do(r.call), 400, r.code)
		}
		stranger := good
		stranger.key, stranger.consumer = newKey(), "nobody"
		refusal(t, o.Pattern, s.do(stranger), 401, "unauthenticated")
	}
	if got := s.keys(); got != 0 {
		t.Errorf("%d keys were recorded", got)
	}
}

// exampleCall is the contract's own example of a request, about things that do not exist.
func exampleCall(name string) call {
	method, path, _ := strings.Cut(name, " ")
	for _, parameter := range []string{"{id}", "{delivery}"} {
		path = strings.Replace(path, parameter, uuid.NewString(), 1)
	}
	c := call{method: method, path: strings.Replace(path, "{provider}", "simulated", 1)}
	if example := theContract().named(name).at("requestBody", "content", "application/json", "example"); example.exists() {
		text, err := json.Marshal(example.value)
		if err != nil {
			panic(err)
		}
		c.body = string(text)
	}
	return c
}

// TestEveryOperationAsksForARetry: 409 while the first request runs, 503 when it broke.
func TestEveryOperationAsksForARetry(t *testing.T) {
	t.Parallel()
	var f faults
	s := newShop(t, storetest.SQLite(t), withPlan(f.plan), withRegistry(idempotent.Config{Patience: time.Millisecond}))
	for _, e := range examples {
		request := e.request(s)
		request.key = newKey()
		reached, release := f.hold(t, "before_finish")
		first := s.inBackground(request)
		await(t, e.pattern, reached)
		refusal(t, e.pattern, s.do(request), 409, "operation_in_progress")
		release()
		wantStatus(t, e.pattern, <-first, e.status)

		request = e.request(s)
		request.key = newKey()
		f.once("before_finish", func(context.Context, string) error { return errors.New("broken") })
		refusal(t, e.pattern, s.do(request), 503, "retry_same_key")
		wantStatus(t, e.pattern, s.do(request), e.status)
	}
}

// TestEveryOperationSaysThatTheDatabaseIsAway covers the reads too.
func TestEveryOperationSaysThatTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t))
	_, number, _ := s.atBank()
	event := s.news("charge.succeeded", number, approved(2))
	must(t, s.db.Close())
	for _, name := range theContract().operations() {
		if name == "POST /v1/webhooks/{provider}" {
			refusal(t, name, s.deliver(event), 503, "store_unavailable")
			continue
		}
		c := anyCall(name)
		c.consumer = "demo-beta" // who is not remembered
		refusal(t, name, s.do(c), 503, "store_unavailable")
	}
}

// anyCall is a valid request for an operation, reads included.
func anyCall(name string) call {
	c := exampleCall(name)
	if c.method != http.MethodGet {
		c.key = newKey()
	}
	switch name {
	case "GET /v1/operations":
		c.path += "?endpoint=POST+/v1/orders&key=" + newKey()
	case "GET /v1/operations/{id}":
		c.path = "/v1/operations/" + operationID(1, newKey())
	}
	return c
}

// keyOfTime is a UUIDv7 that says it was made then.
func keyOfTime(at time.Time) string {
	id := uuid.Must(uuid.NewV7())
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli())) //nolint:gosec // after 1970
	copy(id[:6], ms[2:])
	return id.String()
}

func operationID(endpoint byte, key string) string {
	id := uuid.MustParse(key)
	return "op_" + base64.RawURLEncoding.EncodeToString(append([]byte{0, endpoint}, id[:]...))
}

// TestEveryOperationKnowsItsLimits: requests a minute, and keys.
func TestEveryOperationKnowsItsLimits(t *testing.T) {
	t.Parallel()
	d := storetest.SQLite(t)
	full := limit.NewKeys(limit.KeysOptions{Max: 1, Now: time.Now,
		Count: func(context.Context) (map[int64]int, error) { return map[int64]int{}, nil }})
	must(t, full.Take(t.Context(), domain.Consumer{ID: 1}))
	s := newShop(t, d, withRegistry(idempotent.Config{Admit: func(ctx context.Context, c domain.Consumer, _ string) error {
		return full.Take(ctx, c)
	}}))
	for _, o := range s.registry.Operations() {
		c := exampleCall(documented(o.Pattern))
		c.key = newKey()
		refusal(t, o.Pattern, s.do(c), 429, "too_many_keys")
	}
	s = newShop(t, storetest.SQLite(t), withLimits(api.Limits{Requests: limit.NewRate(limit.Options{Name: "test", PerMinute: 1})}))
	wantStatus(t, "the first", s.order(newKey(), mugOrder), 201)
	for _, name := range theContract().operations() {
		if name != "GET /v1/products" && name != "POST /v1/webhooks/{provider}" {
			refusal(t, name, s.do(anyCall(name)), 429, "rate_limited")
		}
	}
}

// TestRefusalsOfTheirOwn are declared for one operation only.
func TestRefusalsOfTheirOwn(t *testing.T) {
	t.Parallel()
	var f faults
	s := newShop(t, storetest.SQLite(t), withPlan(f.plan))
	order, _ := s.newOrder()
	reached, release := f.hold(t, "before_charge")
	paying := s.inBackground(call{path: "/v1/payments", key: newKey(), body: payBody(order, "tok_ok")})
	await(t, "a payment that is under way", reached)
	refusal(t, "cancel while it is", s.do(call{path: "/v1/orders/" + order + "/cancellations", key: newKey()}), 409, "payment_in_progress")
	refusal(t, "pay while it is", s.pay(newKey(), order, "tok_ok"), 409, "another_payment_in_progress")
	release()
	wantStatus(t, "payment", <-paying, 201)
	refusal(t, "an address without a street", s.do(call{method: "PATCH", path: "/v1/orders/" + order, key: newKey(),
		body: `{"address":{"line1":"","postal_code":"1012 AB","city":"Amsterdam","country":"NL"}}`}), 422, "validation_failed")
	payment, _ := s.newPayment("manual")
	refusal(t, "a capture of nothing", s.do(call{path: "/v1/payments/" + payment + "/captures", key: newKey(), body: `{"amount":0}`}), 422, "validation_failed")
	wantStatus(t, "cancel", s.do(call{path: "/v1/orders/" + s.orderOf(payment) + "/cancellations", key: newKey()}), 201)
	refusal(t, "a void while the order's own is on its way", s.do(call{path: "/v1/payments/" + payment + "/voids", key: newKey()}), 422, "void_exceeds_rest")
	refusal(t, "the operation of a key that is too old to be known",
		s.do(call{method: "GET", path: "/v1/operations/" + operationID(1, keyOfTime(s.db.Now().Add(-1000*time.Hour)))}), 410, "idempotency_key_expired")
	refusal(t, "strangers ask too", s.do(call{method: "GET", path: "/v1/webhook-endpoints", consumer: "nobody"}), 401, "unauthenticated")
}
