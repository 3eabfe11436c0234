package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/store/storetest"
)

var paymentPoints = []string{"before_reserve", "after_reserve", "before_charge", "after_charge", "before_finish", "after_finish"}

// TestAPanicAtAnyPointOfAPaymentIsRepairedByTheRetry covers T35, T47, T59 and S43. Each point is met
// by the first try, by a resumed one, and by two in a row.
func TestAPanicAtAnyPointOfAPaymentIsRepairedByTheRetry(t *testing.T) {
	t.Parallel()
	breaks := map[string]func(context.Context, string) error{
		"panic": func(_ context.Context, point string) error { panic("secret of " + point) },
		"error": func(_ context.Context, point string) error { return errors.New("secret of " + point) },
	}
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan), withRegistry(idempotent.Config{CacheBytes: -1}))
		for how, plan := range breaks {
			for _, first := range paymentPoints {
				for _, second := range []string{"", "before_charge", "after_charge", "before_finish"} {
					what := how + " at " + first + ", then " + second
					id, number := s.newOrder()
					request := call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")}
					f.once(first, plan)
					s.brokenAnswer(what, request)
					if second != "" && second != first {
						f.once(second, plan)
						s.do(request)
					}
					f.clear()
					final := s.do(request)
					wantStatus(t, what, final, 201)
					wantReplay(t, what, final, s.do(request))
					s.paidOnce(id, number)
				}
			}
		}
	})
}

// brokenAnswer checks that a run that broke tells nothing of how, and asks for a retry. After the
// last commit there is an answer to give all the same, unless the run ended in a panic.
func (s *shop) brokenAnswer(what string, c call) {
	s.t.Helper()
	got := s.do(c)
	if got.Status == 201 && strings.Contains(what, "error at after_finish") {
		return
	}
	if p := refusal(s.t, what, got, 503, "retry_same_key"); p.SafeNewKey {
		s.t.Errorf("%s: a new key is called safe", what)
	}
	if strings.Contains(got.Body, "secret") || strings.Contains(got.Body, ".go") {
		s.t.Errorf("%s: the answer tells of the inside: %s", what, got.Body)
	}
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = nil
}

func TestAPanicInAnOrderOrMessageIsRepairedByTheRetry(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan))
		for i, point := range []string{"before_finish", "after_finish"} {
			for _, c := range []call{{path: "/v1/orders", body: mugOrder}, {path: "/v1/contact-messages", body: contactBody}} {
				c.key = newKey()
				keys, before := s.keys(), s.effects()
				f.once(point, func(context.Context, string) error { panic(point) })
				s.brokenAnswer("panic at "+point, c)
				if i == 0 && (s.keys() != keys || s.effects() != before) {
					t.Error("a run that broke before its commit left something behind")
				}
				final := s.do(c)
				wantStatus(t, point, final, 201)
				wantReplay(t, point, final, s.do(c))
			}
		}
		if got := s.count("SELECT count(*) FROM orders"); got != 2 {
			t.Errorf("orders: got %d, want 2", got)
		}
		if got := s.count("SELECT count(*) FROM messages"); got != 2 {
			t.Errorf("messages: got %d, want 2", got)
		}
	})
}

// TestASleeperPastItsLeaseIsOvertaken lets one process fall asleep in the middle of a payment, for
// longer than its lease: the other one finishes it, and the sleeper wakes up to the same answer.
// Covers T11, T44, T59 and F28.
func TestASleeperPastItsLeaseIsOvertaken(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		short := withRegistry(idempotent.Config{Lease: 300 * time.Millisecond, Deadline: time.Minute, Patience: 30 * time.Second})
		sleeper := newShop(t, d, short, withPlan(f.plan))
		other := newShop(t, d, short, withProvider(sleeper.provider))
		for _, point := range []string{"after_reserve", "before_charge", "after_charge", "before_finish"} {
			id, number := sleeper.newOrder()
			request := call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")}
			reached, release := f.hold(t, point)
			asleep := sleeper.inBackground(request)
			await(t, point, reached)

			winner := other.do(request)
			wantStatus(t, point, winner, 201)
			release()
			wantReplay(t, "the sleeper at "+point, winner, <-asleep)
			wantReplay(t, "a retry after "+point, winner, sleeper.do(request))
			sleeper.paidOnce(id, number)
			if got := sleeper.count("SELECT count(*) FROM idempotency_keys WHERE state = 3 AND attempt = 2"); got == 0 {
				t.Errorf("%s: nobody took the key over", point)
			}
		}
	})
}

// TestAHolderWithinItsLeaseIsNotOvertaken is the other half: a live holder is waited for. Covers T64
// and T42: who asks again too early is told to come back, and the third try gets the answer.
func TestAHolderWithinItsLeaseIsNotOvertaken(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		impatient := idempotent.Config{Patience: 100 * time.Millisecond}
		holder := newShop(t, d, withPlan(f.plan), withRegistry(impatient))
		other := newShop(t, d, withProvider(holder.provider), withRegistry(impatient))
		id, number := holder.newOrder()
		request := call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")}
		reached, release := f.hold(t, "before_charge")
		first := holder.inBackground(request)
		await(t, "the first payment", reached)
		for name, process := range map[string]*shop{"same process": holder, "other process": other} {
			if p := refusal(t, name, process.do(request), 409, "operation_in_progress"); !p.Retryable || p.SafeNewKey {
				t.Errorf("%s: retryable %v, safe_new_key %v", name, p.Retryable, p.SafeNewKey)
			}
		}
		release()
		answer := <-first
		wantStatus(t, "first payment", answer, 201)
		wantReplay(t, "third try", answer, other.do(request))
		holder.paidOnce(id, number)
	})
}
