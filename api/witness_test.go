package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
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

// problem is what a refusal says of itself.
type problem struct {
	Code       string
	Detail     string
	Retryable  bool
	SafeNewKey bool `json:"safe_new_key"`
	Resource   string
	Operation  string
	Errors     []domain.FieldError
}

// refusal checks that an answer is the problem document that is expected. Retry-After goes with what
// may pass and with nothing else.
func refusal(t *testing.T, what string, a answer, status int, code string) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal([]byte(a.Body), &p); err != nil {
		t.Fatalf("%s: got %d %q, want %d %s", what, a.Status, a.Body, status, code)
	}
	if a.Status != status || p.Code != code {
		t.Errorf("%s: got %d %s (%s), want %d %s", what, a.Status, p.Code, a.Body, status, code)
	}
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("%s: Content-Type %q", what, got)
	}
	if waits := a.Header.Get("Retry-After") != ""; waits != p.Retryable {
		t.Errorf("%s: Retry-After %q with retryable %v", what, a.Header.Get("Retry-After"), p.Retryable)
	}
	return p
}

func wantStatus(t *testing.T, what string, a answer, status int) {
	t.Helper()
	if a.Status != status {
		t.Fatalf("%s: got %d %s, want %d", what, a.Status, a.Body, status)
	}
}

// wantReplay checks that an answer repeats an earlier one byte for byte and says so.
func wantReplay(t *testing.T, what string, first, again answer) {
	t.Helper()
	sameAnswer(t, what, first, again)
	if got := again.Header.Get("Idempotent-Replayed"); got != "true" {
		t.Errorf("%s: Idempotent-Replayed is %q", what, got)
	}
}

// exec changes the database behind the program's back.
func (s *shop) exec(statement string) {
	s.t.Helper()
	_, err := s.db.SQL().ExecContext(context.Background(), statement)
	must(s.t, err)
}

// effects counts everything a request can leave behind, but for its key.
func (s *shop) effects() (counts [6]int) {
	s.t.Helper()
	for i, query := range []string{"SELECT count(*) FROM orders", "SELECT count(*) FROM order_lines", "SELECT sum(stock) FROM products",
		"SELECT count(*) FROM payments", "SELECT count(*) FROM mails", "SELECT count(*) FROM messages"} {
		counts[i] = s.count(query)
	}
	return counts
}

func (s *shop) keys() int { return s.count("SELECT count(*) FROM idempotency_keys") }

// paidOnce checks that an order was charged once, paid once and confirmed once.
func (s *shop) paidOnce(orderID, number string) {
	s.t.Helper()
	if got := s.charges(number); len(got) != 1 || got[0].Status != domain.ChargeSucceeded {
		s.t.Errorf("the provider's ledger has %v, want one charge", got)
	}
	if got := s.count("SELECT count(*) FROM payments WHERE order_id = ?", orderID); got != 1 {
		s.t.Errorf("payments: got %d, want 1", got)
	}
	if got := s.count("SELECT count(*) FROM payments WHERE order_id = ? AND status = 'paid'", orderID); got != 1 {
		s.t.Errorf("paid payments: got %d, want 1", got)
	}
	if got := s.count("SELECT count(*) FROM orders WHERE id = ? AND status = 'paid'", orderID); got != 1 {
		s.t.Error("the order is not paid")
	}
	if got := s.count("SELECT count(*) FROM mails WHERE about = ?", orderID); got != 1 {
		s.t.Errorf("mails: got %d, want 1", got)
	}
	if got := s.count("SELECT count(*) FROM river_job WHERE kind = 'send_mail'"); got != s.count("SELECT count(*) FROM mails") {
		s.t.Errorf("jobs: got %d, want one per mail", got)
	}
}

