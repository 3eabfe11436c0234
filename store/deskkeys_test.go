package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// shelf is an attic with consumers, whose keys a test looks up as the staff does.
type shelf struct{ *attic }

func newShelf(t *testing.T, d storetest.Database) shelf {
	t.Helper()
	a := newAttic(t, d)
	must(t, a.db.Seed(t.Context(), domain.DemoCatalogue(), map[string]string{"alpha": "demo-alpha", "beta": "demo-beta"}))
	return shelf{a}
}

func (s shelf) find(text string, state domain.KeySearchState, cursor domain.Cursor) domain.Part[domain.KeyRecord] {
	s.t.Helper()
	part, err := s.db.Keys(s.t.Context(), domain.KeySearch{Text: text, State: state}, cursor)
	must(s.t, err)
	return part
}

// finds wants these keys, in this order.
func (s shelf) finds(text string, state domain.KeySearchState, want ...domain.Scope) {
	s.t.Helper()
	var got, wanted []string
	for _, r := range s.find(text, state, domain.Cursor{}).Items {
		got = append(got, fmt.Sprint(r.Scope))
	}
	for _, w := range want {
		wanted = append(wanted, fmt.Sprint(w))
	}
	if !slices.Equal(got, wanted) {
		s.t.Errorf("%q %s: got %v, want %v", text, state, got, wanted)
	}
}

// TestEveryKeyIsOnOnePageOfTheList: newest first and over days, forward and back, though three keys are the
// same one under other consumers and endpoints.
func TestEveryKeyIsOnOnePageOfTheList(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShelf(t, d)
		const all = 2*store.KeysPerPage + 10
		for n := range all - 4 {
			s.done(s.scope(s.keyAt(time.Duration(n)*time.Hour), s.messages), false)
		}
		for range 2 {
			twin := s.keyAt(time.Duration(store.KeysPerPage-1) * time.Hour)
			s.done(s.scope(twin, s.messages), false)
			s.done(s.scope(twin, s.payments), false)
		}
		s.done(s.scope("opaque:0123456789", s.messages), false)
		var names []string
		var cursors []domain.Cursor
		cursor := domain.Cursor{}
		for {
			part := s.find("", "", cursor)
			cursors = append(cursors, cursor)
			for _, r := range part.Items {
				names = append(names, fmt.Sprint(r.Scope.Key, r.Scope.Consumer, r.Scope.Endpoint))
			}
			if part.Older == "" {
				break
			}
			cursor = domain.Cursor{Before: part.Older}
		}
		if len(names) != all || len(cursors) != 3 || !slices.IsSortedFunc(names, func(a, b string) int { return strings.Compare(b, a) }) {
			t.Errorf("%d keys on %d pages", len(names), len(cursors))
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != all {
			t.Error("a key is on two pages")
		}
		second := s.find("", "", cursors[1])
		first := s.find("", "", domain.Cursor{After: second.Newer})
		if again := s.find("", "", domain.Cursor{}); len(first.Items) != store.KeysPerPage || first.Items[0].Scope != again.Items[0].Scope || first.Newer != "" || again.Newer != "" {
			t.Errorf("back from the second page: %d keys, newer %q", len(first.Items), first.Newer)
		}
		for _, odd := range []string{"x", "a_b_c", "' OR 1=1", uuidOf(first.Items[0]), uuidOf(first.Items[0]) + "_1_99999"} {
			if _, err := s.db.Keys(t.Context(), domain.KeySearch{}, domain.Cursor{Before: odd}); domain.KindOf(err) != domain.Malformed {
				t.Errorf("cursor %q: %v", odd, err)
			}
		}
	})
}

func uuidOf(r domain.KeyRecord) string { return r.Scope.Key.String() }

