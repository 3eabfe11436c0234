package store_test

import (
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// TestADayIsDroppedTwoTTLsAfterItsEnd and not made again.
func TestADayIsDroppedTwoTTLsAfterItsEnd(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		old := a.scope(a.keyAt(0), a.payments)
		a.done(old, false)
		a.pass(14 * day)
		if c := a.claim(old); c.State != domain.Tombstone {
			t.Fatalf("after 14 days: %+v", c)
		}
		a.pass(26 * time.Hour)
		if a.has(old) {
			t.Error("the day is still there after 15 days and an hour")
		}
		again := a.pass(time.Hour)
		if again.DaysDropped != 0 || again.DaysKept != 0 || again.TombstonesDeleted != 0 {
			t.Errorf("an hour later: %+v", again)
		}
	})
}

// TestShortTTLsDropNoDayThatIsMadeAgain: the days that are kept ready for new keys stay.
func TestShortTTLsDropNoDayThatIsMadeAgain(t *testing.T) {
	t.Parallel()
	a := newAttic(t, storetest.Postgres(t))
	rules := sweepRules[:1]
	for range 3 {
		a.clock.Move(day)
		must(t, a.db.EnsurePartitions(t.Context()))
		swept, err := a.db.Sweep(t.Context(), rules)
		if must(t, err); swept.DaysDropped != 1 {
			t.Errorf("%+v, want the one day that became too old", swept)
		}
	}
}

// TestADayInUseIsLeftForTheNextSweep: who reads or claims keys does not wait for the drop.
func TestADayInUseIsLeftForTheNextSweep(t *testing.T) {
	t.Parallel()
	a := newAttic(t, storetest.Postgres(t))
	// Nine days ago is the oldest day that was made: it is over for 14 days and an hour by then.
	old := a.db.Now().Truncate(day).Add(6*day + time.Hour)
	if got := a.pass(old.Sub(a.db.Now()) - time.Minute); got.DaysDropped != 0 || got.DaysKept != 0 {
		t.Fatalf("before any day is old enough: %+v", got)
	}
	reader, err := a.db.SQL().BeginTx(t.Context(), nil)
	must(t, err)
	var n int
	must(t, reader.QueryRowContext(t.Context(), "SELECT count(*) FROM idempotency_keys").Scan(&n))
	a.clock.Move(2 * time.Minute)
	swept, err := a.db.Sweep(t.Context(), sweepRules)
	if must(t, err); swept.DaysDropped != 0 || swept.DaysKept != 1 {
		t.Errorf("with a reader: %+v", swept)
	}
	a.done(a.scope(a.keyAt(0), a.payments), false) // today's claims go on
	must(t, reader.Rollback())
	if got := a.pass(0); got.DaysDropped != 1 || got.DaysKept != 0 {
		t.Errorf("without a reader: %+v", got)
	}
}
