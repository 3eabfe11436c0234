package idempotent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// witness is a journal in memory.
type witness struct {
	mu     sync.Mutex
	events []domain.KeyEvent
}

func (w *witness) Note(e domain.KeyEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// story tells what was noted since the last story, request by request: who, which attempt, what.
func (w *witness) story() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, e := range w.events {
		who := e.Request
		if e.Attempt > 0 {
			who = fmt.Sprint(e.Request, " try ", e.Attempt)
		}
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprint(who, ": ", e.Kind, " ", e.Step, " ", e.Detail)), " "))
	}
	w.events = nil
	return strings.Join(lines, "; ")
}

func (w *witness) noted(kind domain.KeyEventKind) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.Kind == kind {
			return true
		}
	}
	return false
}

// copies is a place for finished answers beside the database.
type copies struct {
	mu   sync.Mutex
	kept map[string]domain.Answer
	by   map[string]domain.Fingerprint
}

func (c *copies) Get(_ context.Context, s domain.Scope) (domain.Fingerprint, domain.Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.kept[s.Key.String()]
	return c.by[s.Key.String()], a, ok
}

func (c *copies) Put(s domain.Scope, f domain.Fingerprint, a domain.Answer, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept, c.by = map[string]domain.Answer{}, map[string]domain.Fingerprint{}
	}
	c.kept[s.Key.String()], c.by[s.Key.String()] = a, f
}

// told is a process whose journal a test reads.
type told struct {
	t *testing.T
	*witness
	registry *idempotent.Registry
	op       *idempotent.Operation[in, out]
}

func newTold(t *testing.T, db *store.DB, cfg idempotent.Config) told {
	t.Helper()
	w := &witness{}
	cfg.DB, cfg.Journal = db, w
	r, err := idempotent.NewRegistry(cfg)
	must(t, err)
	op, err := idempotent.Phased(t.Context(), r, "POST /things", idempotent.Options{TTL: time.Hour},
		func(ctx context.Context, run *idempotent.Run, in in) (out, error) {
			if _, err := idempotent.Step(ctx, run, "reserve", func(*idempotent.Tx) (bool, error) { return true, nil }); err != nil {
				return out{}, err
			}
			if _, err := idempotent.Call(ctx, run, "charge", func(context.Context, string) (bool, error) { return true, nil }); err != nil {
				return out{}, err
			}
			return idempotent.Finish(ctx, run, func(*idempotent.Tx) (out, error) { return out(in), nil })
		})
	must(t, err)
	return told{t, w, r, op}
}

// by is the context of a request with a name, under a plan of troubles if there is one.
func (p told) by(name string, retry bool, plans ...fault.Plan) context.Context {
	ctx := idempotent.WithHints(p.t.Context(), idempotent.Hints{RequestID: name, Retry: retry, Patience: 5 * time.Second})
	for _, plan := range plans {
		ctx = fault.With(ctx, plan)
	}
	return ctx
}

func (p told) wants(what, story string) {
	p.t.Helper()
	if got := p.story(); got != story {
		p.t.Errorf("%s:\n got %s\nwant %s", what, got, story)
	}
}

// holdAt gives a plan that stops a run at a point until it is released.
func holdAt(point string) (plan fault.Plan, reached chan struct{}, release func()) {
	reached, released := make(chan struct{}), make(chan struct{})
	return func(_ context.Context, at string) error {
		if at == point {
			close(reached)
			<-released
		}
		return nil
	}, reached, sync.OnceFunc(func() { close(released) })
}

const paidInFull = "a try 1: claimed reserve; a try 1: calling charge; a try 1: called charge ok; a try 1: finished 201; a: executed 201"

// TestAJournalTellsFromWhereAReplayCame: from memory, from the copy, from the database.
func TestAJournalTellsFromWhereAReplayCame(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		first := newTold(t, db, idempotent.Config{Answers: &copies{}})
		key := freshKey(t)
		do := func(p told, name string, retry bool) {
			t.Helper()
			_, err := p.op.Do(p.by(name, retry), somebody, key, in{"x"})
			must(t, err)
		}
		do(first, "a", false)
		first.wants("the first request", paidInFull)
		do(first, "b", false)
		first.wants("a replay from memory", "b: replayed memory")

		shared := &copies{}
		other := newTold(t, db, idempotent.Config{CacheBytes: -1, Answers: shared})
		do(other, "c", true)
		other.wants("a replay from the database", "c: replayed database")
		do(other, "d", true)
		other.wants("a replay from the copy", "d: replayed redis")
		do(other, "e", false)
		other.wants("one that does not say that it is a retry", "e: replayed database")
	})
}

