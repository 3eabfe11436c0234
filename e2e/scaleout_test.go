package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// fleet is three replicas behind one door, on one Postgres and a Redis Cluster of three servers.
type fleet struct {
	*world
	door     *door
	redis    redisCluster
	replicas []*process
}

// scaleoutTime is how long customers order and pay at least.
const scaleoutTime = 20 * time.Second

// Replicas are replaced one by one, a server of Redis is killed, and the tables change, while customers
// order and pay. No answer but one that asks for a retry is bad, and in the end all is as if one process
// had done it: one order and one answer per key, one charge and one mail per paid order.
func TestThreeReplicasAreOneShop(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	traffic := startTraffic(t, f.door.url, 5)
	begin := time.Now()
	eventually(t, patience, func() string { return "orders flow" }, func() bool { return traffic.settled() >= 20 })

	traffic.flowsDuring("the first replica is replaced", func() { f.replace(0) })
	traffic.flowsDuring("the tables change", f.changeTables)
	traffic.flowsDuring("a server of Redis is killed", f.redis[1].kill)
	traffic.flowsDuring("the second replica is replaced", func() { f.replace(1) })
	traffic.flowsDuring("the server of Redis comes back", func() { f.redis[1].start(t); f.redis.await(t) })
	traffic.flowsDuring("the third replica is replaced", func() { f.replace(2) })
	eventually(t, scaleoutTime, func() string { return "time passes" }, func() bool { return time.Since(begin) > scaleoutTime })
	traffic.finish()
	took := time.Since(begin)

	f.awaitRest()
	f.wantsOneOfEach(traffic)
	f.wantsSameAnswers(traffic)
	c := traffic.counts
	t.Logf("in %s: %d requests for %d keys, %d of them twice at once (%d on two replicas), %d replays, %d mismatches; 3 restarts; retries %v; "+
		"%d requests without an answer at the door; slowest final answer %s", took.Round(time.Second), c.requests, len(traffic.asked),
		c.duplicates, c.elsewhere, c.replays, c.mismatches, traffic.retries, f.door.lost.Load(), c.slowest.Round(time.Millisecond))
	if len(traffic.asked) < 100 || c.elsewhere < 20 || c.replays == 0 || c.mismatches == 0 {
		t.Error("that is too little: the test is void")
	}
	keepFigures(t, "scaleout", scaleoutFigures{Replicas: len(f.replicas), Restarts: len(f.replicas), Seconds: took.Seconds(), Requests: c.requests, Keys: len(traffic.asked),
		Twins: c.duplicates, Elsewhere: c.elsewhere, Replays: c.replays, Mismatches: c.mismatches, Unanswered: f.door.lost.Load(), Slowest: c.slowest.Seconds(), Failed: t.Failed()})
}

// scaleoutFigures is what the customers of several replicas saw.
type scaleoutFigures struct {
	Replicas   int     `json:"replicas"`
	Restarts   int     `json:"restarts"`
	Seconds    float64 `json:"seconds"`
	Requests   int     `json:"requests"`
	Keys       int     `json:"keys"`
	Twins      int     `json:"twice_at_once"`
	Elsewhere  int     `json:"twice_at_once_on_two_replicas"`
	Replays    int     `json:"replays"`
	Mismatches int     `json:"mismatches"`
	Unanswered int64   `json:"requests_without_an_answer"`
	Slowest    float64 `json:"slowest_answer_seconds"`
	Failed     bool    `json:"failed"`
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{world: &world{t: t, db: database{url: newPostgres(t)}}, redis: newRedisCluster(t)}
	addrs := []string{freeAddress(), freeAddress(), freeAddress()}
	f.door = newDoor(t, addrs...)
	f.psp = start(t, settings{"DATA_DIR": t.TempDir(), "BASE_URL": f.door.url, "PSP_WEBHOOK_URL": f.door.url + "/v1/webhooks/simulated"}, "psp")
	f.env = settings{"DATABASE_URL": f.db.url, "DATABASE_POOL": "8", "REDIS_URL": f.redis.url(), "BASE_URL": f.door.url,
		"PSP_URL": "http://" + f.psp.addr, "DRAIN_DELAY": "500ms", "RATE_LIMIT": "100000"}
	f.replicas = make([]*process, len(addrs))
	var started sync.WaitGroup // together: they all want to make the tables
	for i, addr := range addrs {
		started.Go(func() { f.replicas[i] = f.replica(addr) })
	}
	started.Wait()
	if slices.Contains(f.replicas, nil) {
		t.FailNow()
	}
	f.sql = f.db.open(t)
	eventually(t, patience, func() string { return "all replicas are ready" }, f.door.allReady)
	return f
}

