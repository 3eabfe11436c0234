package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
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

		list := listedMismatches(t, db, "")
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
		newest := listedMismatches(t, db, "")[0]
		must(t, db.ExplainMismatch(t.Context(), newest.ID, "joost", "A test of theirs."))
		if open := listedMismatches(t, db, ""); len(open) != 2 || open[0].ID == newest.ID || open[1].ID == newest.ID {
			t.Errorf("open are %+v", open)
		}
		if got := listedMismatches(t, db, domain.MismatchExplained); len(got) != 1 || got[0].ID != newest.ID || got[0].ExplainedBy != "joost" || got[0].Note != "A test of theirs." || got[0].ExplainedAt.IsZero() {
			t.Errorf("explained are %+v", got)
		}
		if err := db.ExplainMismatch(t.Context(), newest.ID+100, "joost", ""); domain.KindOf(err) != domain.NotFound {
			t.Errorf("got %v", err)
		}
	})
}

func listedMismatches(t *testing.T, db *store.DB, state string) []domain.KeyMismatch {
	t.Helper()
	part, err := db.ListMismatches(t.Context(), domain.Listing{State: state, Limit: 50})
	must(t, err)
	return part.Items
}

// TestTheMismatchesAreReadPageByPage: every one once, those first that came last, though many came at one
// moment; forward and back, and each page from an index.
func TestTheMismatchesAreReadPageByPage(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := storetest.Seeded(t, d, nil)
		_, err := db.Endpoints(t.Context(), []string{"POST /things"})
		must(t, err)
		const all = 20_000 // every third is explained, and every seven came at one moment
		s := scope(t)
		numbers := "generate_series(1, 20000) AS g(i)"
		sum := "decode(lpad(to_hex(i), 64, '0'), 'hex')"
		if !db.Postgres() {
			numbers = "(WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 20000) SELECT i FROM g) AS g"
			sum = "unhex(printf('%064x', i))"
		}
		_, err = db.SQL().ExecContext(t.Context(), `INSERT INTO mismatches (consumer_id, endpoint_id, key, key_short, sum, fields, first_request, first_seen,
			request_id, first_at, last_at, times, explained_at) SELECT 1, `+fmt.Sprint(s.Endpoint)+", '"+uuid.UUID(s.Key.ID()).String()+"', 'k', "+sum+`,
			'', 'f', 0, 'r', 1, 20000 - i / 7, 1, CASE WHEN i % 3 = 0 THEN 1 ELSE 0 END FROM `+numbers)
		must(t, err)
		_, err = db.SQL().ExecContext(t.Context(), "ANALYZE")
		must(t, err)
		for state, want := range map[string]int{"": all - all/3, domain.MismatchExplained: all / 3} {
			seen := map[int64]bool{}
			var pages []domain.Part[domain.KeyMismatch]
			last := domain.KeyMismatch{ID: all + 1, LastAt: db.Now()}
			for l := (domain.Listing{State: state, Limit: 600}); ; l.Before = pages[len(pages)-1].Older {
				part, err := db.ListMismatches(t.Context(), l)
				must(t, err)
				for _, m := range part.Items {
					if seen[m.ID] || m.LastAt.After(last.LastAt) || m.LastAt.Equal(last.LastAt) && m.ID > last.ID || m.ExplainedAt.IsZero() != (state == "") {
						t.Fatalf("%q: %d comes after %d", state, m.ID, last.ID)
					}
					seen[m.ID], last = true, m
				}
				if pages = append(pages, part); part.Older == "" || len(pages) > all {
					break
				}
			}
			if len(seen) != want || len(pages) != (want+599)/600 {
				t.Errorf("%q: %d on %d pages", state, len(seen), len(pages))
			}
			for _, cursor := range []domain.Cursor{{}, {Before: pages[1].Older}, {After: pages[2].Newer}} {
				l := domain.Listing{State: state, Limit: 50, Cursor: cursor}
				for _, plan := range store.Explained(t.Context(), db, func(db *store.DB) { _, err := db.ListMismatches(t.Context(), l); must(t, err) }) {
					byIndex(t, fmt.Sprintf("mismatches %+v", l), plan, false)
				}
			}
			back, err := db.ListMismatches(t.Context(), domain.Listing{State: state, Limit: 600, Cursor: domain.Cursor{After: pages[2].Newer}})
			must(t, err)
			if len(back.Items) != 600 || back.Items[0].ID != pages[1].Items[0].ID || back.Older != pages[1].Older {
				t.Errorf("%q: back from the third page is not the second", state)
			}
		}
		for _, odd := range []string{"x", "1", "1_", "1_2_3", "' OR 1=1"} {
			if _, err := db.ListMismatches(t.Context(), domain.Listing{Limit: 3, Cursor: domain.Cursor{Before: odd}}); domain.KindOf(err) != domain.Malformed {
				t.Errorf("cursor %q: %v", odd, err)
			}
		}
	})
}
