package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestAnAnswerIsWipedWhenItsTimeIsOver covers T28: before that it is whole; after it nothing personal
// is left, and the link, the fingerprint and the times are.
func TestAnAnswerIsWipedWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		var kept []domain.Scope
		for _, key := range []string{a.keyAt(0), a.keyAt(-4 * time.Minute), uuid.NewString(), "message:" + uuid.NewString()} {
			kept = append(kept, a.scope(key, a.messages))
			a.done(kept[len(kept)-1], len(kept)%2 == 0)
		}
		refused := a.scope(a.keyAt(0), a.messages)
		a.commit(func(tx *store.Tx) {
			tx.ClaimDone(newKeyOf(refused), domain.Answer{Status: 422, At: a.db.Now(), Body: []byte(marker),
				Header: map[string][]string{"Content-Type": {"application/problem+json"}}}, "")
		})
		first := a.claim(kept[0])
		if got := a.pass(2*day - time.Minute); got.Wiped != 0 || strings.Count(a.content(), marker) != 9 {
			t.Fatalf("before its time: %+v", got)
		}
		if got := a.pass(time.Hour + 6*time.Minute); got.Wiped != 5 {
			t.Errorf("after its time: %+v, want 5 wiped", got)
		}
		if text := a.content(); strings.Contains(text, marker) || strings.Contains(text, "/wrong") {
			t.Errorf("something is left in:\n%s", text)
		}
		for _, s := range kept {
			c := a.claim(s)
			if c.State != domain.Tombstone || c.Resource != "/v1/things/7" || c.Answer.Status != 201 || c.Answer.Request != "request" ||
				c.Fingerprint.Sum != first.Fingerprint.Sum || c.Answer.At.IsZero() || c.FirstSeen.IsZero() {
				t.Errorf("%s: %+v", s.Key, c)
			}
		}
		if c := a.claim(refused); c.State != domain.Tombstone || c.Resource != "" || c.Answer.Status != 422 {
			t.Errorf("refused: %+v", c)
		}
		if got := a.pass(10 * time.Minute); got != (store.Swept{}) {
			t.Errorf("the next sweep did %+v", got)
		}
	})
}

// TestEveryEndpointHasItsOwnTime: one without a rule, as a newer release may have, is kept longest.
func TestEveryEndpointHasItsOwnTime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		for _, key := range []string{a.keyAt(0), uuid.NewString()} {
			for _, endpoint := range []int16{a.messages, a.payments, a.other} {
				a.done(a.scope(key, endpoint), false)
			}
		}
		if got := a.pass(6 * day); got.Wiped != 2 {
			t.Errorf("after 6 days: %+v, want 2 messages wiped", got)
		}
		if got := a.pass(26 * time.Hour); got.Wiped != 4 {
			t.Errorf("after 7 days: %+v, want the other 4 wiped", got)
		}
	})
}

// TestAKeyThatIsFinishedLateIsKeptFromThenOn: its answer is promised from its completion, however long
// after the key was made that is; then it is wiped all the same.
func TestAKeyThatIsFinishedLateIsKeptFromThenOn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		used := a.scope(a.keyAt(47*time.Hour), a.messages)
		a.done(used, false)
		stopped := a.scope(a.keyAt(0), a.messages)
		a.unfinished(stopped)
		if got := a.pass(2*day - time.Minute); got.Wiped != 0 || a.claim(used).State != domain.Done {
			t.Fatalf("one minute before its time: %+v", got)
		}
		if got := a.pass(2 * time.Minute); got.Wiped != 1 || a.claim(used).State != domain.Tombstone {
			t.Errorf("after its time: %+v", got)
		}
		a.pass(3 * time.Hour) // walks past the unfinished one
		a.commit(func(tx *store.Tx) { tx.Finish(stopped, 1, a.answer(), "") })
		if got := a.pass(2*day - time.Minute); got.Wiped != 0 || a.claim(stopped).State != domain.Done {
			t.Fatalf("finished late, within its time: %+v", got)
		}
		if got := a.pass(62 * time.Minute); got.Wiped != 1 || strings.Contains(a.content(), marker) {
			t.Errorf("finished late, after its time: %+v", got)
		}
		if got := count(t, a.db, "SELECT count(*) FROM key_stragglers"); got != 0 {
			t.Errorf("%d stragglers are still listed", got)
		}
	})
}

