package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/api/client"
)

// fakeShop answers as the API does: at most one effect per endpoint and key, and the stored answer
// ever after. A script says what goes wrong with which arrival.
type fakeShop struct {
	mu       sync.Mutex
	arrivals []arrival         // of calls that change something
	asked    []arrival         // of reads
	script   []fault           // one for every arrival, nil for none; the last one stays
	stored   map[string]answer // by endpoint and key
	bodies   map[string]string // the same
	effects  int
	secret   string                // the only one that is accepted; any when empty
	state    client.OperationState // of keys without a stored answer; NotFound when empty
	mute     bool                  // reads get no answer
}

type arrival struct {
	endpoint, key, retry, body string
	ctx                        context.Context
	at                         time.Time
}

type answer struct {
	status int
	header http.Header
	body   string
}

// fault answers in place of the shop; nil is an answer that got lost.
type fault func(s *fakeShop, a arrival) *answer

// lost: done, and nobody hears of it.
func lost(s *fakeShop, a arrival) *answer { s.run(a); return nil }

// unheard: lost on the way to the shop.
func unheard(*fakeShop, arrival) *answer { return nil }

// silent: done, and the connection stays open without a word.
func silent(s *fakeShop, a arrival) *answer { s.run(a); <-a.ctx.Done(); return nil }

// says answers without doing anything.
func says(status int, code, retryAfter string) fault {
	header := http.Header{}
	if retryAfter != "" {
		header.Set("Retry-After", retryAfter)
	}
	return func(*fakeShop, arrival) *answer {
		return &answer{status, header, fmt.Sprintf(`{"code":%q,"detail":"In words."}`, code)}
	}
}

// arrive is one request at the shop.
func (s *fakeShop) arrive(r *http.Request) *answer {
	body, _ := io.ReadAll(r.Body)
	a := arrival{r.Method + " " + r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header.Get("Retry-Attempt"), string(body), r.Context(), time.Now()}
	if s.secret != "" && r.Header.Get("Authorization") != "Bearer "+s.secret {
		s.note(&s.arrivals, a)
		return &answer{401, nil, `{"code":"unauthenticated","safe_new_key":true}`}
	}
	if r.Method == http.MethodGet {
		if s.note(&s.asked, a); s.isMute() {
			<-a.ctx.Done()
			return nil
		}
		return s.read(r)
	}
	s.note(&s.arrivals, a)
	if f := s.nextFault(); f != nil {
		return f(s, a)
	}
	return s.run(a)
}

func (s *fakeShop) note(list *[]arrival, a arrival) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = append(*list, a)
}

func (s *fakeShop) isMute() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mute
}

func (s *fakeShop) nextFault() fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.script) == 0 {
		return nil
	}
	f := s.script[0]
	if len(s.script) > 1 {
		s.script = s.script[1:]
	}
	return f
}

func (s *fakeShop) run(a arrival) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := a.endpoint + " " + a.key
	if got, ok := s.stored[name]; ok {
		if s.bodies[name] != a.body {
			return &answer{409, nil, `{"code":"idempotency_key_reused"}`}
		}
		got.header = http.Header{"Idempotent-Replayed": {"true"}}
		return &got
	}
	s.effects++
	made := answer{201, nil, fmt.Sprintf(`{"id":"no-%d","number":"EM-%d","status":"paid"}`, s.effects, s.effects)}
	if strings.Contains(a.body, "tok_declined") {
		made = answer{402, nil, `{"id":"no-1","status":"declined","code":"card_declined","detail":"The bank said no."}`}
	}
	if s.stored == nil {
		s.stored, s.bodies = map[string]answer{}, map[string]string{}
	}
	s.stored[name], s.bodies[name] = made, a.body
	return &made
}

func (s *fakeShop) read(r *http.Request) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path != "/v1/operations" {
		return &answer{200, nil, `{"id":"no-1","number":"EM-1","status":"paid"}`}
	}
	state := s.state
	if _, ok := s.stored[r.FormValue("endpoint")+" "+r.FormValue("key")]; ok && state == "" {
		state = client.Completed
	}
	if state == "" {
		return &answer{404, nil, `{"code":"operation_not_found"}`}
	}
	body, _ := json.Marshal(map[string]any{"id": "op_1", "endpoint": r.FormValue("endpoint"), "key": r.FormValue("key"), "state": state, "attempts": 1})
	return &answer{200, nil, string(body)}
}

// RoundTrip is the shop without a network, for tests inside a synctest bubble.
func (s *fakeShop) RoundTrip(r *http.Request) (*http.Response, error) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		trace.WroteHeaders()
	}
	got := s.arrive(r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if got == nil {
		return nil, errors.New("connection reset")
	}
	header := http.Header{}
	if got.header != nil {
		header = got.header
	}
	return &http.Response{StatusCode: got.status, Header: header, Body: io.NopCloser(strings.NewReader(got.body)), Request: r}, nil
}

// ServeHTTP is the shop on a real socket. A lost answer breaks the connection.
func (s *fakeShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got := s.arrive(r)
	if got == nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range got.header {
		w.Header()[name] = values
	}
	w.WriteHeader(got.status)
	_, _ = io.WriteString(w, got.body)
}

// client calls the shop without a network.
func (s *fakeShop) client(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	cfg.BaseURL, cfg.HTTP = "http://shop.test", &http.Client{Transport: s}
	if cfg.Secret == "" {
		cfg.Secret = "demo-alpha"
	}
	c, err := client.New(cfg)
	must(t, err)
	return c
}

// letters keeps dead letters in memory.
type letters struct {
	list []client.DeadLetter
	err  error
}

func (l *letters) Put(ctx context.Context, letter client.DeadLetter) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.list = append(l.list, letter)
	return l.err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// oneKey checks that all arrivals are the same request, numbered as retries.
func oneKey(t *testing.T, arrivals []arrival) {
	t.Helper()
	for i, a := range arrivals {
		first := arrivals[0]
		if a.key == "" || a.key != first.key || a.body != first.body || a.endpoint != first.endpoint {
			t.Errorf("arrival %d: %+v, the first was %+v", i, a, first)
		}
		if want := fmt.Sprint(i); a.retry != want && (i > 0 || a.retry != "") {
			t.Errorf("arrival %d says Retry-Attempt %q", i, a.retry)
		}
	}
}
