package idempotent_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// meters is a registry whose numbers a test reads.
type meters struct{ *prometheus.Registry }

// read gives a counter's value or a histogram's count; -1 when there is no such series.
func (m meters) read(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	families, err := m.Gather()
	must(t, err)
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			var have []string
			for _, l := range metric.GetLabel() {
				have = append(have, l.GetName()+"="+l.GetValue())
			}
			if strings.Join(have, ",") != strings.Join(labels, ",") {
				continue
			}
			if h := metric.GetHistogram(); h != nil {
				return float64(h.GetSampleCount())
			}
			return metric.GetCounter().GetValue()
		}
	}
	return -1
}

func measured(t *testing.T, cfg idempotent.Config) (*idempotent.Registry, meters) {
	t.Helper()
	m := meters{prometheus.NewRegistry()}
	cfg.Metrics = m
	r, err := idempotent.NewRegistry(cfg)
	must(t, err)
	return r, m
}

// TestEveryOutcomeIsCountedFromZero: each kind of ending has its own number, there before it happens.
func TestEveryOutcomeIsCountedFromZero(t *testing.T) {
	t.Parallel()
	var clock storetest.Clock
	r, m := measured(t, idempotent.Config{DB: storetest.SQLite(t).Open(t, clock.Now)})
	op, err := idempotent.Local(t.Context(), r, "POST /things", idempotent.Options{TTL: time.Hour},
		func(_ context.Context, _ *idempotent.Tx, in in) (out, error) {
			switch in.Text {
			case "refuse":
				return out{}, domain.Errorf(domain.Refused, "sold_out", "No.")
			case "invalid":
				return out{}, domain.Errorf(domain.Invalid, "wrong", "Wrong.")
			case "fail":
				return out{}, errors.New("broken")
			case "unknown":
				return out{}, domain.Errorf(domain.Unknown, "outcome_unknown", "No answer.")
			}
			return out(in), nil
		})
	must(t, err)
	for _, outcome := range []string{"executed", "replayed", "waited", "in_progress", "mismatch", "expired", "missing", "malformed", "rejected", "retryable"} {
		if got := m.read(t, "idem_requests_total", "endpoint=POST /things", "outcome="+outcome); got != 0 {
			t.Errorf("%s begins at %v", outcome, got)
		}
	}
	for _, name := range []string{"idem_late_retries_total", "idem_takeovers_total"} {
		if got := m.read(t, name, "endpoint=POST /things"); got != 0 {
			t.Errorf("%s begins at %v", name, got)
		}
	}
	if m.read(t, "idem_unknown_outcomes") != 0 || m.read(t, "idem_cross_endpoint_reuse_total") != 0 || m.read(t, "idem_wait_seconds") != 0 {
		t.Error("a number without labels does not begin at 0")
	}

	engine := gin.New()
	engine.POST("/things", op.Handle(somebodyCalls))
	key := freshKey(t).String()
	send := func(key, text string) {
		post(engine, "/things", key, strings.NewReader(`{"text":"`+text+`"}`), "Content-Type", "application/json")
	}
	send(key, "x")                          // executed
	send(freshKey(t).String(), "refuse")    // executed: a refusal is an answer
	send(key, "x")                          // replayed
	send(key, "y")                          // mismatch
	send("", "x")                           // missing
	send("short", "x")                      // malformed
	send(freshKey(t).String(), `x","y":"y`) // malformed
	send(freshKey(t).String(), "invalid")   // rejected
	send(freshKey(t).String(), "fail")      // retryable
	send(freshKey(t).String(), "unknown")   // retryable
	clock.Move(2 * time.Hour)
	send(key, "x") // expired
	for outcome, want := range map[string]float64{"executed": 2, "replayed": 1, "waited": 0, "in_progress": 0, "mismatch": 1, "expired": 1,
		"missing": 1, "malformed": 2, "rejected": 1, "retryable": 2} {
		if got := m.read(t, "idem_requests_total", "endpoint=POST /things", "outcome="+outcome); got != want {
			t.Errorf("%s: %v, want %v", outcome, got, want)
		}
	}
	if got := m.read(t, "idem_late_retries_total", "endpoint=POST /things"); got != 1 {
		t.Errorf("late retries: %v", got)
	}
	if got := m.read(t, "idem_unknown_outcomes"); got != 1 {
		t.Errorf("unknown outcomes: %v", got)
	}
	if m.read(t, "idem_store_seconds", "op=commit", "store=database") < 2 || m.read(t, "idem_store_seconds", "op=claim", "store=database") < 1 {
		t.Error("the database's time is not measured")
	}
	must(t, r.Drain(t.Context()))
}

