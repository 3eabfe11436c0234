package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestASweepVisitsNothingTwice: what it costs is what is over, not what is there. Postgres counts the
// rows and index entries that a session has read.
func TestASweepVisitsNothingTwice(t *testing.T) {
	t.Parallel()
	d := storetest.Postgres(t)
	before := newAttic(t, d)
	before.fill(20000, before.messages, 20*time.Hour)
	before.exec("INSERT INTO idempotency_keys SELECT " + before.opaqueCopy() + " FROM idempotency_keys")
	before.exec("ANALYZE")
	must(t, before.db.Close()) // a session that ends has reported all its reads
	a := newAttic(t, d)
	a.alone()
	a.clock.Move(2*day + time.Hour)
	sweep := func(after time.Duration) (store.Swept, int64) {
		t.Helper()
		a.clock.Move(after)
		before := a.visited()
		db, err := store.Open(context.Background(), store.Config{URL: d.URL, Now: a.clock.Now})
		must(t, err)
		swept, err := db.Sweep(t.Context(), sweepRules)
		must(t, err)
		must(t, db.Close())
		a.alone()
		return swept, a.visited() - before
	}
	for _, step := range []struct {
		after    time.Duration
		wiped    int64
		visiting int64 // at most
	}{
		{10 * time.Hour, 10000 + 11000, 100_000},
		{0, 0, 100},
		{time.Minute, 17 + 17, 500},
		{9 * time.Hour, 9000 + 9000 - 17, 100_000},
		{day, 983, 5_000},
		{day, 0, 100},
	} {
		swept, visited := sweep(step.after)
		if visited < swept.Wiped {
			t.Fatalf("%d visited, but %d wiped: the witness is blind", visited, swept.Wiped)
		}
		if diff := swept.Wiped - step.wiped; diff < -5 || diff > 5 || visited > step.visiting {
			t.Errorf("after %s: wiped %d, want about %d; visited %d, want at most %d", step.after, swept.Wiped, step.wiped, visited, step.visiting)
		}
	}
	if got := count(t, a.db, "SELECT count(*) FROM idempotency_keys WHERE state = 3"); got != 0 {
		t.Errorf("%d keys were passed by", got)
	}
}

// visited counts what has been read of the key table: the index entries of the days, and the rows of
// the opaque keys, whose index keeps dead entries until the next vacuum.
func (a *attic) visited() (n int64) {
	a.t.Helper()
	must(a.t, a.db.SQL().QueryRowContext(a.t.Context(), `SELECT
		(SELECT sum(seq_tup_read + CASE relname WHEN 'idempotency_keys_opaque' THEN idx_tup_fetch ELSE 0 END)
			FROM pg_stat_user_tables WHERE relname LIKE 'idempotency_keys_%') +
		(SELECT sum(idx_tup_read) FROM pg_stat_user_indexes
			WHERE relname LIKE 'idempotency_keys_%' AND relname <> 'idempotency_keys_opaque')`).Scan(&n))
	return n
}

// alone waits until this is the only session of the database.
func (a *attic) alone() {
	a.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); count(a.t, a.db,
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'") > 1; {
		if time.Now().After(deadline) {
			a.t.Fatal("a closed session has not ended")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestASweepFindsItsRowsByIndex: none of its statements reads the key table from end to end.
func TestASweepFindsItsRowsByIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		a.fill(20000, a.messages, 10*time.Hour)
		a.exec("INSERT INTO idempotency_keys SELECT " + a.opaqueCopy() + " FROM idempotency_keys")
		a.exec("ANALYZE")
		a.clock.Move(2*day + 6*time.Hour)
		statements := store.SweepStatements(a.db)
		if len(statements) < 6 {
			t.Fatalf("only %d statements", len(statements))
		}
		for _, s := range statements {
			plan := a.explain(s.Query, s.Args)
			scans := strings.Contains(plan, "Seq Scan on idempotency_keys") || strings.Contains(plan, "SCAN idempotency_keys") && !strings.Contains(plan, "USING")
			if scans || !strings.Contains(plan, "idempotency_keys") {
				t.Errorf("%s\n%s", s.Query, plan)
			}
		}
	})
}

func (a *attic) explain(query string, args []any) string {
	a.t.Helper()
	word, column := "EXPLAIN QUERY PLAN ", 3
	if a.db.Postgres() {
		word, column = "EXPLAIN ", 0
	}
	rows, err := a.db.SQL().QueryContext(a.t.Context(), word+query, args...)
	must(a.t, err)
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	must(a.t, err)
	var plan strings.Builder
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		must(a.t, rows.Scan(into...))
		fmt.Fprintln(&plan, values[column])
	}
	must(a.t, rows.Err())
	return plan.String()
}
