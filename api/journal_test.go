package api_test

import (
	"strings"
	"testing"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// diary is the journal of a shop that is made after it was promised to the engine.
type diary struct{ *store.Journal }

func newDiary(t *testing.T, d storetest.Database, options ...shopOption) (*shop, *diary) {
	t.Helper()
	j := &diary{}
	s := newShop(t, d, append(options, withRegistry(idempotent.Config{Journal: j}))...)
	j.Journal = store.OpenJournal(s.db, "one", nil)
	t.Cleanup(j.Close)
	return s, j
}

// of tells the journals of an order's keys as kinds, and how many requests there were.
func (j *diary) of(t *testing.T, orderID string) (kinds string, requests int64) {
	t.Helper()
	timeline, err := j.OrderTimeline(t.Context(), orderID)
	must(t, err)
	var words []string
	for _, e := range timeline.Events {
		words = append(words, string(e.Kind))
	}
	return strings.Join(words, " "), timeline.Requests
}

// TestAnOrdersTimelineTellsOfAllItsKeys: of placing and of paying it, and of the provider that was heard; of
// no other order's.
func TestAnOrdersTimelineTellsOfAllItsKeys(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s, j := newDiary(t, d)
		s.work()
		s.newOrder()
		order := call{path: "/v1/orders", key: newKey(), body: mugOrder}
		first := s.do(order)
		wantStatus(t, "order", first, 201)
		wantReplay(t, "order again", first, s.do(order))
		id, number := first.field(t, "id"), first.field(t, "number")
		pay := call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")}
		wantStatus(t, "payment", s.do(pay), 201)
		if got, n := j.of(t, id); got != "finished replayed claimed calling called finished" || n != 2 {
			t.Errorf("%d requests: %s", n, got)
		}
		e := s.news("charge.succeeded", number, nil)
		wantStatus(t, "event", s.deliver(e), 200)
		s.settled(e)
		s.until("the event is in the journal", func() bool { got, _ := j.of(t, id); return strings.HasSuffix(got, " heard") })
		timeline, err := j.OrderTimeline(t.Context(), id)
		must(t, err)
		heard := timeline.Events[len(timeline.Events)-1]
		if heard.Step != "webhook" || heard.Detail != "paid" || heard.Scope.Key.String() != pay.key || heard.Endpoint != "POST /v1/payments" ||
			heard.Kind != domain.KeyHeard || timeline.Events[0].Scope.Key.String() != order.key {
			t.Errorf("got %+v", heard)
		}
		own, err := j.KeyTimeline(t.Context(), heard.Scope)
		must(t, err)
		if len(own.Events) != 5 || own.Requests != 1 {
			t.Errorf("the payment's key: %d requests, %+v", own.Requests, own.Events)
		}
	})
}
