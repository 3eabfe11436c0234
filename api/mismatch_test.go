package api_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/store/storetest"
)

func TestAMismatchIsLoggedWithTheNamesOfTheFieldsAndNoValues(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var book logBook
		s := newShop(t, d, withRegistry(idempotent.Config{Log: book.logger()}))
		key := newKey()
		wantStatus(t, "order", s.order(key, mugOrder), 201)
		other := strings.NewReplacer(`"quantity":2`, `"quantity":5`, "sanne@example.nl", "joost@example.nl").Replace(mugOrder)
		refusal(t, "other order", s.order(key, other), 409, "idempotency_key_reused")

		lines := book.lines("idempotency key used for another request")
		if len(lines) != 1 || !strings.Contains(lines[0], `"differs_in":["email","items"]`) || !strings.Contains(lines[0], `"level":"WARN"`) {
			t.Errorf("log: %q", lines)
		}
		if all := strings.Join(book.lines(""), ""); strings.Contains(all, "example.nl") || strings.Contains(all, key) {
			t.Errorf("the log holds personal data or a whole key: %s", all)
		}
	})
}

// TestTwoDifferentOrdersRaceForOneKey lets two processes begin with one key and different bodies: one
// of the two happens, and the other is told.
func TestTwoDifferentOrdersRaceForOneKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan))
		twin := newShop(t, d)
		reached, release := f.hold(t, "before_finish")
		key := newKey()
		slow := s.inBackground(call{path: "/v1/orders", key: key, body: mugOrder})
		await(t, "the slow order", reached)
		other := strings.Replace(mugOrder, `"quantity":2`, `"quantity":1`, 1)
		wantStatus(t, "the fast order", twin.order(key, other), 201)
		release()
		refusal(t, "the slow order", <-slow, 409, "idempotency_key_reused")
		if got := s.stock("mug"); got != 999 {
			t.Errorf("stock %d, want 999", got)
		}
	})
}

// TestTheSameOrderWrittenDifferentlyIsTheSameOrder covers T48 and T58.
func TestTheSameOrderWrittenDifferentlyIsTheSameOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		for _, cache := range []int{0, -1} {
			s := newShop(t, d, withRegistry(idempotent.Config{CacheBytes: cache}))
			key := newKey()
			first := s.order(key, mugOrder)
			wantStatus(t, "order", first, 201)
			spaced := `
  { "items" : [ {"quantity" : 2, "sku" : "m\u0075g"} ],
    "address":{"country":"NL","city":"Amsterdam","postal_code":"1012 AB","line1":"Damrak 1"},
    "name": "Sanne de Vries",  "email":"sanne@example.nl" }
`
			wantReplay(t, "re-spaced, re-ordered, escaped", first, s.order(key, spaced))
			wantReplay(t, "quoted key", first, s.order(`"`+key+`"`, mugOrder))
			wantReplay(t, "key in capitals", first, s.order(strings.ToUpper(key), mugOrder))
		}
		if got := newShop(t, d).stock("mug"); got != 996 {
			t.Errorf("stock %d, want two orders of 2", got)
		}
	})
}

// TestTheSameKeyOfAnotherConsumerIsAnotherKey covers T52, S2, S3 and F19.
func TestTheSameKeyOfAnotherConsumerIsAnotherKey(t *testing.T) {
	t.Parallel()
	eachSource(t, func(t *testing.T, s source) {
		for _, key := range []string{newKey(), uuid.NewString(), "order:" + uuid.NewString()} {
			request := call{path: "/v1/orders", key: key, body: mugOrder}
			alpha := s.do(request)
			wantStatus(t, "alpha's order", alpha, 201)
			request.consumer = "demo-beta"
			beta := s.again(request)
			wantStatus(t, "beta's order", beta, 201)
			if beta.Header.Get("Idempotent-Replayed") != "false" || beta.field(t, "id") == alpha.field(t, "id") {
				t.Errorf("beta was shown alpha's answer: %s", beta.Body)
			}
			request.body = strings.Replace(mugOrder, `"quantity":2`, `"quantity":4`, 1)
			if p := refusal(t, "beta's other order", s.again(request), 409, "idempotency_key_reused"); p.Resource != beta.Header.Get("Location") {
				t.Errorf("beta is told of %q", p.Resource)
			}
		}
		if got := s.count("SELECT count(*) FROM orders"); got != 6 {
			t.Errorf("orders: got %d, want 6", got)
		}
	})
}

// TestTheSameKeyOnAnotherEndpointIsAnotherKey covers T53.
func TestTheSameKeyOnAnotherEndpointIsAnotherKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		key := newKey()
		order := s.order(key, mugOrder)
		wantStatus(t, "order", order, 201)
		payment := s.pay(key, order.field(t, "id"), "tok_ok")
		wantStatus(t, "payment", payment, 201)
		contact := s.do(call{path: "/v1/contact-messages", key: key, body: contactBody})
		wantStatus(t, "contact message", contact, 201)
		wantReplay(t, "order again", order, s.order(key, mugOrder))
		wantReplay(t, "payment again", payment, s.pay(key, order.field(t, "id"), "tok_ok"))
		s.paidOnce(order.field(t, "id"), order.field(t, "number"))
	})
}

// TestTwoPeopleMaySayTheSame covers T20: the key is the identity of a request, not its text.
func TestTwoPeopleMaySayTheSame(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		for range 2 {
			wantStatus(t, "message", s.do(call{path: "/v1/contact-messages", key: newKey(), body: contactBody}), 201)
		}
		if got := s.count("SELECT count(*) FROM messages"); got != 2 {
			t.Errorf("messages: got %d, want 2", got)
		}
	})
}