// untilFinal sends a request with one key until its answer is final, as a good client does.
func (s *shop) untilFinal(c call) answer {
	s.t.Helper()
	for range 100 {
		a := s.do(c)
		if a.Status != http.StatusServiceUnavailable && (a.Status != http.StatusConflict || a.Header.Get("Retry-After") == "") {
			return a
		}
		if a.Header.Get("Retry-After") == "" {
			s.t.Fatalf("%d without Retry-After: %s", a.Status, a.Body)
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.t.Fatal("no final answer")
	return answer{}
}

// faults is a plan that a test changes while its shop runs: each is met once.
type faults struct {
	mu     sync.Mutex
	at     map[string]fault.Plan
	passed []string // points, in the order in which runs came by
}

func (f *faults) once(point string, plan fault.Plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at == nil {
		f.at = map[string]fault.Plan{}
	}
	f.at[point] = plan
}

func (f *faults) plan(ctx context.Context, point string) error {
	f.mu.Lock()
	f.passed = append(f.passed, point)
	plan := f.at[point]
	delete(f.at, point)
	f.mu.Unlock()
	if plan == nil {
		return nil
	}
	return plan(ctx, point)
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = nil
}

// hold makes the next run stop at a point, whatever its context says, until release is called.
func (f *faults) hold(t *testing.T, point string) (reached <-chan struct{}, release func()) {
	arrived, free := make(chan struct{}), make(chan struct{})
	f.once(point, func(context.Context, string) error {
		close(arrived)
		<-free
		return nil
	})
	release = sync.OnceFunc(func() { close(free) })
	t.Cleanup(release)
	return arrived, release
}

// await fails the test when something does not happen at all; how fast it does is not judged.
func await(t *testing.T, what string, happened <-chan struct{}) {
	t.Helper()
	select {
	case <-happened:
	case <-time.After(30 * time.Second):
		t.Fatalf("waited in vain for %s", what)
	}
}

// inBackground sends a request and gives its answer later.
func (s *shop) inBackground(c call) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		a, err := s.try(context.Background(), c)
		if err != nil {
			a.Body = err.Error()
		}
		done <- a
	}()
	return done
}

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

// source is one of the places where a finished answer is found.
type source struct {
	*shop
	name string
	copy *store.Answers
}

// eachSource runs a test on both databases, once for each place that may answer a repeat: the memory
// of the process, the copy in Redis, and the database.
func eachSource(t *testing.T, test func(t *testing.T, s source), options ...shopOption) {
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		for _, name := range []string{"memory", "Redis", "database"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, newSource(t, d, name, options))
			})
		}
	})
}

// fresh makes another empty database of the same kind.
func fresh(t *testing.T, like storetest.Database) storetest.Database {
	t.Helper()
	if like.URL == "" {
		return storetest.SQLite(t)
	}
	return storetest.Postgres(t)
}

func newSource(t *testing.T, d storetest.Database, name string, options []shopOption) source {
	d = fresh(t, d)
	src, cfg := source{name: name}, idempotent.Config{CacheBytes: -1}
	switch name {
	case "memory":
		cfg.CacheBytes = 0
	case "Redis":
		src.copy = newAnswers(t, storetest.RedisURL(t), nil)
		cfg.Answers = src.copy
	}
	src.shop = newShop(t, d, append([]shopOption{func(s *shopConfig) {
		s.registry.CacheBytes, s.registry.Answers = cfg.CacheBytes, cfg.Answers
	}}, options...)...)
	return src
}

func newAnswers(t *testing.T, url string, log *slog.Logger) *store.Answers {
	t.Helper()
	answers, err := store.OpenAnswers(url, "test", log)
	must(t, err)
	t.Cleanup(func() { _ = answers.Close() })
	return answers
}

// only leaves an answer in this source alone, so that nothing else can have given it.
func (s source) only(c call, pattern string) {
	s.t.Helper()
	if s.copy != nil {
		s.copied(c, pattern)
	}
	if s.name != "database" {
		s.exec("DELETE FROM idempotency_keys")
	}
}

// copied waits until an answer is in Redis.
func (s source) copied(c call, pattern string) {
	s.t.Helper()
	scope := s.scope(c.key, pattern)
	for i := 0; ; i++ {
		if _, _, ok := s.copy.Get(s.t.Context(), scope); ok {
			return
		}
		if i == 500 {
			s.t.Fatal("the answer was never copied to Redis")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// again repeats a request as this source needs it: Redis is asked only for what says it is a repeat.
func (s source) again(c call) answer {
	s.t.Helper()
	c.header = http.Header{"Retry-Attempt": {"1"}}
	return s.do(c)
}

// scope finds the numbers of a key of demo-alpha in the database.
func (s *shop) scope(key, pattern string) domain.Scope {
	s.t.Helper()
	parsed, err := domain.ParseKey(key)
	must(s.t, err)
	return domain.Scope{Key: parsed, Consumer: int64(s.count("SELECT id FROM consumers WHERE name = 'alpha'")),
		Endpoint: int16(s.count("SELECT id FROM endpoints WHERE pattern = ?", pattern))} //nolint:gosec // a smallint
}
