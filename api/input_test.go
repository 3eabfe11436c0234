package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/store/storetest"
)

// noMemory makes every repeat go past the memory of the process.
var noMemory = idempotent.Config{CacheBytes: -1}

// change gives the example order with one piece of its text replaced.
func change(from, to string) string { return strings.Replace(mugOrder, from, to, 1) }

// badOrders are bodies that are no order, and what they are told.
var badOrders = []struct {
	name, body, code, field string
	status                  int
}{
	{"nothing", "", "body_malformed", "", 400},
	{"no object", `"mug"`, "body_malformed", "", 400},
	{"a list", "[" + mugOrder + "]", "body_malformed", "", 400},
	{"half an object", mugOrder[:60], "body_malformed", "", 400},
	{"text after the object", mugOrder + "x", "body_malformed", "", 400},
	{"a second object", mugOrder + mugOrder, "body_malformed", "", 400},
	{"unknown field", change(`{"email"`, `{"total":1,"email"`), "unknown_field", "total", 400},
	{"price of the client's", change(`"quantity":2`, `"quantity":2,"unit_price":1`), "unknown_field", "items[0].unit_price", 400},
	{"another letter case", change(`"email"`, `"Email"`), "unknown_field", "Email", 400},
	{"another letter case, nested", change(`"quantity"`, `"Quantity"`), "unknown_field", "items[0].Quantity", 400},
	{"duplicate field", change(`"name"`, `"email":"x@example.nl","name"`), "duplicate_field", "email", 400},
	{"duplicate field, nested", change(`"quantity":2`, `"quantity":2,"quantity":3`), "duplicate_field", "items[0].quantity", 400},
	{"null", change(`"Sanne de Vries"`, "null"), "wrong_type", "name", 400},
	{"null, nested", change(`"quantity":2`, `"quantity":null`), "wrong_type", "items[0].quantity", 400},
	{"null, optional", change(`{"email"`, `{"language":null,"email"`), "wrong_type", "language", 400},
	{"number for text", change(`"Sanne de Vries"`, "7"), "wrong_type", "name", 400},
	{"text for object", change(`{"line1":"Damrak 1","postal_code":"1012 AB","city":"Amsterdam","country":"NL"}`, `"Damrak"`), "wrong_type", "address", 400},
	{"quantity 1.5", change(`"quantity":2`, `"quantity":1.5`), "wrong_type", "items[0].quantity", 400},
	{"quantity 1e0", change(`"quantity":2`, `"quantity":1e0`), "wrong_type", "items[0].quantity", 400},
	{"quantity as text", change(`"quantity":2`, `"quantity":"3"`), "wrong_type", "items[0].quantity", 400},
	{"quantity 2^63", change(`"quantity":2`, `"quantity":9223372036854775808`), "wrong_type", "items[0].quantity", 400},
	{"invalid UTF-8", change("Sanne", "Sann\xff"), "", "", 400},
	{"half a surrogate pair", change("Sanne", `Sann\ud800`), "", "", 400},
	{"quantity 0", change(`"quantity":2`, `"quantity":0`), "validation_failed", "items[0].quantity", 422},
	{"quantity -1", change(`"quantity":2`, `"quantity":-1`), "validation_failed", "items[0].quantity", 422},
	{"one negative line among others", change(`[{"sku":"mug","quantity":2}]`, `[{"sku":"vase","quantity":5},{"sku":"mug","quantity":-1}]`), "validation_failed", "items[1].quantity", 422},
	{"quantity 100", change(`"quantity":2`, `"quantity":100`), "validation_failed", "items[0].quantity", 422},
	{"quantity 2^63-1", change(`"quantity":2`, `"quantity":9223372036854775807`), "validation_failed", "items[0].quantity", 422},
	{"no quantity", change(`,"quantity":2`, ""), "validation_failed", "items[0].quantity", 422},
	{"no items", change(`[{"sku":"mug","quantity":2}]`, "[]"), "validation_failed", "items", 422},
	{"an article twice", change(`[`, `[{"sku":"mug","quantity":1},`), "validation_failed", "items[1].sku", 422},
	{"an unknown article", change(`"sku":"mug"`, `"sku":"yacht"`), "validation_failed", "items[0].sku", 422},
	{"NUL in the name", change("Sanne", `San\u0000ne`), "validation_failed", "name", 422},
	{"NUL in the article", change(`"sku":"mug"`, `"sku":"mug\u0000"`), "validation_failed", "items[0].sku", 422},
	{"NUL in the postcode", change("1012 AB", `1012\u0000AB`), "validation_failed", "address.postal_code", 422},
	{"a line break in the mail address", change("sanne@", `sanne\r\nBcc: x@`), "validation_failed", "email", 422},
}

