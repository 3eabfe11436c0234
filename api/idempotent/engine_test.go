package idempotent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

type in struct {
	Text string `json:"text"`
}

type out struct {
	Text string `json:"text"`
}

func (o out) Path() string { return "/things/" + o.Text }

var somebody = domain.Consumer{ID: 1, Name: "somebody"}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func freshKey(t testing.TB) domain.Key {
	t.Helper()
	key, err := domain.ParseKey(uuid.Must(uuid.NewV7()).String())
	must(t, err)
	return key
}

func newRegistry(t *testing.T, db *store.DB) *idempotent.Registry {
	t.Helper()
	r, err := idempotent.NewRegistry(idempotent.Config{DB: db, CacheBytes: -1, Patience: 20 * time.Second})
	must(t, err)
	return r
}

func codeOf(err error) string {
	if known, ok := errors.AsType[*domain.Error](err); ok {
		return known.Code
	}
	return fmt.Sprint(err)
}

// TestALocalRunThatFailsLeavesItsKeyFreeForAnyBody: nothing happened, so nothing is bound.
func TestALocalRunThatFailsLeavesItsKeyFreeForAnyBody(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		failures := []error{errors.New("secret"), domain.Errorf(domain.Unavailable, "later", "Later."), domain.Errorf(domain.Invalid, "wrong", "Wrong.")}
		op, err := idempotent.Local(t.Context(), newRegistry(t, d.Open(t, nil)), "POST /things", idempotent.Options{TTL: time.Hour},
			func(_ context.Context, _ *idempotent.Tx, in in) (out, error) {
				if in.Text == "fail" && len(failures) > 0 {
					err := failures[0]
					failures = failures[1:]
					return out{}, err
				}
				return out(in), nil
			})
		must(t, err)
		key := freshKey(t)
		for _, want := range []string{"retry_same_key", "later", "wrong"} {
			if _, err := op.Do(t.Context(), somebody, key, in{"fail"}); codeOf(err) != want || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		failures = nil
		reply, err := op.Do(t.Context(), somebody, key, in{"good"})
		if err != nil || reply.Replayed || reply.Answer.Status != 201 || string(reply.Answer.Body) != `{"text":"good"}`+"\n" || reply.Answer.Header.Get("Location") != "/things/good" {
			t.Errorf("got %+v %v", reply, err)
		}
		if result, err := op.Output(reply); err != nil || result.Text != "good" {
			t.Errorf("output %v %v", result, err)
		}
	})
}

func TestAFinalRefusalIsRememberedAndReadBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		runs := 0
		op, err := idempotent.Local(t.Context(), newRegistry(t, d.Open(t, nil)), "POST /things", idempotent.Options{TTL: time.Hour},
			func(context.Context, *idempotent.Tx, in) (out, error) {
				runs++
				return out{}, domain.Errorf(domain.Refused, "sold_out", "Sold out, time %d.", runs)
			})
		must(t, err)
		key := freshKey(t)
		for i := range 3 {
			reply, err := op.Do(t.Context(), somebody, key, in{"x"})
			must(t, err)
			_, refusal := op.Output(reply)
			if reply.Answer.Status != 422 || reply.Replayed != (i > 0) || codeOf(refusal) != "sold_out" || !strings.Contains(refusal.Error(), "time 1.") {
				t.Errorf("call %d: %d %v %v", i, reply.Answer.Status, reply.Replayed, refusal)
			}
		}
	})
}

// TestAResumedRunGoesOnWhereTheLastOneStopped: finished steps are not run again and give what they
// gave, and the other side sees one key per step. Covers T30, T33 and T34.
func TestAResumedRunGoesOnWhereTheLastOneStopped(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		points := []string{"before_one", "after_one", "before_two", "after_two", "before_ask", "after_ask", "before_tell", "after_tell", "before_finish"}
		var ran []string
		keys := map[string][]string{}
		op, err := idempotent.Phased(t.Context(), newRegistry(t, d.Open(t, nil)), "POST /things", idempotent.Options{TTL: time.Hour},
			func(ctx context.Context, run *idempotent.Run, in in) (out, error) {
				return threeSteps(ctx, run, in, &ran, keys)
			})
		must(t, err)
		for _, point := range points {
			ran = nil
			clear(keys)
			broken := false
			ctx := fault.With(t.Context(), func(_ context.Context, at string) error {
				if at == point && !broken {
					broken = true
					return errors.New("broken")
				}
				return nil
			})
			key := freshKey(t)
			if _, err := op.Do(ctx, somebody, key, in{"x"}); codeOf(err) != "retry_same_key" {
				t.Fatalf("%s: got %v", point, err)
			}
			// A retry that says so is looked up at once; else the first step would begin anew, in vain.
			reply, err := op.Do(idempotent.WithHints(ctx, idempotent.Hints{Retry: true}), somebody, key, in{"x"})
			if err != nil || string(reply.Answer.Body) != `{"text":"one two"}`+"\n" {
				t.Errorf("%s: %s %v", point, reply.Answer.Body, err)
			}
			if want := []string{"one", "two"}; !slices.Equal(ran, want) {
				t.Errorf("%s: ran the steps %v", point, ran)
			}
			if len(slices.Compact(keys["ask"])) != 1 || len(slices.Compact(keys["tell"])) != 1 || keys["ask"][0] == keys["tell"][0] || len(keys["ask"][0]) != 36 {
				t.Errorf("%s: the other side saw %v", point, keys)
			}
		}
	})
}