// TestAWaitIsCountedAndMeasured: a duplicate that gets the first one's answer, and one whose patience
// ends.
func TestAWaitIsCountedAndMeasured(t *testing.T) {
	t.Parallel()
	r, m := measured(t, idempotent.Config{DB: storetest.SQLite(t).Open(t, nil), Patience: 20 * time.Second})
	started, release := make(chan struct{}), make(chan struct{})
	op := echo(t, r, func() { close(started); <-release })
	key := freshKey(t)
	results := make(chan idempotent.Reply, 2)
	call := func() {
		reply, err := op.Do(t.Context(), somebody, key, in{"x"})
		if err != nil {
			t.Error(err)
		}
		results <- reply
	}
	go call()
	<-started
	impatient := idempotent.WithHints(t.Context(), idempotent.Hints{Patience: time.Millisecond})
	if _, err := op.Do(impatient, somebody, key, in{"x"}); codeOf(err) != "operation_in_progress" {
		t.Errorf("got %v", err)
	}
	go call()
	for m.read(t, "idem_wait_seconds") < 1 {
		time.Sleep(time.Millisecond)
	}
	close(release)
	<-results
	<-results
	waited, replayed := m.read(t, "idem_requests_total", "endpoint=POST /things", "outcome=waited"), m.read(t, "idem_requests_total", "endpoint=POST /things", "outcome=replayed")
	if waited+replayed != 1 || m.read(t, "idem_requests_total", "endpoint=POST /things", "outcome=in_progress") != 1 {
		t.Errorf("waited %v, replayed %v", waited, replayed)
	}
	if got := m.read(t, "idem_wait_seconds"); got != 1+waited {
		t.Errorf("%v waits were measured, want %v", got, 1+waited)
	}
}

// TestARescueIsCountedByTheStepItBeganAt, once per run that was taken over.
func TestARescueIsCountedByTheStepItBeganAt(t *testing.T) {
	t.Parallel()
	r, m := measured(t, idempotent.Config{DB: storetest.SQLite(t).Open(t, nil), CacheBytes: -1})
	var ran []string
	op, err := idempotent.Phased(t.Context(), r, "POST /things", idempotent.Options{TTL: time.Hour},
		func(ctx context.Context, run *idempotent.Run, in in) (out, error) {
			return threeSteps(ctx, run, in, &ran, map[string][]string{})
		})
	must(t, err)
	for point, step := range map[string]string{"after_one": "two", "before_ask": "ask", "after_two": "ask", "before_finish": "ask"} {
		before := max(m.read(t, "idem_recoveries_total", "step="+step), 0)
		takeovers := m.read(t, "idem_takeovers_total", "endpoint=POST /things")
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
			t.Fatalf("%s: %v", point, err)
		}
		if _, err := op.Do(ctx, somebody, key, in{"x"}); err != nil {
			t.Fatalf("%s: %v", point, err)
		}
		if got := m.read(t, "idem_recoveries_total", "step="+step) - before; got != 1 {
			t.Errorf("%s: %v rescues counted at %s", point, got, step)
		}
		if got := m.read(t, "idem_takeovers_total", "endpoint=POST /things") - takeovers; got != 1 {
			t.Errorf("%s: %v takeovers", point, got)
		}
	}
}

