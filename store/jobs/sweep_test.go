package jobs_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
	"example.com/eenmaal/store/storetest"
)

// TestTheKeyTableIsSweptOnceHoweverManyProcesses: the job is made at the start, by one of them.
func TestTheKeyTableIsSweptOnceHoweverManyProcesses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, time.Now)
		_, err := db.Endpoints(t.Context(), []string{"POST /things"})
		if err != nil {
			t.Fatal(err)
		}
		var sweeps atomic.Int64
		expiry := jobs.Expiry{
			Rules: func() []store.SweepRule {
				return []store.SweepRule{{Endpoint: "POST /things", TTL: time.Hour, Tombstone: 2 * time.Hour}}
			},
			Swept: func(store.Swept) { sweeps.Add(1) },
		}
		for restart := range 2 {
			queue, err := jobs.New(t.Context(), jobs.Config{DB: db, ListenURL: d.URL, Expiry: expiry})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(queue.Close)
			if err := queue.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(30 * time.Second); sweeps.Load() == 0; {
				if time.Now().After(deadline) {
					t.Fatalf("start %d: nothing was swept", restart)
				}
				time.Sleep(20 * time.Millisecond)
			}
			stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if err := queue.Stop(stop); err != nil {
				t.Fatal(err)
			}
		}
		var made, failed int
		must(t, db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM river_job WHERE kind = 'sweep_keys'").Scan(&made))
		must(t, db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM river_job WHERE kind = 'sweep_keys' AND state <> 'completed'").Scan(&failed))
		if made > 2 || failed != 0 { // two when the ten minutes end between the starts
			t.Errorf("%d jobs, %d of them failed or waiting", made, failed)
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