func threeSteps(ctx context.Context, run *idempotent.Run, _ in, ran *[]string, keys map[string][]string) (out, error) {
	step := func(name string) (string, error) {
		return idempotent.Step(ctx, run, name, func(*idempotent.Tx) (string, error) {
			*ran = append(*ran, name)
			return name, nil
		})
	}
	ask := func(name string) error {
		_, err := idempotent.Call(ctx, run, name, func(_ context.Context, key string) (bool, error) {
			keys[name] = append(keys[name], key)
			return true, nil
		})
		return err
	}
	one, err := step("one")
	if err != nil {
		return out{}, err
	}
	two, err := step("two")
	if err != nil {
		return out{}, err
	}
	if err := errors.Join(ask("ask"), ask("tell")); err != nil {
		return out{}, err
	}
	return idempotent.Finish(ctx, run, func(*idempotent.Tx) (out, error) { return out{one + " " + two}, nil })
}

func TestAPhasedRunThatFailsKeepsItsKeyBound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		fail := true
		op, err := idempotent.Phased(t.Context(), newRegistry(t, d.Open(t, nil)), "POST /things", idempotent.Options{TTL: time.Hour},
			func(ctx context.Context, run *idempotent.Run, in in) (out, error) {
				_, err := idempotent.Call(ctx, run, "ask", func(context.Context, string) (bool, error) {
					if fail {
						return false, domain.Errorf(domain.Unknown, "outcome_unknown", "No answer.")
					}
					return true, nil
				})
				if err != nil {
					return out{}, err
				}
				return idempotent.Finish(ctx, run, func(*idempotent.Tx) (out, error) { return out(in), nil })
			})
		must(t, err)
		key := freshKey(t)
		if _, err := op.Do(t.Context(), somebody, key, in{"mine"}); codeOf(err) != "outcome_unknown" {
			t.Fatalf("got %v", err)
		}
		if _, err := op.Do(t.Context(), somebody, key, in{"other"}); codeOf(err) != "idempotency_key_reused" {
			t.Errorf("another body after a failure: %v", err)
		}
		fail = false
		if reply, err := op.Do(t.Context(), somebody, key, in{"mine"}); err != nil || reply.Answer.Status != 201 {
			t.Errorf("the retry: %+v %v", reply, err)
		}
	})
}

func TestARunThatNeverFinishesIsOurFault(t *testing.T) {
	t.Parallel()
	op, err := idempotent.Phased(t.Context(), newRegistry(t, storetest.SQLite(t).Open(t, nil)), "POST /things", idempotent.Options{TTL: time.Hour},
		func(context.Context, *idempotent.Run, in) (out, error) { return out{}, nil })
	must(t, err)
	if _, err := op.Do(t.Context(), somebody, freshKey(t), in{"x"}); codeOf(err) != "retry_same_key" {
		t.Errorf("got %v", err)
	}
	if _, err := op.Do(t.Context(), somebody, domain.Key{}, in{"x"}); codeOf(err) != "idempotency_key_missing" {
		t.Errorf("no key: %v", err)
	}
	if _, err := op.Do(t.Context(), somebody, freshKey(t), in{"\xff"}); codeOf(err) != "body_malformed" {
		t.Errorf("broken text: %v", err)
	}
}

func TestARegistryRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	if _, err := idempotent.NewRegistry(idempotent.Config{}); err == nil {
		t.Error("a registry without a database")
	}
	db := storetest.SQLite(t).Open(t, nil)
	if _, err := idempotent.NewRegistry(idempotent.Config{DB: db, Lease: domain.MaxLease + 1}); err == nil {
		t.Error("a lease that counts as ended from its start")
	}
}

// TestDrainWaitsForRunsWhoseClientsHaveGone: a shutdown does not cut an effect in half.
func TestDrainWaitsForRunsWhoseClientsHaveGone(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t).Open(t, nil)
	r := newRegistry(t, db)
	started, release := make(chan struct{}), make(chan struct{})
	op := echo(t, r, func() { close(started); <-release })
	ctx, hangUp := context.WithCancel(t.Context())
	left := make(chan error, 1)
	key := freshKey(t)
	go func() {
		_, err := op.Do(ctx, somebody, key, in{"x"})
		left <- err
	}()
	<-started
	hangUp()
	if err := <-left; codeOf(err) != "operation_in_progress" {
		t.Errorf("the client that left: %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := r.Drain(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("drained while a run goes on: %v", err)
	}
	close(release)
	must(t, r.Drain(t.Context()))
	next := echo(t, newRegistry(t, db), func() {}) // the process that comes after
	if reply, err := next.Do(t.Context(), somebody, key, in{"x"}); err != nil || !reply.Replayed {
		t.Errorf("the retry: %+v %v", reply, err)
	}
}

func echo(t *testing.T, r *idempotent.Registry, first func()) *idempotent.Operation[in, out] {
	t.Helper()
	op, err := idempotent.Local(t.Context(), r, "POST /things", idempotent.Options{TTL: time.Hour},
		func(_ context.Context, _ *idempotent.Tx, in in) (out, error) {
			first()
			return out(in), nil
		})
	must(t, err)
	return op
}

// rows counts a table from outside the code under test.
func rows(t *testing.T, db *store.DB, table string) (n int) {
	t.Helper()
	must(t, db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}