// TestAKeyIsFound by its whole, by how it begins, by its endpoint, its consumer and its state.
func TestAKeyIsFound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShelf(t, d)
		young, old := s.scope(s.keyAt(time.Hour), s.messages), s.scope(s.keyAt(49*time.Hour), s.payments)
		text := "message:2026-11-30-0001"
		hex := "0123456789abcdef"
		opaque, hexed := s.scope(text, s.messages), s.scope(hex, s.messages)
		flow := young
		flow.Consumer = domain.FlowConsumer("checkout", "x").ID
		for _, k := range []domain.Scope{young, old, opaque, hexed, flow} {
			s.done(k, false)
		}
		open := s.scope(s.keyAt(0), s.other)
		s.commit(func(tx *store.Tx) {
			tx.ClaimRunning(newKeyOf(open), time.Minute, []byte(`{"reserve":{"name":"`+marker+`"}}`))
		})

		s.finds("", "", open, young, flow, old)
		s.finds(young.Key.String(), "", young, flow)
		s.finds(" "+strings.ToUpper(young.Key.String())+" ", "", young, flow)
		s.finds(old.Key.String()[:13], "", old)
		s.finds(text, "", opaque)
		s.finds(hex, "", hexed)
		s.finds("message:", "")
		s.finds("' OR 1=1 --", "")
		s.finds("POST /payments", "", old)
		s.finds("POST /nothing", "")
		s.finds("alpha", "", open, young, old)
		s.finds("beta", "")
		s.finds("", domain.KeysUnfinished, open)
		s.finds("", domain.KeysFinished, young, flow, old)
		s.finds("", domain.KeysExpired)
		untimed := s.find("", domain.KeysUntimed, domain.Cursor{})
		if len(untimed.Items) != 2 || !untimed.Items[0].DoneAt.After(s.db.Now().Add(-time.Hour)) {
			t.Errorf("keys without a time: %+v", untimed.Items)
		}
		s.pass(2*day + 2*time.Hour)
		s.finds("POST /messages", domain.KeysExpired, young, flow)
	})
}

// TestAKeysRecordTellsAllButItsContent: while it runs, when it is done, and when its answer is gone.
func TestAKeysRecordTellsAllButItsContent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShelf(t, d)
		k := s.scope(s.keyAt(0), s.messages)
		read := func() domain.KeyRecord {
			t.Helper()
			r, err := s.db.KeyRecord(t.Context(), k)
			must(t, err)
			if text := fmt.Sprintf("%+v", r); strings.Contains(text, marker) {
				t.Errorf("the record holds what the client sent: %s", text)
			}
			return r
		}
		s.commit(func(tx *store.Tx) {
			tx.ClaimRunning(newKeyOf(k), time.Minute, []byte(`{"reserve":{"name":"`+marker+`"},"ask":1}`))
		})
		runs := read()
		if runs.State != domain.Running || !runs.Unfinished() || runs.Consumer != "alpha" || runs.Endpoint != "POST /messages" || runs.Attempt != 1 ||
			!slices.Equal(runs.Steps, []string{"ask", "reserve"}) || runs.LeaseLeft <= 0 || runs.LeaseLeft > time.Minute || runs.LookAt.IsZero() ||
			len(runs.Print) != 12 || runs.FirstSeen.IsZero() || !runs.DoneAt.IsZero() || runs.Scope != k {
			t.Errorf("while it runs: %+v", runs)
		}
		s.commit(func(tx *store.Tx) { tx.Finish(k, 1, s.answer(), "") })
		done := read()
		if done.State != domain.Done || done.Unfinished() || done.Status != 201 || done.Resource != "/v1/things/7" || done.Request != "request" || done.DoneAt.IsZero() ||
			len(done.Steps) > 0 || done.LeaseLeft != 0 || !done.LookAt.IsZero() {
			t.Errorf("when it is done: %+v", done)
		}
		s.pass(2*day + 2*time.Hour)
		if gone := read(); gone.State != domain.Tombstone || gone.Resource != "/v1/things/7" || gone.Status != 201 {
			t.Errorf("when its answer is gone: %+v", gone)
		}
		if _, err := s.db.KeyRecord(t.Context(), s.scope(s.keyAt(0), s.messages)); domain.KindOf(err) != domain.NotFound {
			t.Errorf("an unknown key: %v", err)
		}
	})
}

// TestTheMismatchesOfAKey are told with it, and one of them by itself.
func TestTheMismatchesOfAKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShelf(t, d)
		k, other := s.scope(s.keyAt(0), s.messages), s.scope(s.keyAt(0), s.messages)
		for n, key := range []domain.Scope{k, k, other} {
			must(t, s.db.RecordMismatch(t.Context(), domain.KeyMismatch{Scope: key, Sum: [32]byte{byte(n)}, LastAt: s.db.Now().Add(time.Duration(n))}))
		}
		list, err := s.db.MismatchesOf(t.Context(), k)
		must(t, err)
		if len(list) != 2 || list[0].Sum != [32]byte{1} || list[0].Scope != k {
			t.Fatalf("got %+v", list)
		}
		one, err := s.db.Mismatch(t.Context(), list[1].ID)
		if err != nil || one.Sum != [32]byte{0} || one.Endpoint != "POST /messages" {
			t.Errorf("got %+v, %v", one, err)
		}
		must(t, s.db.ExplainMismatch(t.Context(), one.ID, "eva", "A test of theirs."))
		must(t, s.db.ExplainMismatch(t.Context(), one.ID, "joost", "No."))
		if again, err := s.db.Mismatch(t.Context(), one.ID); err != nil || again.ExplainedBy != "eva" || again.Note != "A test of theirs." {
			t.Errorf("a second explanation changed the first: %+v, %v", again, err)
		}
		if _, err := s.db.Mismatch(t.Context(), 1<<40); domain.KindOf(err) != domain.NotFound {
			t.Errorf("got %v", err)
		}
	})
}

