package api_test

import (
	"testing"
	"time"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/store/storetest"
)

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
		if asleep, awake := sleeper.metric("idem_fenced_writes_total", ""), other.metric("idem_fenced_writes_total", ""); asleep != 4 || awake != 0 {
			t.Errorf("idem_fenced_writes_total: the sleeper's is %v, want 4; the other's %v, want 0", asleep, awake)
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