// TestABodyThatIsNoOrderIsNamedAndLeavesItsKeyFree covers S10, S11, S12, S44, F5 and F6.
func TestABodyThatIsNoOrderIsNamedAndLeavesItsKeyFree(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		before := s.effects()
		key := newKey()
		for _, bad := range badOrders {
			got := s.do(call{path: "/v1/orders", key: key, body: bad.body, header: http.Header{"Content-Type": {"application/json"}}})
			code := bad.code
			if code == "" { // the sentence depends on where the decoder stops
				code = got.field(t, "code")
			}
			p := refusal(t, bad.name, got, bad.status, code)
			if !p.SafeNewKey {
				t.Errorf("%s: safe_new_key is false", bad.name)
			}
			if bad.field != "" && (len(p.Errors) == 0 || p.Errors[0].Field != bad.field) {
				t.Errorf("%s: errors %v, want one for %s", bad.name, p.Errors, bad.field)
			}
		}
		if s.effects() != before || s.keys() != 0 {
			t.Errorf("bad bodies had effects: %v, then %v; %d keys", before, s.effects(), s.keys())
		}
		wantStatus(t, "the corrected order under the same key", s.order(key, mugOrder), 201)
	})
}

// TestAnInvalidFormAfterItsKeyWasUsedStillSaysWhatHappened: a record decides before any rule does.
func TestAnInvalidFormAfterItsKeyWasUsedStillSaysWhatHappened(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d, withRegistry(noMemory))
		key := newKey()
		first := s.order(key, mugOrder)
		wantStatus(t, "order", first, 201)
		refusal(t, "invalid under its key", s.order(key, change(`"quantity":2`, `"quantity":0`)), 409, "idempotency_key_reused")
		// What became invalid between two tries must not hide the answer of the first.
		s.exec("DELETE FROM order_lines")
		s.exec("DELETE FROM products WHERE sku = 'mug'")
		s.db.ForgetPrices()
		wantReplay(t, "again", first, s.order(key, mugOrder))
	})
}

// TestOversizedAndForeignBodiesAreRefusedUnread covers S7.
func TestOversizedAndForeignBodiesAreRefusedUnread(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		for _, op := range s.registry.Operations() {
			method, path, _ := strings.Cut(op.Pattern, " ")
			fits := strings.Repeat(" ", int(op.MaxBody)-2) + "{}"
			c := call{method: method, path: path, key: newKey(), body: fits}
			if got := s.do(c); got.Status == 413 {
				t.Errorf("%s: %d bytes are refused", op.Pattern, len(fits))
			}
			c.body = " " + fits
			refusal(t, op.Pattern, s.do(c), 413, "body_too_large")
			c.body = mugOrder
			for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
				"application/json; charset=iso-8859-1", "application/jsonp", "application/json, text/plain"} {
				c.header = http.Header{"Content-Type": {kind}}
				refusal(t, op.Pattern+" "+kind, s.do(c), 415, "unsupported_media_type")
			}
			c.header = http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}
			refusal(t, op.Pattern+" gzip", s.do(c), 415, "unsupported_media_type")
		}
		if s.keys() != 0 {
			t.Errorf("%d keys were spent", s.keys())
		}
	})
}

