package idempotent_test

import (
	"context"
	"errors"
	"flag"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestRandomHistoriesKeepThePromise lets random histories run against a model of a few lines: requests
// of two consumers with few keys and few bodies, duplicates, errors, panics and kills at every point,
// a provider that fails in both ways, restarts, dropped memories, leases that end and a clock that
// goes on.
//
// For every consumer, endpoint and key: at most one effect here and at the provider, every answer the
// same bytes, another body refused if and only if the key is bound, and nothing run after its time.
func TestRandomHistoriesKeepThePromise(t *testing.T) {
	for _, d := range []struct {
		name     string
		database func(testing.TB) storetest.Database
		share    int // of the usual number of histories; a commit costs more there
	}{{"SQLite", storetest.SQLite, 1}, {"Postgres", storetest.Postgres, 4}} {
		t.Run(d.name, func(t *testing.T) {
			checks := flag.Lookup("rapid.checks").Value
			usual := checks.String()
			n, err := strconv.Atoi(usual)
			must(t, err)
			must(t, checks.Set(strconv.Itoa(max(n/d.share, 1))))
			defer func() { must(t, checks.Set(usual)) }()
			var clock storetest.Clock
			db := d.database(t).Open(t, clock.Now)
			_, err = db.SQL().ExecContext(t.Context(), "CREATE TABLE effects (name text NOT NULL, attempt text NOT NULL)")
			must(t, err)
			rapid.Check(t, func(rt *rapid.T) {
				w := newWorld(rt, db, &clock)
				defer func() { clock.Move(-w.moved) }()
				rt.Repeat(map[string]func(*rapid.T){
					"call": w.call, "storm": w.storm, "restart": func(rt *rapid.T) { w.restart(rt) },
					"leases end": w.endLeases, "time passes": w.pass, "complete": w.complete, "": w.check,
				})
			})
		})
	}
}

const modelTTL = 23*time.Hour + 30*time.Minute

// world is a shop with one operation of each kind, and the model that it is compared with.
type world struct {
	db       *store.DB
	clock    *storetest.Clock
	moved    time.Duration
	registry *idempotent.Registry
	ops      map[string]*idempotent.Operation[in, out]
	keys     []domain.Key
	records  map[place]*record
	mu       sync.Mutex
	charges  map[string]string // the provider's ledger: its key -> the place that was charged
	provider string            // its mood for the next charge
}

// place is what a key is unique within.
type place struct {
	op       string
	consumer int64
	key      domain.Key
}

// record is the model of one key. A key without a record is free.
type record struct {
	body   string
	leased bool // somebody seems to be working on it
	done   bool
	at     time.Time
	answer string
	status int
}

func newWorld(rt *rapid.T, db *store.DB, clock *storetest.Clock) *world {
	w := &world{db: db, clock: clock, records: map[place]*record{}, charges: map[string]string{}}
	for range 2 {
		w.keys = append(w.keys, newKey(rt, uuid.Must(uuid.NewV7()).String()))
	}
	w.keys = append(w.keys, newKey(rt, "opaque:"+uuid.NewString()))
	w.restart(rt)
	return w
}

func newKey(rt *rapid.T, text string) domain.Key {
	key, err := domain.ParseKey(text)
	if err != nil {
		rt.Fatal(err)
	}
	return key
}

// request draws one request.
func (w *world) request(rt *rapid.T) (place, in) {
	key := rapid.SampledFrom(w.keys).Draw(rt, "key")
	p := place{op: rapid.SampledFrom([]string{"local", "phased"}).Draw(rt, "op"), consumer: rapid.Int64Range(1, 2).Draw(rt, "consumer"), key: key}
	return p, in{rapid.SampledFrom([]string{"a", "a", "a", "b", "wrong", "refused"}).Draw(rt, "body")}
}

// do sends one request. Who will be told to come back need not wait for it; who will be refused has the
// time to hear that, also when a copy of the same request is finding it out.
func (w *world) do(ctx context.Context, p place, in in) (idempotent.Reply, error) {
	if r := w.records[p]; r != nil && r.leased && r.body == in.Text {
		ctx = idempotent.WithHints(ctx, idempotent.Hints{Patience: time.Millisecond})
	}
	return w.ops[p.op].Do(ctx, domain.Consumer{ID: p.consumer, Name: "model"}, p.key, in)
}

// call sends one request, with at most one thing going wrong.
func (w *world) call(rt *rapid.T) {
	p, body := w.request(rt)
	points := []string{"before_finish", "after_finish"}
	if p.op == "phased" {
		points = append(points, "before_reserve", "after_reserve", "before_charge", "after_charge")
	}
	trouble := rapid.SampledFrom([]string{"", "", "error", "panic", "kill"}).Draw(rt, "trouble")
	point := rapid.SampledFrom(points).Draw(rt, "point")
	w.provider = rapid.SampledFrom([]string{"", "", "down", "silent"}).Draw(rt, "provider")
	moody := w.provider != ""
	var fired bool
	ctx := fault.With(context.Background(), func(_ context.Context, at string) error {
		if trouble == "" || at != point || fired {
			return nil
		}
		fired = true
		if trouble == "error" {
			return errors.New("trouble")
		}
		panic(trouble)
	})
	if rapid.Bool().Draw(rt, "retry") {
		ctx = idempotent.WithHints(ctx, idempotent.Hints{Retry: true})
	}
	now := w.db.Now()
	reply, err := w.do(ctx, p, body)
	asked := moody && w.provider == "" // the provider was reached in its mood
	w.provider = ""
	if !fired && !asked {
		w.compare(rt, p, body.Text, now, reply, err)
		return
	}
	switch {
	case fired && (point == "before_reserve" || p.op == "local" && point == "before_finish"):
		// A request that looks new begins before it learns that its key is known: nothing has changed.
		w.mayRetry(rt, p, reply, err)
	case fired && point == "after_finish" && trouble == "error":
		w.settled(rt, p, body.Text, reply, err) // the error came after the last commit
	default:
		w.mayRetry(rt, p, reply, err)
		w.stopped(rt, p, body.Text, fired && point == "after_finish")
	}
	if fired && trouble == "kill" {
		w.kill(rt, p)
	}
}

// compare checks a request during which nothing went wrong.
func (w *world) compare(rt *rapid.T, p place, body string, now time.Time, reply idempotent.Reply, err error) {
	want := ""
	r := w.records[p]
	switch {
	case r != nil && r.body != body:
		want = "idempotency_key_reused"
	case r != nil && r.done && now.Sub(r.at) > modelTTL:
		want = "idempotency_key_expired"
	case r != nil && r.done:
		if err != nil || !reply.Replayed || string(reply.Answer.Body) != r.answer || reply.Answer.Status != r.status {
			rt.Fatalf("%v: %v, %d %s, want the replay of %d %s", p, err, reply.Answer.Status, reply.Answer.Body, r.status, r.answer)
		}
		return
	case r != nil && r.leased:
		want = "operation_in_progress"
	case r == nil && tooOld(p.key, now):
		want = "idempotency_key_expired"
	case r == nil && body == "wrong":
		want = "wrong"
	}
	if want == "" {
		w.settled(rt, p, body, reply, err)
	} else if err == nil || codeOf(err) != want {
		rt.Fatalf("%v with %q: %v (replayed %v), want %s", p, body, err, reply.Replayed, want)
	}
}

// tooOld reports a key that may have been used and forgotten.
func tooOld(key domain.Key, now time.Time) bool {
	id, err := uuid.Parse(key.String())
	if err != nil || id.Version() != 7 {
		return false
	}
	seconds, nanoseconds := id.Time().UnixTime()
	return now.Sub(time.Unix(seconds, nanoseconds)) > modelTTL
}

// settled notes the first final answer of a key.
func (w *world) settled(rt *rapid.T, p place, body string, reply idempotent.Reply, err error) {
	status := 201
	if body == "refused" {
		status = 422
	}
	if err != nil || reply.Replayed || reply.Answer.Status != status {
		rt.Fatalf("%v with %q: %d %v (replayed %v), want %d", p, body, reply.Answer.Status, err, reply.Replayed, status)
	}
	w.records[p] = &record{body: body, done: true, at: reply.Answer.At, answer: string(reply.Answer.Body), status: status}
}

// mayRetry checks what a client is told when something broke.
func (w *world) mayRetry(rt *rapid.T, p place, reply idempotent.Reply, err error) {
	if kind := domain.KindOf(err); err == nil || kind != domain.Unavailable && kind != domain.Unknown {
		rt.Fatalf("%v: something broke, and the answer is %d %v", p, reply.Answer.Status, err)
	}
}

// stopped notes a run that stopped after its first commit, or after its last.
func (w *world) stopped(rt *rapid.T, p place, body string, last bool) {
	r := w.records[p]
	if r != nil && (r.done || r.leased || r.body != body) {
		rt.Fatalf("%v ran for %q, its record is %+v", p, body, r)
	}
	w.records[p] = &record{body: body}
	if last {
		w.records[p] = w.fromDatabase(rt, p, body)
	}
}

// kill leaves the key as a process does that was ended: held, until its lease ends.
func (w *world) kill(rt *rapid.T, p place) {
	if r := w.records[p]; r != nil && !r.done {
		w.exec(rt, "UPDATE idempotency_keys SET state = 1, lease_until = "+w.micros()+" + 30000000 WHERE state = 2 AND "+w.where(p))
		r.leased = true
	}
	w.restart(rt)
}

// endLeases is the time after which a dead holder is overtaken.
func (w *world) endLeases(rt *rapid.T) {
	w.exec(rt, "UPDATE idempotency_keys SET lease_until = 1 WHERE state = 1")
	for _, r := range w.records {
		r.leased = false
	}
}

// complete lets the completer look: what stopped and is held by nobody has its final answer then, whether
// its client ever asks or not.
func (w *world) complete(rt *rapid.T) {
	w.exec(rt, "UPDATE idempotency_keys SET look_at = 0 WHERE look_at IS NOT NULL")
	if _, err := w.registry.Complete(context.Background(), 1000); err != nil {
		rt.Fatal(err)
	}
	for p, r := range w.records {
		if !r.done && !r.leased {
			w.records[p] = w.fromDatabase(rt, p, r.body)
		}
	}
}

// pass lets hours go by.
func (w *world) pass(rt *rapid.T) {
	d := time.Duration(rapid.SampledFrom([]int{1, 5, 13, 25}).Draw(rt, "hours")) * time.Hour
	w.clock.Move(d)
	w.moved += d
}

// storm sends copies of one request at once.
func (w *world) storm(rt *rapid.T) {
	p, body := w.request(rt)
	now := w.db.Now()
	const copies = 4
	var replies [copies]idempotent.Reply
	var errs [copies]error
	var all sync.WaitGroup
	for i := range copies {
		all.Go(func() { replies[i], errs[i] = w.do(context.Background(), p, body) })
	}
	all.Wait()
	first := 0 // the one that did it, if one did
	for i := range copies {
		if errs[i] == nil && !replies[i].Replayed {
			first = i
		}
	}
	w.compare(rt, p, body.Text, now, replies[first], errs[first])
	for i := range copies {
		if i != first {
			w.compare(rt, p, body.Text, now, replies[i], errs[i])
		}
	}
}

// check counts from outside what has happened: never more than the model says.
func (w *world) check(rt *rapid.T) {
	charged := map[string]int{}
	for _, name := range w.charges {
		charged[name]++
	}
	for op := range w.ops {
		for consumer := int64(1); consumer <= 2; consumer++ {
			for _, key := range w.keys {
				p := place{op, consumer, key}
				name := nameOf(op, domain.Scope{Key: key, Consumer: consumer})
				effects, r, want := w.count(rt, "SELECT count(*) FROM effects WHERE name = '"+name+"'"), w.records[p], 0
				if r != nil && r.done && r.status == 201 {
					want = 1
				}
				if effects != want {
					rt.Fatalf("%v: %d effects, want %d", p, effects, want)
				}
				if n := charged[name]; n > 1 || n == 1 && r == nil || n == 0 && want == 1 && op == "phased" {
					rt.Fatalf("%v: charged %d times, its record is %+v", p, n, r)
				}
			}
		}
	}
}
