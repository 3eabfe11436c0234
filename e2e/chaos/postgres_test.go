package chaos

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// ofPostgres hurt the database server.
func ofPostgres() []nemesis {
	return append(ofDatabase(), []nemesis{
		{"freeze Postgres", func(w *world, _ *replica, d time.Duration) int { w.postgres.frozen(d); return 1 }},
		{"crash Postgres", func(w *world, _ *replica, d time.Duration) int {
			w.postgres.kill()
			time.Sleep(min(d, 300*time.Millisecond))
			return w.again(w.postgres)
		}},
		{"disk of Postgres full", func(w *world, _ *replica, d time.Duration) int { return fullDisk(w, d, func() {}) }},
		{"crash Postgres on a full disk", func(w *world, _ *replica, d time.Duration) int { return fullDisk(w, d, w.postgres.kill) }},
		{"end all sessions of Postgres", func(w *world, _ *replica, _ time.Duration) int {
			ctx, cancel := context.WithTimeout(context.Background(), longest)
			defer cancel()
			return endSessions(ctx, w.sql)
		}},
		{"pools exhausted", func(w *world, _ *replica, d time.Duration) int { return exhaustPools(w, d) }},
		{"no connection left at Postgres", func(w *world, _ *replica, d time.Duration) int { return takeConnections(w, d) }},
	}...)
}

// fullDisk leaves Postgres no room, does something at the worst moment, and gives the room back. A
// Postgres that could not write its log ends: somebody starts it again.
func fullDisk(w *world, d time.Duration, worst func()) int {
	met := w.disk.full(d, watch(w.postgres.log, "No space left on device"))
	worst()
	w.disk.empty()
	if !w.postgres.alive() {
		w.again(w.postgres)
	}
	return met
}

// endSessions ends those of the shop and tells how many there were.
func endSessions(ctx context.Context, on interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (n int) {
	_ = on.QueryRowContext(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'eenmaal'").Scan(&n)
	return n
}

// poolSize is small enough for the customers to want more than the connections of a replica.
const poolSize = 4

// exhaustPools locks what every request needs, until somebody has waited for a connection of his replica.
func exhaustPools(w *world, d time.Duration) (waits int) {
	for begin := time.Now(); waits == 0 && time.Since(begin) < 2*longest; time.Sleep(50 * time.Millisecond) {
		before := w.poolWaits()
		w.lockedKeys(time.Second + d)
		for process, n := range w.poolWaits() {
			waits += n - before[process]
		}
	}
	return waits
}

// lockedKeys runs for a while without letting anybody read or write a key.
func (w *world) lockedKeys(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	tx, err := w.sql.BeginTx(ctx, nil)
	if err != nil {
		return
	}
	defer func() { _ = tx.Rollback() }() // it is over in any way
	if _, err := tx.ExecContext(ctx, "LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE"); err == nil {
		<-ctx.Done()
	}
}

// poolWaits tells of each process that answers how often somebody in it has waited for a connection.
func (w *world) poolWaits() map[string]int {
	waits := map[string]int{}
	for _, r := range w.replicas {
		process, _ := r.life()
		if n, err := r.reading(`go_sql_wait_count_total{db_name="shop"}`); err == nil {
			waits[fmt.Sprint(r.name, process.Pid)] = n
		}
	}
	return waits
}

// takeConnections leaves the shop none, and tells how often it was refused one.
func takeConnections(w *world, d time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), 2*longest)
	defer cancel()
	all, err := sql.Open("pgx", w.database)
	if err != nil {
		return 0
	}
	defer func() { _ = all.Close() }() // gives all back
	first, err := all.Conn(ctx)
	if err != nil {
		return 0
	}
	defer func() { _ = first.Close() }()
	all.SetMaxIdleConns(0)
	met, ours := watch(w.postgres.log, "sorry, too many clients already"), 0
	refused := func() int { return met() - ours }
	for begin := time.Now(); time.Since(begin) < longest && ctx.Err() == nil; {
		endSessions(ctx, first)
		for range maxConnections {
			conn, err := all.Conn(ctx)
			if err != nil {
				ours++
				break
			}
			defer func() { _ = conn.Close() }()
		}
		if refused() > 0 && time.Since(begin) > d {
			break
		}
	}
	return max(refused(), 0)
}

// migration is a change of the tables that an operator makes while the shop is open, and takes back.
type migration struct {
	name     string
	do, undo []string
}

var migrationsUnderLoad = []migration{
	{"adds a column", []string{"ALTER TABLE orders ADD COLUMN chaos bigint NOT NULL DEFAULT 0"}, []string{"ALTER TABLE orders DROP COLUMN IF EXISTS chaos"}},
	{"adds an index", []string{"CREATE INDEX CONCURRENTLY chaos_index ON payments (created_at)"}, []string{"DROP INDEX CONCURRENTLY IF EXISTS chaos_index"}},
	{"adds and detaches a day of keys", []string{
		`CREATE TABLE chaos_day PARTITION OF idempotency_keys FOR VALUES FROM ('00000000-0001-7000-8000-000000000000') TO ('00000000-0002-7000-8000-000000000000')`,
		`ALTER TABLE idempotency_keys DETACH PARTITION chaos_day CONCURRENTLY`,
	}, []string{"DROP TABLE IF EXISTS chaos_day"}},
}

// ofMigrations change the tables under load.
func ofMigrations() (list []nemesis) {
	for _, m := range migrationsUnderLoad {
		list = append(list, nemesis{"migration " + m.name, func(w *world, _ *replica, _ time.Duration) int {
			ctx, cancel := context.WithTimeout(context.Background(), 3*longest)
			defer cancel()
			if w.migrate(ctx, slices.Concat(m.undo, m.do)) != nil { // an earlier try may have left a part
				return 0
			}
			_ = w.migrate(ctx, m.undo) // what is left is undone in the end
			return 1
		}})
	}
	return list
}

// migrate makes all changes as an operator should: each waits for its lock for a moment only, and when
// it cannot be had, the shop passes and all begins anew.
func (w *world) migrate(ctx context.Context, changes []string) error {
	for {
		err := w.tryMigration(ctx, changes)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

func (w *world) tryMigration(ctx context.Context, changes []string) error {
	conn, err := w.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "RESET lock_timeout") }() // a dead one needs no reset
	for _, change := range slices.Concat([]string{"SET lock_timeout = '300ms'"}, changes) {
		if _, err := conn.ExecContext(ctx, change); err != nil {
			return fmt.Errorf("%s: %w", change, err)
		}
	}
	return nil
}

// undoMigrations leaves the tables as they were.
func (w *world) undoMigrations() {
	ctx, cancel := context.WithTimeout(context.Background(), recoveryBound)
	defer cancel()
	for _, m := range migrationsUnderLoad {
		if err := w.migrate(ctx, m.undo); err != nil {
			w.violation("harness", "%v", err)
		}
	}
}
