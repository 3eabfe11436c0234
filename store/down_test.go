package store_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestAClosedDatabaseIsDown: a request that outlives the shutdown is told to come again, to another process.
func TestAClosedDatabaseIsDown(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := storetest.Seeded(t, d, nil)
		must(t, db.Close())
		if _, err := db.Products(t.Context()); !store.IsDown(err) {
			t.Errorf("a read: %v is not taken for a database that is down", err)
		}
		tx := db.Begin()
		tx.Flag("test", "something", "")
		if err := tx.Commit(t.Context()); !store.IsDown(err) {
			t.Errorf("a commit: %v is not taken for a database that is down", err)
		}
	})
}

// TestAFullDiskIsDown: SQLite says so in its own way.
func TestAFullDiskIsDown(t *testing.T) {
	t.Parallel()
	d := storetest.SQLite(t)
	d.Pool = 1 // the limit belongs to a connection
	db := d.Open(t, time.Now)
	var pages int
	must(t, db.SQL().QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages))
	_, err := db.SQL().ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	must(t, err)
	for i := 0; err == nil && i < 10_000; i++ {
		tx := db.Begin()
		tx.Flag("test", fmt.Sprint(i), "something that takes some room")
		err = tx.Commit(t.Context())
	}
	if !store.IsDown(err) {
		t.Errorf("%v is not taken for a database that is down", err)
	}
}
