package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestASweepThatStopsHalfWayGoesOn: what was committed is kept and counted, and the rest comes next.
func TestASweepThatStopsHalfWayGoesOn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		a.fill(7000, a.messages, time.Hour)
		a.clock.Move(2*day + 2*time.Hour)
		a.refuseAt(5000)
		first, err := a.db.Sweep(t.Context(), sweepRules)
		if err == nil || first.Wiped != 4000 {
			t.Fatalf("%+v %v, want two batches and an error", first, err)
		}
		if got := count(t, a.db, "SELECT count(*) FROM idempotency_keys WHERE state = 4"); got != 4000 {
			t.Errorf("%d tombstones", got)
		}
		a.exec("UPDATE idempotency_keys SET status = 201 WHERE status = 599")
		if got := a.pass(0); got.Wiped != 3000 {
			t.Errorf("%+v, want the other 3000", got)
		}
		if got := count(t, a.db, "SELECT count(*) FROM idempotency_keys WHERE state <> 4"); got != 0 {
			t.Errorf("%d keys were passed by", got)
		}
	})
}

// refuseAt makes the wiping of the nth key that fill made an error.
func (a *attic) refuseAt(n int) {
	a.t.Helper()
	if a.db.Postgres() {
		a.exec("ALTER TABLE idempotency_keys ADD CONSTRAINT refused CHECK (status <> 599 OR state = 3)")
	} else {
		a.exec(`CREATE TRIGGER refused BEFORE UPDATE ON idempotency_keys WHEN NEW.status = 599 AND NEW.state <> 3
			BEGIN SELECT RAISE(ABORT, 'refused'); END`)
	}
	a.exec(fmt.Sprintf("UPDATE idempotency_keys SET status = 599 WHERE attempt = %d", n))
}

// TestSweepsAtOnceDoNoHarm: together they do what one would, once.
func TestSweepsAtOnceDoNoHarm(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		a.fill(9000, a.messages, time.Hour)
		a.exec("INSERT INTO idempotency_keys SELECT " + a.opaqueCopy() + " FROM idempotency_keys")
		a.clock.Move(2*day + 2*time.Hour)
		type result struct {
			store.Swept
			error
		}
		const sweeps = 4
		ended := make(chan result, sweeps)
		for range sweeps {
			go func() {
				swept, err := a.db.Sweep(t.Context(), sweepRules)
				ended <- result{swept, err}
			}()
		}
		var wiped int64
		for range sweeps {
			r := <-ended
			if r.error != nil && !errors.Is(r.error, store.ErrBusy) {
				t.Error(r.error)
			}
			wiped += r.Wiped
		}
		wiped += a.pass(0).Wiped // whatever a sweep gave up that waited too long for another
		if left := count(t, a.db, "SELECT count(*) FROM idempotency_keys WHERE state <> 4"); wiped != 18000 || left != 0 {
			t.Errorf("%d wiped and counted, %d left, want all 18000 once", wiped, left)
		}
	})
}
