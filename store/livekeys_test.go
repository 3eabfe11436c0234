package store_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

func TestLiveKeysAreThoseWithAnAnswerToKeep(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := storetest.Seeded(t, d, nil)
		insertKeys(t, db, 1, 3, 30)  // finished
		insertKeys(t, db, 2, 1, 5)   // running
		insertKeys(t, db, 2, 4, 70)  // over
		insertKeys(t, db, -7, 3, 10) // of a page's flow
		live, err := db.LiveKeys(t.Context())
		must(t, err)
		if fmt.Sprint(live) != "map[1:30 2:5]" {
			t.Errorf("got %v", live)
		}
	})
}

// insertKeys writes rows as the claims do, many at a time.
func insertKeys(t testing.TB, db *store.DB, consumer int64, state, n int) {
	t.Helper()
	numbers, err := db.Endpoints(t.Context(), []string{"POST /things"})
	must(t, err)
	for n > 0 {
		batch := min(n, 500)
		n -= batch
		rows := make([]string, batch)
		for i := range rows {
			rows[i] = fmt.Sprintf(`('%s', %d, %d, %d, 0, 0, %d, 201, 1, 'request', %s, %s, 'Location: /v1/orders/1', %s, '')`,
				uuid.Must(uuid.NewV7()), consumer, numbers["POST /things"], time.Now().UnixMicro(), state,
				blob(db, 32), blob(db, 40), blob(db, 400))
		}
		_, err := db.SQL().ExecContext(context.Background(), `INSERT INTO idempotency_keys (key, consumer_id, endpoint_id, created_at, lease_until,
			done_at, state, status, attempt, request_id, fingerprint, fields, header, body, resource) VALUES `+strings.Join(rows, ","))
		must(t, err)
	}
}

func blob(db *store.DB, n int) string {
	if db.Postgres() {
		return `'\x` + strings.Repeat("ab", n) + `'`
	}
	return `x'` + strings.Repeat("ab", n) + `'`
}

// BenchmarkLiveKeys measures the count over a large table: LIVE_KEYS rows, 200,000 by default.
func BenchmarkLiveKeys(b *testing.B) {
	rows := 200_000
	if text := os.Getenv("LIVE_KEYS"); text != "" {
		if _, err := fmt.Sscan(text, &rows); err != nil {
			b.Fatal(err)
		}
	}
	databases := map[string]func(testing.TB) storetest.Database{"SQLite": storetest.SQLite, "Postgres": storetest.Postgres}
	for name, open := range databases {
		b.Run(name, func(b *testing.B) {
			db := storetest.Seeded(b, open(b), nil)
			for i := range 10 {
				insertKeys(b, db, int64(i%2+1), 3, rows/10)
			}
			b.ResetTimer()
			for range b.N {
				live, err := db.LiveKeys(b.Context())
				if err != nil || live[1] != rows/2 {
					b.Fatal(live, err)
				}
			}
		})
	}
}