// TestBadKeysAreRefusedBeforeAnything covers S5.
func TestBadKeysAreRefusedBeforeAnything(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		key := newKey()
		for _, bad := range []struct {
			name, code string
			header     http.Header
		}{
			{"none", "idempotency_key_missing", nil},
			{"empty", "idempotency_key_missing", http.Header{"Idempotency-Key": {""}}},
			{"X- alone", "idempotency_key_missing", http.Header{"X-Idempotency-Key": {key}}},
			{"two", "idempotency_key_ambiguous", http.Header{"Idempotency-Key": {key, newKey()}}},
			{"two equal", "idempotency_key_ambiguous", http.Header{"Idempotency-Key": {key, key}}},
			{"two in one line", "idempotency_key_malformed", http.Header{"Idempotency-Key": {key + ", " + key}}},
			{"short", "idempotency_key_malformed", http.Header{"Idempotency-Key": {"fifteen-letters"}}},
			{"empty in quotes", "idempotency_key_malformed", http.Header{"Idempotency-Key": {`""`}}},
			{"long", "idempotency_key_malformed", http.Header{"Idempotency-Key": {strings.Repeat("k", 129)}}},
			{"not ASCII", "idempotency_key_malformed", http.Header{"Idempotency-Key": {"bestelling-van-Zoë-12"}}},
			{"a space", "idempotency_key_malformed", http.Header{"Idempotency-Key": {"order of sanne 2026"}}},
			{"a mail address", "idempotency_key_malformed", http.Header{"Idempotency-Key": {"sanne@example.nl-1"}}},
			{"a parameter", "idempotency_key_malformed", http.Header{"Idempotency-Key": {`"` + key + `";v=1`}}},
			{"one quote", "idempotency_key_malformed", http.Header{"Idempotency-Key": {`"` + key}}},
			{"from the future", "idempotency_key_from_the_future", http.Header{"Idempotency-Key": {"0fffffff-ffff-7000-8000-000000000000"}}},
		} {
			p := refusal(t, bad.name, s.do(call{path: "/v1/orders", body: mugOrder, header: bad.header}), 400, bad.code)
			if !p.SafeNewKey {
				t.Errorf("%s: safe_new_key is false", bad.name)
			}
		}
		refusal(t, "a payment's key must be a UUID", s.do(call{path: "/v1/payments", key: "payment-2026-0001", body: payBody(key, "tok_ok")}), 400, "idempotency_key_malformed")
		if s.keys() != 0 || s.count("SELECT count(*) FROM orders") != 0 {
			t.Error("a bad key had an effect")
		}
		wantStatus(t, "an opaque key", s.order("order:2026-11.0001_a", mugOrder), 201)
		wantStatus(t, "a version 4 key", s.order(uuid.NewString(), mugOrder), 201)
	})
}

func TestAReadIgnoresItsKeyAndSaysSo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		got := s.do(call{method: "GET", path: "/v1/products", key: newKey()})
		if got.Status != 200 || got.Header.Get("Idempotency-Status") != "ignored" {
			t.Errorf("got %d, Idempotency-Status %q", got.Status, got.Header.Get("Idempotency-Status"))
		}
	})
}

// TestAStrangerSpendsNoKey covers T29: an expired token must not burn a key, and an attempt without
// one sees no answer.
func TestAStrangerSpendsNoKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		strangers := []http.Header{{"Authorization": {""}}, {"Authorization": {"Bearer nobody"}}, {"Authorization": {"Basic ZGVtbzphbHBoYQ=="}}, {"Authorization": {"Bearer "}}}
		key := newKey()
		knock := func(when string) {
			for _, header := range strangers {
				got := s.do(call{path: "/v1/orders", key: key, body: mugOrder, header: header})
				refusal(t, when, got, 401, "unauthenticated")
				if got.Header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("%s: WWW-Authenticate %q", when, got.Header.Get("WWW-Authenticate"))
				}
			}
		}
		knock("before")
		first := s.order(key, mugOrder)
		wantStatus(t, "order", first, 201)
		if first.Header.Get("Idempotent-Replayed") != "false" {
			t.Error("the first order calls itself a replay")
		}
		knock("after")
		wantReplay(t, "order again", first, s.order(key, mugOrder))
	})
}
