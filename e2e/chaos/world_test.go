package chaos

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// world is the replicas of the shop with everything around them, a bad link between each two, and the
// witnesses of what they did.
type world struct {
	postgres, redis, provider *server // no Postgres and no Redis with SQLite
	sqlite                    bool
	disk                      *disk  // of Postgres, or of the SQLite file
	clock                     *clock // of Postgres
	database                  string // address of Postgres, past every link
	bank                      string // address of the provider, the same
	streams                   []stream
	replicas                  []*replica
	fronts                    []*link // between the clients and each replica
	links                     []*link // all of them
	history                   *history
	diary                     diary
	mails, events             sink
	customersEnd              sync.WaitGroup
	sql                       *sql.DB       // past every link
	cache                     *redis.Client // the same; nil without Redis

	mu         sync.Mutex
	fired      map[string]int // by nemesis
	violations []violation
	healed     time.Time     // zero while there is trouble
	slowest    time.Duration // of the final answers
	recovered  time.Duration // from healing to the last final answer
}

type violation struct {
	Invariant string `json:"invariant"`
	Story     string `json:"story"`
}

// lease is that of the shop under test: the 30 s of the product would make every run a wait.
const lease = 2 * time.Second

// lookAfter is when the shop goes on with a key whose client has not come back, after its lease.
const lookAfter = 5 * time.Second

// recoveryBound is how long after healing everything must be final: the lease, the longest call of the
// provider and a retry fit in.
const recoveryBound = 12 * time.Second

// newWorld is two replicas with Postgres and Redis.
func newWorld(t *testing.T, dir string) *world {
	t.Helper()
	w := emptyWorld(t, dir)
	w.clock = newClock(t, dir)
	w.postgres, w.database = newPostgres(t, dir, w.disk, w.clock, *fsync)
	w.redis, w.cache = newRedis(t, dir)
	toPostgres, toRedis := newLink(t, "app-postgres", w.postgres.addr), newLink(t, "app-redis", w.redis.addr)
	w.links = append(w.links, toPostgres, toRedis)
	w.openReplicas(t, dir, []string{"a", "b"}, map[string]string{
		"DATABASE_URL": "postgres://postgres@" + toPostgres.addr + "/postgres?sslmode=disable", "DATABASE_POOL": strconv.Itoa(poolSize),
		"REDIS_URL": "redis://" + toRedis.addr + "/0", "DATA_DIR": dir,
	})
	w.witness(t, "pgx", w.database)
	w.prepare(t)
	clocks := []nemesis{{"clock of Postgres ahead, and a kill", jumps(jump)}, {"clock of Postgres behind, and a kill", jumps(-jump)}}
	w.streams = []stream{
		{pause: 600 * time.Millisecond, replicas: true, all: append(ofReplicas(failpoints), clocks...)},
		{pause: 1200 * time.Millisecond, beside: 1, all: ofPostgres()},
		{pause: 1500 * time.Millisecond, beside: 1, all: ofRedis()},
		{pause: 3 * time.Second, beside: 1, all: ofMigrations()},
		{pause: 600 * time.Millisecond, beside: 2, all: ofLinks("client-app", "app-postgres", "app-redis", "app-provider", "provider-app")},
	}
	return w
}

// newSmallWorld is one replica with its SQLite file, and no Redis.
func newSmallWorld(t *testing.T, dir string) *world {
	t.Helper()
	w := emptyWorld(t, dir)
	w.sqlite = true
	data := w.disk.folder(t, "data")
	w.openReplicas(t, dir, []string{"a"}, map[string]string{"DATA_DIR": data})
	w.witness(t, "sqlite", "file:"+filepath.Join(data, "eenmaal.db")+"?_pragma=busy_timeout(10000)")
	w.sql.SetMaxIdleConns(0) // a second process with the file open would change what a crash leaves behind
	w.prepare(t)
	w.streams = []stream{
		{pause: 500 * time.Millisecond, beside: 1, all: ofSQLite()},
		{pause: 500 * time.Millisecond, replicas: true, all: ofReplicas([]string{"before_commit", "after_commit", "after_charge", "before_write"})},
		{pause: 500 * time.Millisecond, beside: 2, all: ofLinks("client-app", "app-provider", "provider-app")},
	}
	return w
}

func emptyWorld(t *testing.T, dir string) *world {
	t.Helper()
	w := &world{fired: map[string]int{}, history: newHistory(t, filepath.Join(dir, "history.jsonl")), disk: newDisk(t, dir)}
	var err error
	if w.diary.file, err = os.Create(filepath.Join(dir, "schedule")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.diary.file.Close() })
	w.bank = freeAddress(t)
	w.links = []*link{newLink(t, "app-provider", w.bank)}
	return w
}

