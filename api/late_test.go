package api_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/store/storetest"
)

// TestALateRetryReplaysUntilTheTTLAndNeverRunsAfterIt covers T28: one hour before the end of its time
// an answer is replayed, one hour after it the key is refused, with what it made.
func TestALateRetryReplaysUntilTheTTLAndNeverRunsAfterIt(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"UUIDv7", "opaque"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			eachSource(t, func(t *testing.T, s source) {
				order := call{path: "/v1/orders", key: newKey(), body: mugOrder}
				if kind == "opaque" {
					order.key = "order:" + uuid.NewString()
				}
				first := s.do(order)
				wantStatus(t, "order", first, 201)
				s.only(order, "POST /v1/orders")
				before := s.effects()
				s.clock.Move(71 * time.Hour)
				wantReplay(t, "after 71 hours", first, s.again(order))
				s.clock.Move(2 * time.Hour)
				p := refusal(t, "after 73 hours", s.again(order), 410, "idempotency_key_expired")
				if p.SafeNewKey || p.Resource != first.Header.Get("Location") {
					t.Errorf("safe_new_key %v, resource %q, want the order's", p.SafeNewKey, p.Resource)
				}
				wantStatus(t, "its order", s.do(call{method: "GET", path: p.Resource}), 200)
				if after := s.effects(); after != before {
					t.Errorf("effects: %v, then %v", before, after)
				}
			})
		})
	}
}

func TestALateRetryOfAPaymentNeverChargesAgain(t *testing.T) {
	t.Parallel()
	eachSource(t, func(t *testing.T, s source) {
		id, number := s.newOrder()
		for _, request := range []call{
			{path: "/v1/payments", key: uuid.NewString(), body: payBody(id, "tok_declined")},
			{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")},
		} {
			s.do(request)
		}
		late := call{path: "/v1/payments", key: uuid.NewString(), body: payBody(id, "tok_declined")}
		refusal(t, "after the order was paid", s.do(late), 422, "order_not_payable")
		order2, number2 := s.newOrder()
		late = call{path: "/v1/payments", key: newKey(), body: payBody(order2, "tok_ok")}
		first := s.do(late)
		wantStatus(t, "payment", first, 201)
		s.only(late, "POST /v1/payments")
		s.clock.Move(167 * time.Hour)
		must(t, s.db.EnsurePartitions(t.Context()))
		wantReplay(t, "after 167 hours", first, s.again(late))
		s.clock.Move(2 * time.Hour)
		must(t, s.db.EnsurePartitions(t.Context()))
		p := refusal(t, "after 169 hours", s.again(late), 410, "idempotency_key_expired")
		if p.Resource != first.Header.Get("Location") {
			t.Errorf("resource %q", p.Resource)
		}
		if len(s.charges(number)) != 2 || len(s.charges(number2)) != 1 {
			t.Errorf("ledger: %v, %v", s.charges(number), s.charges(number2))
		}
	})
}

// TestAKeyWhoseRecordIsGoneNeverRunsAsNew: the time in a v7 key refuses it for certain; what an opaque
// key made still carries the key, and refuses it too.
func TestAKeyWhoseRecordIsGoneNeverRunsAsNew(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d, withRegistry(noMemory))
		id, _ := s.newOrder()
		requests := []call{
			{path: "/v1/orders", key: newKey(), body: mugOrder},
			{path: "/v1/orders", key: uuid.NewString(), body: mugOrder},
			{path: "/v1/orders", key: "order:" + uuid.NewString(), body: mugOrder},
			{path: "/v1/contact-messages", key: "message:" + uuid.NewString(), body: contactBody},
			{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_declined")},
			{path: "/v1/payments", key: uuid.NewString(), body: payBody(id, "tok_declined")},
		}
		for _, c := range requests {
			s.do(c)
		}
		s.exec("DELETE FROM idempotency_keys")
		before := s.effects()
		for _, c := range requests {
			refusal(t, c.path+" "+c.key, s.do(c), 410, "idempotency_key_expired")
		}
		s.clock.Move(170 * time.Hour)
		must(t, s.db.EnsurePartitions(t.Context()))
		for _, c := range requests {
			refusal(t, "later: "+c.path+" "+c.key, s.do(c), 410, "idempotency_key_expired")
		}
		if after := s.effects(); after != before || s.keys() != 0 {
			t.Errorf("effects: %v, then %v; %d keys", before, after, s.keys())
		}
	})
}

func TestAnUnknownKeyOlderThanTheTTLIsRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		old := newKey()
		s.clock.Move(73 * time.Hour)
		refusal(t, "order", s.order(old, mugOrder), 410, "idempotency_key_expired")
		refusal(t, "message", s.do(call{path: "/v1/contact-messages", key: old, body: contactBody}), 410, "idempotency_key_expired")
		wantStatus(t, "a key of 2020", s.order("01700000-0000-7000-8000-000000000000", mugOrder), 410)
		if s.keys() != 0 || s.count("SELECT count(*) FROM orders") != 0 {
			t.Error("an old key had an effect")
		}
	})
}

func TestAnAnswerSaysUntilWhenItIsReplayed(t *testing.T) {
	t.Parallel()
	eachSource(t, func(t *testing.T, s source) {
		order := call{path: "/v1/orders", key: newKey(), body: mugOrder}
		first := s.do(order)
		s.only(order, "POST /v1/orders")
		second := s.again(order)
		until, err := time.Parse(time.RFC1123, first.Header.Get("Idempotency-Expires"))
		if left := time.Until(until); err != nil || left < 71*time.Hour || left > 73*time.Hour {
			t.Errorf("Idempotency-Expires %q", first.Header.Get("Idempotency-Expires"))
		}
		for _, name := range []string{"Idempotency-Expires", "Idempotency-Original-Request-Id"} {
			if first.Header.Get(name) == "" || first.Header.Get(name) != second.Header.Get(name) {
				t.Errorf("%s: %q, then %q", name, first.Header.Get(name), second.Header.Get(name))
			}
		}
		if got := second.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control %q", got)
		}
	})
}
