package idempotent_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// logBook keeps a log to be read by the test.
type logBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBook) logger() *slog.Logger { return slog.New(slog.NewJSONHandler(l, nil)) }

// lines gives the log lines that hold a text.
func (l *logBook) lines(with string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, with) {
			found = append(found, line)
		}
	}
	return found
}

// TestAnAnswerThatIsTooLargeUndoesItsEffect: kept without its answer, the effect would happen again.
func TestAnAnswerThatIsTooLargeUndoesItsEffect(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		var book logBook
		r, err := idempotent.NewRegistry(idempotent.Config{DB: db, Log: book.logger()})
		must(t, err)
		size := 0
		effect := func(tx *idempotent.Tx) (out, error) {
			tx.InsertMessage(domain.Message{ID: uuid.NewString(), Reference: uuid.NewString(), CreatedAt: tx.Now()}, tx.Scope)
			return out{strings.Repeat("x", size)}, nil
		}
		local, err := idempotent.Local(t.Context(), r, "POST /things", idempotent.Options{TTL: time.Hour},
			func(_ context.Context, tx *idempotent.Tx, _ in) (out, error) { return effect(tx) })
		must(t, err)
		phased, err := idempotent.Phased(t.Context(), r, "POST /others", idempotent.Options{TTL: time.Hour},
			func(ctx context.Context, run *idempotent.Run, _ in) (out, error) {
				if _, err := idempotent.Step(ctx, run, "begin", func(*idempotent.Tx) (bool, error) { return true, nil }); err != nil {
					return out{}, err
				}
				return idempotent.Finish(ctx, run, effect)
			})
		must(t, err)
		const frame = len(`{"text":""}` + "\n")
		for i, op := range []*idempotent.Operation[in, out]{local, phased} {
			key := freshKey(t)
			size = 256<<10 - frame + 1
			if _, err := op.Do(t.Context(), somebody, key, in{"x"}); codeOf(err) != "retry_same_key" {
				t.Errorf("%d bytes: %v", size+frame, err)
			}
			if got := rows(t, db, "messages"); got != i {
				t.Errorf("%d messages, want those of before, %d", got, i)
			}
			if lines := book.lines("the answer of"); len(lines) != i+1 || !strings.Contains(lines[i], `"level":"ERROR"`) {
				t.Errorf("log: %q", lines)
			}
			size--
			reply, err := op.Do(t.Context(), somebody, key, in{"x"})
			if err != nil || len(reply.Answer.Body) != 256<<10 || rows(t, db, "messages") != i+1 {
				t.Errorf("256 KiB: %d bytes, %v", len(reply.Answer.Body), err)
			}
		}
	})
}

// TestACorrectedRequestAfterAFinalNoNeedsANewKey: the first attempt really ended.
func TestACorrectedRequestAfterAFinalNoNeedsANewKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		op, err := idempotent.Local(t.Context(), newRegistry(t, d.Open(t, nil)), "POST /things", idempotent.Options{TTL: time.Hour},
			func(_ context.Context, _ *idempotent.Tx, in in) (out, error) {
				if in.Text == "four" {
					return out{}, domain.Errorf(domain.Refused, "sold_out", "There are three.")
				}
				return out(in), nil
			})
		must(t, err)
		key := freshKey(t)
		reply, err := op.Do(t.Context(), somebody, key, in{"four"})
		if err != nil || reply.Answer.Status != 422 {
			t.Fatalf("got %+v %v", reply, err)
		}
		if _, err := op.Do(t.Context(), somebody, key, in{"three"}); codeOf(err) != "idempotency_key_reused" {
			t.Errorf("the same key: %v", err)
		}
		if reply, err := op.Do(t.Context(), somebody, freshKey(t), in{"three"}); err != nil || reply.Answer.Status != 201 {
			t.Errorf("a new key: %+v %v", reply, err)
		}
	})
}

// TestRightsThatWereLostHideTheAnswerAndLeaveIt covers S50: the record waits for who may see it.
func TestRightsThatWereLostHideTheAnswerAndLeaveIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		blocked := false
		op := echo(t, newRegistry(t, db), func() {})
		engine := gin.New()
		engine.POST("/things", func(c *gin.Context) {
			if blocked {
				idempotent.WriteProblem(c, domain.Errorf(domain.Forbidden, "forbidden", "This is not yours any more."))
			}
		}, op.Handle(somebodyCalls))
		key := freshKey(t).String()
		send := func() (int, string) {
			w := post(engine, "/things", key, strings.NewReader(`{"text":"secret"}`), "Content-Type", "application/json")
			return w.Code, w.Body.String()
		}
		_, first := send()
		blocked = true
		if status, body := send(); status != 403 || strings.Contains(body, "secret") {
			t.Errorf("got %d %s", status, body)
		}
		blocked = false
		if status, body := send(); status != 201 || body != first || rows(t, db, "idempotency_keys") != 1 {
			t.Errorf("afterwards: %d %s", status, body)
		}
	})
}

// TestAStatusOfTheResultIsReplayed: 200, 202 and 303 as well as 201.
func TestAStatusOfTheResultIsReplayed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		op, err := idempotent.Local(t.Context(), newRegistry(t, d.Open(t, nil)), "POST /things", idempotent.Options{TTL: time.Hour},
			func(_ context.Context, _ *idempotent.Tx, in withStatus) (withStatus, error) { return in, nil })
		must(t, err)
		for _, status := range []int{200, 201, 202, 303, 402, 422} {
			key := freshKey(t)
			for i := range 2 {
				reply, err := op.Do(t.Context(), somebody, key, withStatus{status})
				if err != nil || reply.Answer.Status != status || reply.Replayed != (i > 0) {
					t.Errorf("%d: %+v %v", status, reply, err)
				}
			}
		}
	})
}

type withStatus struct {
	Status int `json:"status"`
}

func (s withStatus) HTTPStatus() int { return s.Status }

// A request that another one joins in this process may itself be a stranger to the key. The owner, whose
// answer was made by another process, is not sent away for its sake.
func TestAStrangerThatRunsDoesNotHideTheOwnersAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db, key := d.Open(t, nil), freshKey(t)
		started, release := make(chan struct{}), make(chan struct{})
		here := echo(t, newRegistry(t, db), func() { close(started); <-release })
		stranger := make(chan error, 1)
		go func() {
			_, err := here.Do(t.Context(), somebody, key, in{"stranger"})
			stranger <- err
		}()
		<-started
		if _, err := here.Do(t.Context(), somebody, key, in{"owner"}); codeOf(err) != "idempotency_key_reused" {
			t.Errorf("while the key is nobody's yet, the second to come is told %v", err)
		}
		elsewhere := echo(t, newRegistry(t, db), func() {})
		first, err := elsewhere.Do(t.Context(), somebody, key, in{"owner"})
		must(t, err)
		again, err := here.Do(t.Context(), somebody, key, in{"owner"})
		if err != nil || !again.Replayed || string(again.Answer.Body) != string(first.Answer.Body) {
			t.Errorf("the owner's retry beside the stranger: %+v %v", again, err)
		}
		if _, err := here.Do(t.Context(), somebody, key, in{"a third"}); codeOf(err) != "idempotency_key_reused" {
			t.Errorf("another stranger is told %v", err)
		}
		close(release)
		if err := <-stranger; codeOf(err) != "idempotency_key_reused" {
			t.Errorf("the stranger is told %v", err)
		}
	})
}