// openReplicas starts the shop, with these settings and those that all have, and the provider.
func (w *world) openReplicas(t *testing.T, dir string, names []string, env map[string]string) {
	t.Helper()
	maps.Copy(env, map[string]string{
		"PSP_URL": "http://" + w.links[0].addr, "PSP_PUBLIC_URL": "http://" + w.bank,
		"BASE_URL": "http://shop.example", "SMTP_URL": "smtp://" + newMailServer(t, &w.mails),
		"RATE_LIMIT": "0", "RATE_LIMIT_ADDRESS": "0", "MAX_LIVE_KEYS": "0", "SHUTDOWN_TIMEOUT": "4s", "LEASE": lease.String(),
	})
	var addresses []string
	for _, name := range names {
		one := newReplica(t, dir, "replica-"+name, env)
		if !one.awaitReady(30 * time.Second) {
			t.Fatalf("%s does not become ready, see %s", one.name, one.log.Name())
		}
		w.replicas, addresses = append(w.replicas, one), append(addresses, one.addr)
		w.fronts = append(w.fronts, newLink(t, "client-app-"+name, one.addr))
	}
	news := newLink(t, "provider-app", addresses...)
	w.links = append(append(w.links, w.fronts...), news)
	settings := map[string]string{"ADDR": w.bank, "DATA_DIR": filepath.Join(dir, "provider"), "BASE_URL": "http://shop.example",
		"PSP_PUBLIC_URL": "http://" + w.bank, "PSP_WEBHOOK_URL": "http://" + news.addr + "/v1/webhooks/simulated"}
	w.provider = open(t, dir, &server{
		name: "provider", addr: w.bank, command: func() (*exec.Cmd, error) { return shopCommand(settings, "psp"), nil },
		ready: func(context.Context) error {
			_, err := ledger(w.bank, "x")
			return err
		},
	})
}

// witness looks into the database past every link.
func (w *world) witness(t *testing.T, driver, source string) {
	t.Helper()
	var err error
	if w.sql, err = sql.Open(driver, source); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.sql.Close() })
}

// plenty is the stock of everything but the lamp, of which there are too few for all who want one.
const (
	plenty = 1_000_000
	lamps  = 60
)

// prepare fills the shelves and lets both consumers be told of what happens.
func (w *world) prepare(t *testing.T) {
	t.Helper()
	fill := fmt.Sprintf("UPDATE products SET stock = CASE sku WHEN 'lamp' THEN %d ELSE %d END", lamps, plenty)
	if _, err := w.sql.ExecContext(t.Context(), fill); err != nil {
		t.Fatal(err)
	}
	receiver := newReceiver(t, &w.events)
	for _, consumer := range []string{"alpha", "beta"} {
		got, ok := w.perform(operation{consumer: consumer, endpoint: "POST /v1/webhook-endpoints", path: "/v1/webhook-endpoints",
			key: newKey(), body: fmt.Sprintf(`{"url":"%s/%s"}`, receiver, consumer), print: "receiver"})
		if !ok || got.Status != http.StatusCreated {
			t.Fatalf("the webhook endpoint is answered with %d %s", got.Status, got.body)
		}
	}
}

// newKey makes an idempotency key as clients should: a UUIDv7.
func newKey() string { return uuid.Must(uuid.NewV7()).String() }

func (w *world) fire(nemesis string, times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fired[nemesis] += times
}

func (w *world) firings() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.fired)
}

func (w *world) violation(invariant, story string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, violation{invariant, fmt.Sprintf(story, args...)})
}

// heal undoes every fault: whatever is broken from now on is the shop's doing.
func (w *world) heal() {
	for _, l := range w.links {
		l.set(fine)
		l.breakAll()
	}
	for _, r := range w.replicas {
		if process, _ := r.life(); r.hasRule() {
			terminate(process)
		}
	}
	w.mu.Lock()
	w.healed = time.Now()
	w.mu.Unlock()
	for _, r := range w.replicas {
		if !r.awaitReady(recoveryBound) {
			w.violation("I12", "%s is not ready %s after healing", r.name, recoveryBound)
		}
	}
	if w.postgres != nil {
		w.undoMigrations()
	}
}

// overdue reports whether what began then must have ended by now.
func (w *world) overdue(begin time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.healed.IsZero() {
		return false
	}
	if begin.Before(w.healed) {
		begin = w.healed
	}
	return time.Since(begin) > recoveryBound
}

// answered notes how long a client took to get its final answer.
func (w *world) answered(took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slowest = max(w.slowest, took)
	if !w.healed.IsZero() && took > time.Since(w.healed) {
		w.recovered = max(w.recovered, time.Since(w.healed))
	}
}