// TestAPageOfKeysIsReadInTheTablesOwnOrder: neither the first page nor a deep one sorts or reads all keys,
// and a deep one begins at its own day.
func TestAPageOfKeysIsReadInTheTablesOwnOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShelf(t, d)
		s.clock.Move(-4 * day)
		s.fill(20_000, s.messages, 4*day)
		s.clock.Move(4 * day)
		s.exec("ANALYZE")
		first := s.find("", "", domain.Cursor{})
		deep := s.keyAt(2*day) + "_1_1"
		for _, tt := range []struct {
			search domain.KeySearch
			cursor domain.Cursor
		}{
			{}, {cursor: domain.Cursor{Before: first.Older}}, {cursor: domain.Cursor{Before: deep}}, {cursor: domain.Cursor{After: deep}},
			{search: domain.KeySearch{Text: s.keyAt(day)[:10]}}, {search: domain.KeySearch{State: domain.KeysFinished}},
		} {
			plans := store.Explained(t.Context(), s.db, func(db *store.DB) {
				_, err := db.Keys(t.Context(), tt.search, tt.cursor)
				must(t, err)
			})
			plan := plans[len(plans)-1]
			if !strings.Contains(plan, "idempotency_keys_") || strings.Contains(plan, "Sort Key: k.key") || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN k\n") || strings.Contains(plan, "Seq Scan on idempotency_keys") {
				t.Errorf("%+v at %+v reads or sorts everything:\n%s", tt.search, tt.cursor, plan)
			}
		}
	})
}

// TestARareKeyIsSearchedForAFewAtATime: no query of a search looks through more than a window of the keys, and
// the parts together look through all of them: what is found is found once, forward and back.
func TestARareKeyIsSearchedForAFewAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShelf(t, d)
		s.clock.Move(-4 * day)
		s.fill(store.KeysWindow+10_000, s.messages, 4*day)
		s.clock.Move(4 * day)
		var want []string
		for _, age := range []time.Duration{time.Hour, 2 * day, 95 * time.Hour} {
			rare := s.scope(s.keyAt(age), s.payments)
			rare.Consumer = 2
			s.done(rare, false)
			want = append(want, fmt.Sprint(rare))
		}
		s.exec("ANALYZE")
		for _, search := range []domain.KeySearch{{Text: "beta"}, {Text: "POST /payments"}, {Text: "beta", State: domain.KeysFinished}} {
			var got []string
			walk := func(cursor domain.Cursor) (next domain.Part[domain.KeyRecord]) {
				next, err := s.db.Keys(t.Context(), search, cursor)
				must(t, err)
				for _, r := range next.Items {
					got = append(got, fmt.Sprint(r.Scope))
				}
				return next
			}
			part := walk(domain.Cursor{})
			if part.Newer != "" {
				t.Errorf("%+v: something is before the first: %+v", search, part)
			}
			for pages := 0; part.Older != "" && pages < 10; pages++ {
				part = walk(domain.Cursor{Before: part.Older})
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: found %v, want %v", search, got, want)
			}
			got = nil
			part = walk(domain.Cursor{After: s.keyAt(96*time.Hour) + "_1_1"})
			for pages := 0; part.Newer != "" && pages < 10; pages++ {
				part = walk(domain.Cursor{After: part.Newer})
			}
			if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
				t.Errorf("%+v: on the way back %v, want %v", search, got, want)
			}
			plans := store.Explained(t.Context(), s.db, func(db *store.DB) { _, err := db.Keys(t.Context(), search, domain.Cursor{}); must(t, err) })
			bounded := 0
			for _, plan := range plans {
				if strings.Contains(plan, "key>? AND key<?") || strings.Contains(plan, "key >= '") {
					bounded++
				}
			}
			if bounded == 0 {
				t.Errorf("%+v: no query ends anywhere: %s", search, plans)
			}
		}
	})
}
