package store_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestLookingForUnfinishedKeysReadsNoFinishedOne: however many there are, it reads their own index.
func TestLookingForUnfinishedKeysReadsNoFinishedOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		a.fill(20000, a.messages, 10*time.Hour)
		a.exec("INSERT INTO idempotency_keys SELECT " + a.opaqueCopy() + " FROM idempotency_keys")
		a.unfinished(a.scope(a.keyAt(0), a.payments))
		a.unfinished(a.scope(uuid.NewString(), a.payments))
		a.exec("ANALYZE")
		for _, s := range store.UnfinishedStatements(a.db) {
			plan := a.explain(s.Query, s.Args)
			listed, unlisted := "idempotency_keys_unfinished", "idempotency_keys_unlisted"
			if a.db.Postgres() {
				listed, unlisted = "_look_at_idx", "_lease_until_idx"
			}
			if fullScan.MatchString(plan) || !strings.Contains(plan, listed) || strings.Contains(s.Query, "UNION") && !strings.Contains(plan, unlisted) {
				t.Errorf("%s\n%s", s.Query, plan)
			}
		}
	})
}

// fullScan finds a scan that costs something: that of an empty day does not.
var fullScan = regexp.MustCompile(`Seq Scan on .*cost=0\.00\.\.[0-9.]*[1-9]`)

// TestAKeyThatAnOlderReleaseClaimedIsFound, though that release knows nothing of the list: once its lease
// has ended or was given back, and before all that is listed. Taken over, it is a key like any other.
func TestAKeyThatAnOlderReleaseClaimedIsFound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		listed, old := a.scope(a.keyAt(0), a.payments), a.scope(a.keyAt(0), a.payments)
		a.unfinished(listed)
		a.unfinished(old)
		a.done(a.scope(a.keyAt(0), a.payments), true)
		a.exec("UPDATE idempotency_keys SET look_at = 1, lease_until = 1 WHERE state = 1")
		look := func(limit int) []domain.Unfinished {
			t.Helper()
			list, err := a.db.Unfinished(t.Context(), []int16{a.payments}, limit)
			must(t, err)
			return list
		}
		unlist := func(state string, lease string) {
			t.Helper()
			a.exec("UPDATE idempotency_keys SET look_at = NULL, looks = NULL, state = " + state + ", lease_until = " + lease +
				" WHERE key = '" + uuid.UUID(old.Key.ID()).String() + "'")
		}
		unlist("1", micros(a.db)+" + 1000000")
		if found := look(9); len(found) != 1 || found[0].Scope != listed {
			t.Errorf("within its lease: %+v", found)
		}
		for state, lease := range map[string]string{"1": micros(a.db) + " - 6000000", "2": "0"} {
			unlist(state, lease)
			found := look(1)
			if len(found) != 1 || found[0].Scope != old || string(found[0].Input) != marker || found[0].Claim.Looks != 0 || len(look(9)) != 2 {
				t.Fatalf("in state %s: %+v", state, found)
			}
		}
		a.commit(func(tx *store.Tx) { tx.TakeOver(old, 1, 30*time.Second, 1, time.Minute) })
		if found := look(9); len(found) != 1 || found[0].Scope != listed {
			t.Errorf("taken over: %+v", found)
		}
		if got := count(t, a.db, "SELECT count(*) FROM idempotency_keys WHERE look_at IS NOT NULL"); got != 2 {
			t.Errorf("%d keys are listed, want both", got)
		}
	})
}

func micros(db *store.DB) string {
	if db.Postgres() {
		return "CAST(extract(epoch from clock_timestamp()) * 1000000 AS bigint)"
	}
	return "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
}

// TestAnUnfinishedKeyHasAllThatAnotherRunNeeds, and a finished one is not there.
func TestAnUnfinishedKeyHasAllThatAnotherRunNeeds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		a.done(a.scope(a.keyAt(0), a.payments), true)
		if age, err := a.db.OldestUnfinished(t.Context()); err != nil || age != 0 {
			t.Errorf("nothing is unfinished, and the oldest is %s %v", age, err)
		}
		dated, opaque := a.scope(a.keyAt(0), a.payments), a.scope("payment:"+uuid.NewString(), a.payments)
		other := a.scope(a.keyAt(0), a.messages)
		for _, s := range []domain.Scope{dated, opaque, other} {
			a.unfinished(s)
		}
		a.clock.Move(time.Minute)
		if age, err := a.db.OldestUnfinished(t.Context()); err != nil || age < time.Minute || age > 2*time.Minute {
			t.Errorf("the oldest unfinished key is %s old (%v), want a minute", age, err)
		}
		look := func(endpoints []int16, limit int) []domain.Unfinished {
			list, err := a.db.Unfinished(t.Context(), endpoints, limit)
			must(t, err)
			return list
		}
		if got := look([]int16{a.payments}, 9); len(got) != 0 {
			t.Errorf("found within their leases: %+v", got)
		}
		a.exec("UPDATE idempotency_keys SET lease_until = 1, look_at = 1, looks = 3 WHERE look_at IS NOT NULL")
		found := look([]int16{a.payments}, 9)
		if len(found) != 2 || len(look([]int16{a.payments, a.messages}, 9)) != 3 || len(look([]int16{a.payments}, 1)) != 1 || len(look([]int16{a.messages + a.payments}, 9)) != 0 {
			t.Fatalf("found %+v", found)
		}
		for _, u := range found {
			want := dated
			if u.Scope.Key.String() == opaque.Key.String() {
				want = opaque
			}
			if u.Scope != want || string(u.Input) != marker || string(u.Claim.Steps) != marker || u.Claim.Attempt != 1 ||
				u.Claim.Looks != 3 || u.Claim.Fingerprint.Sum != newKeyOf(want).Fingerprint.Sum || u.Claim.Request != "request" {
				t.Errorf("%+v", u)
			}
		}
		a.exec("UPDATE idempotency_keys SET state = 3 WHERE look_at IS NOT NULL") // as an older release does
		if age, err := a.db.OldestUnfinished(t.Context()); err != nil || age != 0 || len(look([]int16{a.payments}, 9)) != 0 {
			t.Errorf("finished by an older release: the oldest is %s (%v), found %+v", age, err, look([]int16{a.payments}, 9))
		}
		a.exec("UPDATE idempotency_keys SET state = 2, looks = 12 WHERE look_at IS NOT NULL")
		if age, err := a.db.OldestUnfinished(t.Context()); err != nil || age != 0 {
			t.Errorf("a person has been called for all, and the oldest is %s %v", age, err)
		}
	})
}
