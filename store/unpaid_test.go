package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestPaidOrdersCostTheSearchForUnpaidOnesNothing: it walks an index that holds unpaid orders alone, and
// looks up their payments one by one.
func TestPaidOrdersCostTheSearchForUnpaidOnesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		const paid, unpaid = 20_000, 20
		text := "CAST(n AS text)"
		id := "'00000000-0000-7000-8000-' || substr('000000000000' || n, length(n || '') + 1)"
		if a.db.Postgres() {
			id = "CAST(" + id + " AS uuid)"
		}
		a.exec(fmt.Sprintf(`INSERT INTO orders (id, number, token, status, email, name, line1, postal_code, city, country, language,
			shipping, total, currency, consumer_id, key, created_at)
			WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
			SELECT %s, %s, '', CASE WHEN n > %d THEN 'awaiting_payment' ELSE 'paid' END, '', '', '', '', '', '', 'en', 0, 1, 'EUR', 1, %s, '2020-01-01 00:00:00+00:00'
			FROM numbers`, paid+unpaid, id, text, paid, id))
		a.exec("ANALYZE")
		found, err := a.db.UnpaidOrders(t.Context(), a.db.Now().Add(-time.Hour), 50)
		must(t, err)
		if len(found) != unpaid {
			t.Errorf("%d orders were found, want %d", len(found), unpaid)
		}
		s := store.UnpaidStatement(a.db, a.db.Now())
		plan := a.explain(s.Query, s.Args)
		if !strings.Contains(plan, "orders_unpaid") || strings.Contains(plan, "Seq Scan on orders") {
			t.Errorf("%s\n%s", s.Query, plan)
		}
	})
}
