package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// mismatches waits until all are written down, and reads them.
func (s *shop) mismatches() []domain.KeyMismatch {
	s.t.Helper()
	must(s.t, s.registry.Drain(context.Background()))
	list, err := s.db.ListMismatches(context.Background(), domain.Listing{Limit: 50})
	must(s.t, err)
	return list.Items
}

// TestAMismatchIsKeptWhereverItIsFound: in memory, in Redis, or in the database, it is one row.
func TestAMismatchIsKeptWhereverItIsFound(t *testing.T) {
	t.Parallel()
	eachSource(t, func(t *testing.T, s source) {
		request := call{path: "/v1/orders", key: newKey(), body: mugOrder}
		first := s.do(request)
		wantStatus(t, "order", first, 201)
		s.only(request, "POST /v1/orders")
		changed := request
		changed.body = strings.NewReplacer(`"quantity":2`, `"quantity":5`, "sanne@", "joost@").Replace(mugOrder)
		for range 3 {
			refusal(t, s.name, s.again(changed), 409, "idempotency_key_reused")
		}
		list := s.mismatches()
		if len(list) != 1 {
			t.Fatalf("%d rows: %+v", len(list), list)
		}
		got := list[0]
		if got.Consumer != "alpha" || got.Endpoint != "POST /v1/orders" || got.Key != request.key[:13] || fmt.Sprint(got.Fields) != "[email items]" ||
			got.FirstRequest != first.Header.Get("Idempotency-Original-Request-Id") || got.FirstRequest == "" || got.Request == "" || got.Request == got.FirstRequest ||
			got.Times != 3 || got.Age() < 0 || got.Age() > time.Hour || got.LastAt.Before(got.FirstAt) {
			t.Errorf("got %+v", got)
		}
		if text := fmt.Sprintf("%+v", got); strings.Contains(text, "example.nl") {
			t.Errorf("the row holds a value: %s", text)
		}
		changed.body = strings.Replace(mugOrder, `"quantity":2`, `"quantity":6`, 1)
		refusal(t, s.name, s.again(changed), 409, "idempotency_key_reused")
		if list = s.mismatches(); len(list) != 2 || list[0].Times != 1 {
			t.Errorf("another difference is another row: %+v", list)
		}
	})
}

// TestAMismatchWithARunningRequestNamesIt: in the same process and in another one.
func TestAMismatchWithARunningRequestNamesIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan))
		twin := newShop(t, d, withProvider(s.provider))
		id, _ := s.newOrder()
		request := call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")}
		reached, release := f.hold(t, "before_charge")
		first := s.inBackground(request)
		await(t, "the payment", reached)
		for i, process := range []*shop{s, twin} {
			changed := request
			changed.body = payBody(id, fmt.Sprint("tok_other", i))
			refusal(t, "while it runs", process.do(changed), 409, "idempotency_key_reused")
		}
		release()
		paid := <-first
		wantStatus(t, "payment", paid, 201)
		must(t, twin.registry.Drain(t.Context()))
		list := s.mismatches()
		if len(list) != 2 {
			t.Fatalf("%d rows: %+v", len(list), list)
		}
		for _, got := range list {
			if got.FirstRequest != paid.Header.Get("Idempotency-Original-Request-Id") || fmt.Sprint(got.Fields) != "[method]" || got.FirstSeen.IsZero() {
				t.Errorf("got %+v", got)
			}
		}
	})
}

// TestAMismatchIsToldThoughItCannotBeKept: the trail is for the staff; the client's answer waits for
// none of it.
func TestAMismatchIsToldThoughItCannotBeKept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		key := newKey()
		first := s.order(key, mugOrder)
		wantStatus(t, "order", first, 201)
		s.exec("DROP TABLE mismatches")
		for range 300 {
			refusal(t, "mismatch", s.order(key, strings.Replace(mugOrder, `"quantity":2`, `"quantity":3`, 1)), 409, "idempotency_key_reused")
		}
		must(t, s.registry.Drain(t.Context()))
		wantReplay(t, "order again", first, s.order(key, mugOrder))
	})
}
