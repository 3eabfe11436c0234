package idempotent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// workshop has one phased operation whose call goes wrong as its text says, until it is repaired.
type workshop struct {
	t        *testing.T
	db       *store.DB
	registry *idempotent.Registry
	meters   meters
	op       *idempotent.Operation[in, out]
	mu       sync.Mutex
	repaired bool
	made     map[string]int // things by their text
	absent   int            // runs without a client
}

func newWorkshop(t *testing.T, d storetest.Database) *workshop {
	t.Helper()
	w := &workshop{t: t, db: d.Open(t, nil), made: map[string]int{}}
	w.registry, w.meters = measured(t, idempotent.Config{DB: w.db, CacheBytes: -1})
	var err error
	w.op, err = idempotent.Phased(t.Context(), w.registry, "POST /things", idempotent.Options{TTL: time.Hour}, w.make)
	must(t, err)
	return w
}

func (w *workshop) make(ctx context.Context, run *idempotent.Run, in in) (out, error) {
	name, err := idempotent.Step(ctx, run, "reserve", func(*idempotent.Tx) (string, error) { return in.Text, nil })
	if err != nil {
		return out{}, err
	}
	_, err = idempotent.Call(ctx, run, "make", func(context.Context, string) (bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if run.Completing() {
			w.absent++
		}
		switch {
		case w.repaired:
		case in.Text == "panic":
			panic("trouble")
		case in.Text == "error" || !run.Resumed():
			return false, errors.New("trouble")
		}
		w.made[name]++
		return true, nil
	})
	if err != nil {
		return out{}, err
	}
	return idempotent.Finish(ctx, run, func(*idempotent.Tx) (out, error) { return out(in), nil })
}

// stop leaves a key behind whose run did not end.
func (w *workshop) stop(text string) domain.Key {
	w.t.Helper()
	key, err := domain.ParseKey("thing:" + uuid.NewString())
	if text == "dated" {
		key = freshKey(w.t)
	}
	must(w.t, err)
	if _, err := w.op.Do(w.t.Context(), somebody, key, in{text}); err == nil {
		w.t.Fatalf("%s has an answer", text)
	}
	return key
}

func (w *workshop) exec(statement string, args ...any) {
	w.t.Helper()
	_, err := w.db.SQL().ExecContext(w.t.Context(), fmt.Sprintf(statement, args...))
	must(w.t, err)
}

// later lets time go by for the unfinished keys.
func (w *workshop) later(d time.Duration) {
	w.t.Helper()
	w.exec("UPDATE idempotency_keys SET lease_until = lease_until - %[1]d, look_at = look_at - %[1]d WHERE look_at IS NOT NULL", d.Microseconds())
}

func (w *workshop) complete() int {
	w.t.Helper()
	n, err := w.registry.Complete(w.t.Context(), 20)
	must(w.t, err)
	return n
}

func (w *workshop) unfinished() int {
	return rows(w.t, w.db, "idempotency_keys WHERE look_at IS NOT NULL")
}

// TestAStoppedRunGoesOnWithoutItsClient, from the command and the steps that its row keeps, and the
// client's retry gets the answer. Keys that carry no time are gone on with under their own text.
func TestAStoppedRunGoesOnWithoutItsClient(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		w := newWorkshop(t, d)
		dated, opaque := w.stop("dated"), w.stop("opaque")
		if n := w.complete(); n != 0 {
			t.Errorf("gone on with %d at once: the client comes first", n)
		}
		w.later(domain.LookAfterLease)
		if n := w.complete(); n != 2 || w.unfinished() != 0 || w.absent != 2 {
			t.Errorf("gone on with %d, %d are unfinished, %d runs without a client", n, w.unfinished(), w.absent)
		}
		if n := w.complete(); n != 0 {
			t.Errorf("gone on with %d that are finished", n)
		}
		for text, key := range map[string]domain.Key{"dated": dated, "opaque": opaque} {
			reply, err := w.op.Do(t.Context(), somebody, key, in{text})
			if err != nil || !reply.Replayed || string(reply.Answer.Body) != `{"text":"`+text+`"}`+"\n" {
				t.Errorf("%s: %+v %v", text, reply, err)
			}
			if w.made[text] != 1 {
				t.Errorf("%s was made %d times", text, w.made[text])
			}
			if _, err := w.op.Do(t.Context(), somebody, key, in{"another"}); codeOf(err) != "idempotency_key_reused" {
				t.Errorf("%s with another request: %v", text, err)
			}
		}
		for series, want := range map[string]float64{"idem_recoveries_total step=make": 2, "idem_takeovers_total endpoint=POST /things": 2,
			"idem_completer_runs_total outcome=completed": 2, "idem_completer_runs_total outcome=unfinished": 0} {
			name, label, _ := strings.Cut(series, " ")
			if got := w.meters.read(t, name, label); got != want {
				t.Errorf("%s: %v, want %v", series, got, want)
			}
		}
	})
}

