package api_test

import (
	"sync/atomic"
	"testing"
	"time"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/store/storetest"
)

// TestAHammeredKeyDoesNotBlockTheOthers: fifty wait for one payment on a pool of four connections, in
// each of two processes, and orders go on. They are finished while the payment still runs.
func TestAHammeredKeyDoesNotBlockTheOthers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		d.Pool = 4
		patient := withRegistry(idempotent.Config{Patience: time.Minute, Deadline: time.Minute, Lease: time.Minute})
		s := newShop(t, d, withPlan(f.plan), patient)
		twin := newShop(t, d, withProvider(s.provider), patient)
		id, number := s.newOrder()
		payment := call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")}
		reached, release := f.hold(t, "before_charge")
		waiting := []<-chan answer{s.inBackground(payment)}
		await(t, "the payment", reached)
		for range 50 {
			waiting = append(waiting, s.inBackground(payment), twin.inBackground(payment))
		}
		for i, got := range together(t, 40, func(i int) (answer, error) {
			return []*shop{s, twin}[i%2].try(t.Context(), call{path: "/v1/orders", key: newKey(), body: mugOrder})
		}) {
			wantStatus(t, "order beside the crowd", got, 201)
			if len(waiting[0]) != 0 {
				t.Fatalf("order %d came after the payment", i)
			}
		}
		release()
		first := <-waiting[0]
		wantStatus(t, "payment", first, 201)
		for _, w := range waiting[1:] {
			sameAnswer(t, "one of the crowd", first, <-w)
		}
		s.paidOnce(id, number)
	})
}

// TestTheCrowdOfOneKeyIsLimited: past the cap a duplicate is told at once to come back.
func TestTheCrowdOfOneKeyIsLimited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan), withRegistry(idempotent.Config{MaxWaiters: 3, Patience: time.Minute, Deadline: time.Minute, Lease: time.Minute}))
		reached, release := f.hold(t, "before_finish")
		order := call{path: "/v1/orders", key: newKey(), body: mugOrder}
		first := s.inBackground(order)
		await(t, "the order", reached)
		var turnedAway atomic.Int64
		away, waited := make(chan struct{}), make(chan answer, 10)
		for range 10 {
			go func() {
				got, err := s.try(t.Context(), order)
				if err == nil && got.Status == 409 {
					refusal(t, "past the cap", got, 409, "operation_in_progress")
					if turnedAway.Add(1) == 7 {
						close(away)
					}
				}
				waited <- got
			}()
		}
		await(t, "seven to be turned away", away)
		release()
		want := <-first
		wantStatus(t, "order", want, 201)
		served := 0
		for range 10 {
			if got := <-waited; got.Status == 201 {
				wantReplay(t, "one who waited", want, got)
				served++
			}
		}
		if served != 3 {
			t.Errorf("%d waited, want 3", served)
		}
	})
}