// replica starts one, or gives nil: the test has failed.
func (f *fleet) replica(addr string) *process {
	env := maps.Clone(f.env)
	env["ADDR"], env["DATA_DIR"] = addr, f.t.TempDir()
	p, err := startProcess(nil, env)
	if err != nil {
		f.t.Error(err)
		return nil
	}
	f.t.Cleanup(func() {
		p.kill()
		if f.t.Failed() {
			f.t.Logf("%s printed:\n%s", addr, p.out)
		}
	})
	return p
}

// replace asks a replica to stop and starts another in its place.
func (f *fleet) replace(i int) {
	f.t.Helper()
	old := f.replicas[i]
	if err := old.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		f.t.Fatal(err)
	}
	if status := old.exit(f.t, 25*time.Second); status != 0 {
		f.t.Errorf("a replica that was asked to stop exits with %d", status)
	}
	if f.replicas[i] = f.replica(old.addr); f.replicas[i] == nil {
		f.t.FailNow()
	}
	eventually(f.t, patience, func() string { return "the door uses the new replica" }, f.door.allReady)
}

// changeTables is a migration as the next release may have it: a new column, a new index, a day less.
// Each step waits for locks for a moment only, so that the shop does not wait behind it, and tries again.
func (f *fleet) changeTables() {
	f.t.Helper()
	conn, err := f.sql.Conn(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var day string
	if err := conn.QueryRowContext(f.t.Context(), "SELECT min(inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'idempotency_keys'::regclass").Scan(&day); err != nil {
		f.t.Fatal(err)
	}
	f.patiently(conn, "SET lock_timeout = '300ms'")
	for _, table := range []string{"idempotency_keys", "orders", "order_lines", "products", "payments", "mails", "events", "inbox", "consumers"} {
		f.patiently(conn, "ALTER TABLE "+table+" ADD COLUMN later text NOT NULL DEFAULT ''")
	}
	f.patiently(conn, "CREATE INDEX CONCURRENTLY orders_by_later ON orders (later)", "DROP INDEX CONCURRENTLY IF EXISTS orders_by_later")
	f.patiently(conn, "ALTER TABLE idempotency_keys DETACH PARTITION "+day+" CONCURRENTLY", "ALTER TABLE idempotency_keys DETACH PARTITION "+day+" FINALIZE")
	f.patiently(conn, "DROP TABLE "+day)
	var valid bool
	if err := conn.QueryRowContext(f.t.Context(), "SELECT indisvalid FROM pg_index WHERE indexrelid = 'orders_by_later'::regclass").Scan(&valid); err != nil || !valid {
		f.t.Errorf("the new index is not valid: %v", err)
	}
}

// patiently repeats a statement that could not have its lock. Before that comes what takes away the half
// of it that is left, if any is; it has the same patience.
func (f *fleet) patiently(conn *sql.Conn, statement string, undo ...string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	begin := time.Now()
	for try := 1; ; try++ {
		_, err := conn.ExecContext(ctx, statement)
		if err == nil {
			f.t.Logf("%s: try %d, %s", statement, try, time.Since(begin).Round(time.Millisecond))
			return
		}
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "55P03" {
			f.t.Fatalf("%s: %v", statement, err)
		}
		for _, statement := range undo {
			_, _ = conn.ExecContext(ctx, statement) // the statement's next try tells
		}
	}
}

// awaitRest waits until nothing is left to do.
func (f *fleet) awaitRest() {
	f.t.Helper()
	for _, query := range []string{
		"SELECT count(*) FROM idempotency_keys WHERE state < 3",
		"SELECT count(*) FROM inbox WHERE state NOT IN ('applied', 'superseded')",
		"SELECT count(*) FROM river_job WHERE state <> 'completed'",
	} {
		eventually(f.t, time.Minute, func() string { return fmt.Sprintf("%s gives 0; it gives %d", query, f.number(query)) },
			func() bool { return f.number(query) == 0 })
	}
}

// wantsOneOfEach compares the shop's tables with what the customers saw and with the provider's ledger.
func (f *fleet) wantsOneOfEach(tr *traffic) {
	f.t.Helper()
	orders, paid := 0, 0
	for _, a := range tr.asked {
		switch {
		case a.path == "/v1/orders" && a.status == http.StatusCreated:
			orders++
		case a.path == "/v1/payments" && a.status == http.StatusCreated:
			paid++
		case a.path == "/v1/payments" && a.status == http.StatusPaymentRequired:
		default:
			f.t.Errorf("%s is answered with %s", a.path, a.answer)
		}
	}
	for query, want := range map[string]int{
		"SELECT count(*) FROM orders":                                                 orders,
		"SELECT count(DISTINCT (key, consumer_id)) FROM orders":                       orders,
		"SELECT count(*) FROM orders WHERE status = 'paid'":                           paid,
		"SELECT count(*) FROM payments WHERE status = 'paid'":                         paid,
		"SELECT count(*) FROM mails":                                                  paid,
		"SELECT count(DISTINCT m.about) FROM mails m JOIN orders o ON o.id = m.about": paid,
		"SELECT count(*) FROM idempotency_keys WHERE state = 3":                       len(tr.asked),
		"SELECT count(*) FROM attention":                                              0,
		"SELECT count(*) FROM payments p JOIN orders o ON o.id = p.order_id WHERE p.status = 'paid' AND (p.amount <> o.total OR o.status <> 'paid')": 0,
	} {
		if got := f.number(query); got != want {
			f.t.Errorf("%s gives %d, want %d", query, got, want)
		}
	}
	f.stockAddsUp()
	f.ledgersAgree()
}

// ledgersAgree: for every order the provider keeps the money that the shop says, of one charge.
func (f *fleet) ledgersAgree() {
	f.t.Helper()
	rows, err := f.sql.QueryContext(f.t.Context(), `SELECT o.number, coalesce(sum(p.captured), 0) FROM orders o LEFT JOIN payments p ON p.order_id = o.id GROUP BY o.number`)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var number string
		var ours int
		if err := rows.Scan(&number, &ours); err != nil {
			f.t.Fatal(err)
		}
		theirs, charged := 0, 0
		for _, c := range ledger(f.t, f.psp.addr, number) {
			theirs += c.Captured
			if c.Captured > 0 {
				charged++
			}
		}
		if theirs != ours || charged > 1 {
			f.t.Errorf("of order %s we have %d, and the provider %d of %d charges", number, ours, theirs, charged)
		}
	}
	if err := rows.Err(); err != nil {
		f.t.Fatal(err)
	}
}

// wantsSameAnswers asks every replica for every answer; then a new one, whose memory is empty, with
// Redis emptied too: what it gives comes from the database.
func (f *fleet) wantsSameAnswers(tr *traffic) {
	f.t.Helper()
	for _, replica := range f.replicas {
		f.repeatAll(tr, replica)
	}
	copies := f.redis.flush(f.t)
	if slices.Min(copies) == 0 {
		f.t.Errorf("the servers of Redis had %v keys: one was not used", copies)
	}
	f.replace(0)
	f.redis.flush(f.t) // the old one may have copied something on its way out
	f.repeatAll(tr, f.replicas[0])
	f.t.Logf("%d answers, the same from every replica and from the database alone; the servers of Redis had %v keys", len(tr.asked), copies)
}

func (f *fleet) repeatAll(tr *traffic, replica *process) {
	f.t.Helper()
	for _, a := range tr.asked {
		if again := tr.settle("http://"+replica.addr, a.path, a.key, a.body); again != nil {
			tr.same(a, again)
		}
	}
}