// TestAnUnfinishedKeyIsNeverTouched: not by wiping, not by deleting, and not with its day.
func TestAnUnfinishedKeyIsNeverTouched(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		var running, released []domain.Scope
		for _, key := range []string{a.keyAt(0), uuid.NewString(), "payment:" + uuid.NewString()} {
			for _, endpoint := range []int16{a.messages, a.payments} {
				running = append(running, a.scope(key, endpoint))
				released = append(released, domain.Scope{Key: running[0].Key, Consumer: int64(100 + len(running)), Endpoint: endpoint})
				a.unfinished(running[len(running)-1])
				a.unfinished(released[len(released)-1])
				must(t, release(t, a.db, released[len(released)-1], 1))
			}
		}
		other := a.scope(a.keyAt(0), a.payments) // done, in the same day
		a.done(other, false)
		for _, d := range []time.Duration{3 * day, 5 * day, 8 * day, 30 * day, 500 * day} {
			if got := a.pass(d); a.db.Postgres() && (got.DaysKept > 0) != (d >= 8*day) {
				t.Errorf("after %s more: %+v", d, got)
			}
			for i := range running {
				for s, state := range map[domain.Scope]domain.State{running[i]: domain.Running, released[i]: domain.Released} {
					if c := a.claim(s); c.State != state || string(c.Steps) != marker {
						t.Fatalf("after %s more: %+v", d, c)
					}
				}
			}
		}
		if got := strings.Count(a.content(), marker); got != 2*len(running)*2 {
			t.Errorf("%d commands and steps are left, want all", got)
		}
		for i := range running {
			a.commit(func(tx *store.Tx) { tx.Finish(running[i], 1, a.answer(), "") })
			if ok, err := takeOver(t, a.db, released[i], 1); !ok || err != nil {
				t.Fatalf("take over: %v %v", ok, err)
			}
			a.commit(func(tx *store.Tx) { tx.Finish(released[i], 2, a.answer(), "") })
		}
		a.pass(time.Hour)
		if c := a.claim(running[1]); c.State != domain.Done {
			t.Errorf("finished at last, within its time: %+v", c)
		}
		a.pass(8 * day)
		if got := a.pass(time.Hour); got.DaysKept != 0 || strings.Contains(a.content(), marker) || a.has(running[0]) || a.has(other) {
			t.Errorf("finished at last, after its time: %+v", got)
		}
	})
}

// TestAnOpaqueTombstoneStaysAsItsRuleSays and no longer.
func TestAnOpaqueTombstoneStaysAsItsRuleSays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		message, payment := a.scope(uuid.NewString(), a.messages), a.scope("payment:"+uuid.NewString(), a.payments)
		a.done(message, false)
		a.done(payment, true)
		a.pass(30*day - time.Minute)
		if !a.has(message) || !a.has(payment) {
			t.Fatal("a tombstone is gone before its time")
		}
		if got := a.pass(2 * time.Minute); got.TombstonesDeleted != 1 || a.has(message) || !a.has(payment) {
			t.Errorf("after 30 days: %+v", got)
		}
		a.pass(370*day - 4*time.Minute)
		if !a.has(payment) {
			t.Fatal("a tombstone is gone before its time")
		}
		if got := a.pass(10 * time.Minute); got.TombstonesDeleted != 1 || a.has(payment) {
			t.Errorf("after 400 days: %+v", got)
		}
	})
}

// TestALongerTTLFindsTheKeysThatItLetsIn: keys that are accepted again come behind the cursor.
func TestALongerTTLFindsTheKeysThatItLetsIn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		a.done(a.scope(a.keyAt(0), a.messages), false)
		a.pass(4 * day)
		longer := []store.SweepRule{{Endpoint: "POST /messages", TTL: 6 * day, Tombstone: 30 * day}}
		_, err := a.db.Sweep(t.Context(), longer)
		must(t, err)
		late := a.scope(a.keyAt(5*day), a.messages)
		a.done(late, false)
		a.clock.Move(6*day + 2*time.Hour)
		swept, err := a.db.Sweep(t.Context(), longer)
		if err != nil || swept.Wiped != 1 || a.claim(late).State != domain.Tombstone {
			t.Errorf("%+v %v", swept, err)
		}
	})
}

func TestASweepRefusesRulesThatWouldWipeTooMuch(t *testing.T) {
	t.Parallel()
	a := newAttic(t, storetest.SQLite(t))
	a.done(a.scope(a.keyAt(0), a.messages), false)
	for name, rules := range map[string][]store.SweepRule{
		"none": nil, "no TTL": {{Endpoint: "POST /messages", Tombstone: day}}, "no tombstone": {{Endpoint: "POST /messages", TTL: day}},
	} {
		if swept, err := a.db.Sweep(t.Context(), rules); err == nil || swept != (store.Swept{}) {
			t.Errorf("%s: %+v %v", name, swept, err)
		}
	}
}

// TestTheLagSaysHowFarTheSweepIsBehind, whoever sweeps.
func TestTheLagSaysHowFarTheSweepIsBehind(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		lag := func() time.Duration {
			t.Helper()
			lag, err := a.db.SweepLag(t.Context(), sweepRules)
			must(t, err)
			return lag.Round(time.Minute)
		}
		if got := lag(); got != 0 {
			t.Errorf("without keys: %s", got)
		}
		a.done(a.scope(a.keyAt(0), a.messages), false)
		a.clock.Move(2*day + 3*time.Hour)
		if got := lag(); got != 2*time.Hour {
			t.Errorf("never swept: %s, want 2h", got)
		}
		a.pass(0)
		if got := lag(); got != 0 {
			t.Errorf("swept: %s", got)
		}
		a.clock.Move(5 * time.Hour)
		if got := lag(); got != 5*time.Hour {
			t.Errorf("5 hours later: %s", got)
		}
	})
}
