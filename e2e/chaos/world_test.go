package chaos

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// world is two replicas of the shop with everything around them, a bad link between each two, and the
// witnesses of what they did.
type world struct {
	postgres, redis, provider *server
	replicas                  []*replica
	fronts                    []*link // between the clients and each replica
	links                     []*link // all of them
	history                   *history
	mails, events             sink
	customersEnd              sync.WaitGroup
	sql                       *sql.DB       // past every link
	cache                     *redis.Client // the same

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

// recoveryBound is how long after healing everything must be final: the lease, the longest call of the
// provider and a retry fit in.
const recoveryBound = 12 * time.Second

func newWorld(t *testing.T, dir string) *world {
	t.Helper()
	w := &world{fired: map[string]int{}, history: newHistory(t, filepath.Join(dir, "history.jsonl"))}
	var database string
	w.postgres, database = newPostgres(t, dir, *fsync)
	w.redis, w.cache = newRedis(t, dir)
	toPostgres, toRedis := newLink(t, "app-postgres", w.postgres.addr), newLink(t, "app-redis", w.redis.addr)
	bank := freeAddress(t)
	toProvider := newLink(t, "app-provider", bank)
	w.links = []*link{toPostgres, toRedis, toProvider}

	env := map[string]string{
		"DATABASE_URL": "postgres://postgres@" + toPostgres.addr + "/postgres?sslmode=disable",
		"REDIS_URL":    "redis://" + toRedis.addr + "/0", "PSP_URL": "http://" + toProvider.addr, "PSP_PUBLIC_URL": "http://" + bank,
		"BASE_URL": "http://shop.example", "SMTP_URL": "smtp://" + newMailServer(t, &w.mails), "DATA_DIR": dir,
		"RATE_LIMIT": "0", "RATE_LIMIT_ADDRESS": "0", "MAX_LIVE_KEYS": "0", "SHUTDOWN_TIMEOUT": "4s", "LEASE": lease.String(),
	}
	for _, name := range []string{"a", "b"} {
		one := newReplica(t, dir, "replica-"+name, env)
		if !one.awaitReady(30 * time.Second) {
			t.Fatalf("%s does not become ready, see %s", one.name, one.log.Name())
		}
		w.replicas = append(w.replicas, one)
		w.fronts = append(w.fronts, newLink(t, "client-app-"+name, one.addr))
	}
	news := newLink(t, "provider-app", w.replicas[0].addr, w.replicas[1].addr)
	w.links = append(append(w.links, w.fronts...), news)
	settings := map[string]string{"ADDR": bank, "DATA_DIR": filepath.Join(dir, "provider"), "BASE_URL": "http://shop.example",
		"PSP_PUBLIC_URL": "http://" + bank, "PSP_WEBHOOK_URL": "http://" + news.addr + "/v1/webhooks/simulated"}
	w.provider = open(t, dir, &server{
		name: "provider", addr: bank, command: func() (*exec.Cmd, error) { return shopCommand(settings, "psp"), nil },
		ready: func(context.Context) error {
			_, err := ledger(bank, "x")
			return err
		},
	})
	w.prepare(t, database)
	return w
}

// plenty is the stock of everything but the lamp, of which there are too few for all who want one.
const (
	plenty = 1_000_000
	lamps  = 60
)

// prepare fills the shelves and lets both consumers be told of what happens.
func (w *world) prepare(t *testing.T, database string) {
	t.Helper()
	var err error
	if w.sql, err = sql.Open("pgx", database); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.sql.Close() })
	if _, err := w.sql.ExecContext(t.Context(), "UPDATE products SET stock = CASE sku WHEN 'lamp' THEN $1::bigint ELSE $2::bigint END", lamps, plenty); err != nil {
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
