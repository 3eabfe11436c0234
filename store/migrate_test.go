package store_test

import (
	"testing"

	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestAChangeOfTheTablesLetsTheShopPassAndTriesAgain: a release that starts while others use the tables does
// not give up when it cannot have its lock, and holds nobody up while it waits.
func TestAChangeOfTheTablesLetsTheShopPassAndTriesAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct{ missing, lock string }{
		// The newest one: an older one would be missed out of its order.
		"a migration": {"DROP INDEX mismatches_open, mismatches_explained; CREATE INDEX mismatches_by_time ON mismatches (last_at); DELETE FROM goose_db_version WHERE version_id = 14", "LOCK TABLE goose_db_version IN SHARE MODE"},
		"a new day": {`DO $$ BEGIN EXECUTE 'DROP TABLE ' || (SELECT max(inhrelid::regclass::text) FROM pg_inherits
			WHERE inhparent = 'idempotency_keys'::regclass AND inhrelid::regclass::text ~ '_[0-9]+$'); END $$`,
			"LOCK TABLE idempotency_keys IN ACCESS SHARE MODE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := storetest.Postgres(t)
			running := storetest.Seeded(t, d, nil)
			exec := func(statement string) {
				t.Helper()
				_, err := running.SQL().ExecContext(t.Context(), statement)
				must(t, err)
			}
			exec(change.missing)
			busy, err := running.SQL().BeginTx(t.Context(), nil)
			must(t, err)
			defer func() { _ = busy.Rollback() }() // ends the lock, whatever happens
			_, err = busy.ExecContext(t.Context(), change.lock)
			must(t, err)

			opened := make(chan error, 1)
			go func() {
				db, err := store.Open(t.Context(), store.Config{URL: d.URL})
				if err == nil {
					err = db.Close()
				}
				opened <- err
			}()
			waits := func() (waits bool) {
				must(t, running.SQL().QueryRowContext(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_database b ON b.oid = l.database
					WHERE NOT granted AND b.datname = current_database())`).Scan(&waits))
				return waits
			}
			for range 3 {
				eventually(t, waits)
				eventually(t, func() bool { return !waits() })
				_, _, err := running.Claim(t.Context(), scope(t))
				must(t, err)
			}
			must(t, busy.Rollback())
			must(t, <-opened)
		})
	}
}