// TestAJournalTellsOfADoubleCall, of one that has no patience, and of a stranger, all while the first runs.
func TestAJournalTellsOfADoubleCall(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		p, twin := newTold(t, db, idempotent.Config{}), newTold(t, db, idempotent.Config{})
		key := freshKey(t)
		plan, reached, release := holdAt("before_charge")
		defer release()
		ended := make(chan error, 2)
		go func() {
			_, err := p.op.Do(p.by("a", false, plan), somebody, key, in{"x"})
			ended <- err
		}()
		<-reached
		p.wants("the first one", "a try 1: claimed reserve")
		_, err := p.op.Do(idempotent.WithHints(t.Context(), idempotent.Hints{RequestID: "hasty", Patience: time.Nanosecond}), somebody, key, in{"x"})
		if codeOf(err) != "operation_in_progress" {
			t.Errorf("got %v", err)
		}
		p.wants("one without patience", "hasty: waits; hasty: in_progress operation_in_progress")
		if _, err := p.op.Do(p.by("stranger", false), somebody, key, in{"y"}); codeOf(err) != "idempotency_key_reused" {
			t.Errorf("got %v", err)
		}
		p.wants("another request", "stranger: mismatch idempotency_key_reused")
		go func() {
			_, err := twin.op.Do(twin.by("b", true), somebody, key, in{"x"})
			ended <- err
		}()
		for !twin.noted(domain.KeyWaits) {
			time.Sleep(time.Millisecond)
		}
		release()
		must(t, errors.Join(<-ended, <-ended))
		p.wants("the first one", strings.TrimPrefix(paidInFull, "a try 1: claimed reserve; "))
		twin.wants("one in another process", "b: waits; b: waited database")
	})
}

// TestAJournalTellsOfACrash: who went on, where, and that the one thought dead was too late.
func TestAJournalTellsOfACrash(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		p, twin := newTold(t, db, idempotent.Config{CacheBytes: -1}), newTold(t, db, idempotent.Config{CacheBytes: -1})
		key := freshKey(t)
		plan, reached, release := holdAt("after_charge")
		defer release()
		ended := make(chan error, 1)
		go func() {
			_, err := p.op.Do(p.by("a", false, plan), somebody, key, in{"x"})
			ended <- err
		}()
		<-reached
		_, err := db.SQL().ExecContext(t.Context(), "UPDATE idempotency_keys SET lease_until = 1")
		must(t, err)
		_, err = twin.op.Do(twin.by("b", true), somebody, key, in{"x"})
		must(t, err)
		twin.wants("the retry", "b try 2: taken_over; b try 2: calling charge; b try 2: called charge ok; b try 2: finished 201; b: executed 201")
		release()
		must(t, <-ended)
		if got := p.story(); !strings.Contains(got, "called charge ok") || strings.Contains(got, "finished") || !strings.Contains(got, "stopped lease_lost") {
			t.Errorf("the one thought dead: %s", got)
		}
	})
}

// TestAJournalTellsOfARunWithoutItsClient, and why the client's own run had stopped.
func TestAJournalTellsOfARunWithoutItsClient(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		p := newTold(t, db, idempotent.Config{CacheBytes: -1})
		key := freshKey(t)
		broken := func(_ context.Context, at string) error {
			if at == "before_finish" {
				return domain.Errorf(domain.Unavailable, "out_of_order", "secret")
			}
			return nil
		}
		if _, err := p.op.Do(p.by("a", false, broken), somebody, key, in{"x"}); codeOf(err) != "out_of_order" {
			t.Fatalf("got %v", err)
		}
		p.wants("the client's run", "a try 1: claimed reserve; a try 1: calling charge; a try 1: called charge ok; a try 1: stopped out_of_order; a: retryable out_of_order")
		_, err := db.SQL().ExecContext(t.Context(), "UPDATE idempotency_keys SET look_at = 1")
		must(t, err)
		if n, err := p.registry.Complete(t.Context(), 5); n != 1 || err != nil {
			t.Fatalf("gone on with %d, %v", n, err)
		}
		p.wants("the shop's run", "a try 2: resumed; a try 2: calling charge; a try 2: called charge ok; a try 2: finished 201")
	})
}