// TestALiveHolderIsLeftAlone: the lease decides, by the database's clock. One that a wrong clock has
// written is none.
func TestALiveHolderIsLeftAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		w := newWorkshop(t, d)
		w.stop("thing")
		for _, c := range []struct {
			state, lease int // seconds from now
			look         int
			want         int
		}{{1, 30, 35, 0}, {1, 1, -1, 0}, {1, -1, 4, 0}, {2, -1, 3000, 0}, {1, 7200, 7205, 1}, {2, -1, 7200, 1}, {1, -5, -1, 1}} {
			if c.want == 1 {
				w.stop(fmt.Sprint(c)) // the last one is finished
			}
			micros := "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
			if w.db.Postgres() {
				micros = "(extract(epoch from clock_timestamp()) * 1000000)::bigint"
			}
			w.exec("UPDATE idempotency_keys SET state = %d, lease_until = %s + %d, look_at = %s + %d WHERE look_at IS NOT NULL",
				c.state, micros, c.lease*1_000_000, micros, c.look*1_000_000)
			if n, left := w.complete(), w.unfinished(); (n > 0) != (c.want == 1) || left != (1-c.want) {
				t.Errorf("%+v: gone on with %d, %d are unfinished", c, n, left)
			}
		}
	})
}

// TestAPoisonousKeyStopsNobodyAndEndsWithAPerson: a run that fails every time, in any way, is looked at
// less and less often. After twelve looks a person is called, and from then on it is tried every hour.
func TestAPoisonousKeyStopsNobodyAndEndsWithAPerson(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		w := newWorkshop(t, d)
		poison := map[string]domain.Key{}
		for _, text := range []string{"error", "panic", "torn command", "torn steps"} {
			poison[text] = w.stop(text)
			if column, torn := strings.CutPrefix(text, "torn "); torn {
				column = map[string]string{"command": "input", "steps": "steps"}[column]
				w.exec("UPDATE idempotency_keys SET %s = '{' WHERE key_text = '%s'", column, poison[text])
			}
		}
		pauses := []time.Duration{5 * time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute}
		for look := range domain.MaxLooks {
			pause := 15 * time.Minute
			if look < len(pauses) {
				pause = pauses[look]
			}
			healthy := w.stop(fmt.Sprint("healthy ", look))
			w.later(pause - time.Second)
			if n := w.complete(); n > 1 {
				t.Fatalf("look %d came %s early for %d keys", look+1, time.Second, n-1)
			}
			w.later(time.Second + 4*time.Second)
			w.complete()
			if got := w.unfinished(); got != len(poison) {
				t.Fatalf("look %d: %d are unfinished, want the poisonous ones", look+1, got)
			}
			if _, err := w.op.Do(t.Context(), somebody, healthy, in{fmt.Sprint("healthy ", look)}); err != nil {
				t.Errorf("look %d: another key got no answer: %v", look+1, err)
			}
			flags, err := w.db.Attention(t.Context())
			must(t, err)
			if want := map[bool]int{true: len(poison)}[look+1 == domain.MaxLooks]; len(flags) != want {
				t.Fatalf("after look %d there are %d flags, want %d", look+1, len(flags), want)
			}
		}
		flags, err := w.db.Attention(t.Context())
		must(t, err)
		for _, f := range flags {
			if f.Kind != domain.NeedsAttention || !strings.Contains(f.Note, "POST /things") || !strings.HasPrefix(f.About, "op_") {
				t.Errorf("flag %+v", f)
			}
		}
		w.later(59 * time.Minute)
		if n := w.complete(); n != 0 {
			t.Errorf("gone on with %d within the hour", n)
		}
		w.repaired = true
		w.later(time.Minute)
		if n := w.complete(); n != len(poison) || w.unfinished() != 2 {
			t.Errorf("repaired: gone on with %d, %d are unfinished, want the two whose rows are torn", n, w.unfinished())
		}
		if flags, err = w.db.Attention(t.Context()); err != nil || len(flags) != 2 {
			t.Errorf("%d flags are left (%v), want those of the two", len(flags), err)
		}
	})
}

// TestAKeyThatKillsItsProcessEndsWithAPersonToo: no run of it lives to say so, and the next one does.
func TestAKeyThatKillsItsProcessEndsWithAPersonToo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		w := newWorkshop(t, d)
		w.stop("error")
		w.exec("UPDATE idempotency_keys SET state = 1, lease_until = 1, look_at = 1, looks = %d", domain.MaxLooks)
		if n := w.complete(); n != 1 {
			t.Fatalf("gone on with %d", n)
		}
		if flags, err := w.db.Attention(t.Context()); err != nil || len(flags) != 1 {
			t.Errorf("flags: %v %v", flags, err)
		}
	})
}
