package store_test

import (
	"slices"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// TestAMismatchIsKeptOnceAndCounted: however often a client repeats its mistake, there is one row to be
// explained.
func TestAMismatchIsKeptOnceAndCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := storetest.Seeded(t, d, nil)
		numbers, err := db.Endpoints(t.Context(), []string{"POST /things"})
		must(t, err)
		s := scope(t)
		s.Endpoint = numbers["POST /things"]
		start := db.Now()
		m := domain.KeyMismatch{Scope: s, Key: s.Key.Short(), Sum: [32]byte{1}, Fields: []string{"email", "items"},
			FirstRequest: "first", FirstSeen: start.Add(-time.Hour), Request: "second", LastAt: start}
		must(t, db.RecordMismatch(t.Context(), m))
		m.Request, m.LastAt = "third", start.Add(time.Minute)
		must(t, db.RecordMismatch(t.Context(), m))
		other := m
		other.Sum, other.Fields, other.FirstSeen, other.LastAt = [32]byte{2}, nil, time.Time{}, start.Add(time.Hour)
		must(t, db.RecordMismatch(t.Context(), other))
		flow := m
		flow.Scope.Consumer = domain.FlowConsumer("order", "x").ID
		must(t, db.RecordMismatch(t.Context(), flow))

		list, err := db.Mismatches(t.Context(), 0)
		must(t, err)
		if len(list) != 3 || list[0].Sum != other.Sum || len(list[0].Fields) > 0 || !list[0].FirstSeen.IsZero() {
			t.Fatalf("got %+v", list)
		}
		if got := list[1]; got.Scope.Consumer != flow.Scope.Consumer || got.Consumer != "" || got.Times != 1 {
			t.Errorf("the flow's: %+v", got)
		}
		got := list[2]
		if got.Times != 2 || got.FirstRequest != "first" || got.Request != "third" || got.Consumer != "alpha" || got.Endpoint != "POST /things" ||
			got.Key != s.Key.Short() || got.Scope.Key != s.Key || !slices.Equal(got.Fields, m.Fields) || got.Age() != time.Hour ||
			!got.FirstAt.Equal(start) || !got.LastAt.Equal(m.LastAt) || !got.ExplainedAt.IsZero() {
			t.Errorf("got %+v", got)
		}
		if more, err := db.Mismatches(t.Context(), 1); err != nil || len(more) != 0 {
			t.Errorf("the second page: %v %v", more, err)
		}
	})
}

func TestAMismatchIsExplainedByAPerson(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := storetest.Seeded(t, d, nil)
		_, err := db.Endpoints(t.Context(), []string{"POST /things"})
		must(t, err)
		for n := range byte(3) {
			must(t, db.RecordMismatch(t.Context(), domain.KeyMismatch{Scope: scope(t), Sum: [32]byte{n}, LastAt: db.Now().Add(time.Duration(n))}))
		}
		list, err := db.Mismatches(t.Context(), 0)
		must(t, err)
		newest := list[0]
		must(t, db.ExplainMismatch(t.Context(), newest.ID, "joost", "A test of theirs."))
		if list, err = db.Mismatches(t.Context(), 0); err != nil || len(list) != 3 {
			t.Fatalf("got %v %v", list, err)
		}
		if got := list[2]; got.ID != newest.ID || got.ExplainedBy != "joost" || got.Note != "A test of theirs." || got.ExplainedAt.IsZero() {
			t.Errorf("what was explained does not come last: %+v", got)
		}
		if err := db.ExplainMismatch(t.Context(), newest.ID+100, "joost", ""); domain.KindOf(err) != domain.NotFound {
			t.Errorf("got %v", err)
		}
	})
}