// TestAKeyOnTwoEndpointsIsTwoOperationsAndNoticed covers T53.
func TestAKeyOnTwoEndpointsIsTwoOperationsAndNoticed(t *testing.T) {
	t.Parallel()
	var book logBook
	r, m := measured(t, idempotent.Config{DB: storetest.SQLite(t).Open(t, nil), Log: book.logger()})
	first := echo(t, r, func() {})
	second, err := idempotent.Local(t.Context(), r, "POST /others", idempotent.Options{TTL: time.Hour},
		func(_ context.Context, _ *idempotent.Tx, in in) (out, error) { return out(in), nil })
	must(t, err)
	key := freshKey(t)
	other := domain.Consumer{ID: 2, Name: "other"}
	for range 2 {
		for _, op := range []*idempotent.Operation[in, out]{first, second} {
			_, err := op.Do(t.Context(), somebody, key, in{"x"})
			must(t, err)
		}
		_, err := first.Do(t.Context(), other, key, in{"x"})
		must(t, err)
	}
	if got := m.read(t, "idem_cross_endpoint_reuse_total"); got != 1 {
		t.Errorf("counted %v times", got)
	}
	lines := book.lines("cross_endpoint_reuse")
	if len(lines) != 1 || !strings.Contains(lines[0], `"level":"INFO"`) || !strings.Contains(lines[0], `"consumer":"somebody"`) || strings.Contains(lines[0], key.String()) {
		t.Errorf("log: %q", lines)
	}
}

// TestRedisIsTimed: its answers, and the batches that go there.
func TestRedisIsTimed(t *testing.T) {
	t.Parallel()
	answers, err := store.OpenAnswers(storetest.RedisURL(t), "test", nil)
	must(t, err)
	r, m := measured(t, idempotent.Config{DB: storetest.SQLite(t).Open(t, nil), Answers: answers, CacheBytes: -1})
	op := echo(t, r, func() {})
	retry := idempotent.WithHints(t.Context(), idempotent.Hints{Retry: true})
	_, err = op.Do(retry, somebody, freshKey(t), in{"x"})
	must(t, err)
	must(t, answers.Close())
	for _, use := range []string{"get", "put"} {
		if got := m.read(t, "idem_store_seconds", "op="+use, "store=redis"); got != 1 {
			t.Errorf("%s: %v", use, got)
		}
	}
}

// TestAProblemSaysWhenToComeBack, rounded up, and only where it helps.
func TestAProblemSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	limited := domain.Errorf(domain.RateLimited, "rate_limited", "Too many requests.")
	limited.RetryAfter = 2100 * time.Millisecond
	forbidden := domain.Errorf(domain.Forbidden, "forbidden", "You may not.")
	forbidden.RetryAfter = time.Minute
	for _, c := range []struct {
		err                   error
		status                int
		after                 string
		retryable, safeNewKey bool
	}{
		{limited, 429, "3", true, false},
		{domain.Errorf(domain.RateLimited, "rate_limited", "Too many requests."), 429, "1", true, false},
		{forbidden, 403, "", false, false},
		{domain.Errorf(domain.Unauthenticated, "unauthenticated", "Who?"), 401, "", false, false},
		{domain.Errorf(domain.Busy, "operation_in_progress", "Later."), 409, "1", true, false},
		{domain.Errorf(domain.Conflict, "idempotency_key_reused", "No."), 409, "", false, false},
		{errors.New("secret"), 503, "1", true, false},
	} {
		problem := idempotent.ProblemOf(c.err)
		if problem.Status != c.status || problem.Retryable != c.retryable || problem.SafeNewKey != c.safeNewKey || problem.Title != http.StatusText(c.status) {
			t.Errorf("%v: %+v", c.err, problem)
		}
		engine := gin.New()
		engine.POST("/", func(c2 *gin.Context) { idempotent.WriteProblem(c2, c.err) })
		if got := post(engine, "/", "", nil).Header().Get("Retry-After"); got != c.after {
			t.Errorf("%v: Retry-After %q, want %q", c.err, got, c.after)
		}
	}
}
