package simulated_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/domain"
)

const chargesPath = "/psp/v1/charges"

// provider is a running server and the way to its ledger.
type provider struct {
	*simulated.Server
	URL  string
	http *http.Client
}

// entry is a charge as contract.md writes it, declared anew so that a renamed field fails a test.
type entry struct {
	ID             string    `json:"id"`
	Reference      string    `json:"reference"`
	IdempotencyKey string    `json:"idempotency_key"`
	Amount         int64     `json:"amount"`
	Currency       string    `json:"currency"`
	Status         string    `json:"status"`
	Captured       int64     `json:"captured"`
	Refunded       int64     `json:"refunded"`
	Version        int64     `json:"version"`
	RedirectURL    string    `json:"redirect_url"`
	CreatedAt      time.Time `json:"created_at"`
}

// answer is what a client of the server sees.
type answer struct {
	status int
	body   string
}

func setup(t *testing.T) *provider {
	t.Helper()
	return serve(t, simulated.ServerConfig{Path: ledgerFile(t), Slow: 300 * time.Millisecond})
}

func ledgerFile(t *testing.T) string { return filepath.Join(t.TempDir(), "provider #1?.db") }

func serve(t *testing.T, cfg simulated.ServerConfig) *provider {
	t.Helper()
	server, err := simulated.NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		web.Close()
	})
	return &provider{Server: server, URL: web.URL, http: web.Client()}
}

func (p *provider) client(t *testing.T, cfg simulated.ClientConfig) *simulated.Client {
	t.Helper()
	cfg.BaseURL = p.URL
	client, err := simulated.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func order(reference, token string) string {
	return `{"reference":"` + reference + `","amount":4195,"currency":"EUR","token":"` + token + `"}`
}

func (p *provider) post(t *testing.T, key, body string) answer {
	t.Helper()
	return p.postTo(t, chargesPath, key, body)
}

func (p *provider) postTo(t *testing.T, path, key, body string) answer {
	t.Helper()
	got, err := p.postPath(t.Context(), path, key, body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (p *provider) postContext(ctx context.Context, key, body string) (answer, error) {
	return p.postPath(ctx, chargesPath, key, body)
}

func (p *provider) postPath(ctx context.Context, path, key, body string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return p.do(req)
}

func (p *provider) get(t *testing.T, path string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.do(req)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (p *provider) do(req *http.Request) (answer, error) {
	res, err := p.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, string(body)}, err
}

// fault makes the next such modification of the charge go wrong.
func (p *provider) fault(t *testing.T, call domain.ModificationKind, fault, charge string) {
	t.Helper()
	want(t, p.postTo(t, "/psp/v1/faults", "", `{"call":"`+string(call)+`","fault":"`+fault+`","charge":"`+charge+`"}`), http.StatusCreated, "")
}

// entries asks the ledger. query is "reference" or "idempotency_key".
func (p *provider) entries(t *testing.T, query, value string) []entry {
	t.Helper()
	got := p.get(t, chargesPath+"?"+url.Values{query: {value}}.Encode())
	var list struct {
		Charges []entry `json:"charges"`
	}
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || got.status != http.StatusOK {
		t.Fatalf("ledger: got %+v, want a list (%v)", got, err)
	}
	return list.Charges
}

// paid checks how many charges for the reference succeeded.
func (p *provider) paid(t *testing.T, reference string, want int) {
	t.Helper()
	got := 0
	for _, e := range p.entries(t, "reference", reference) {
		if e.Status == "succeeded" {
			got++
		}
	}
	if got != want {
		t.Fatalf("ledger of %s: got %d succeeded charges, want %d", reference, got, want)
	}
}

// charges gives the ledger in the domain's words, for the conformance suite.
func (p *provider) charges(t *testing.T, reference string) []domain.Charge {
	var list []domain.Charge
	for _, e := range p.entries(t, "reference", reference) {
		money := func(amount int64) domain.Money { return domain.Money{Amount: amount, Currency: e.Currency} }
		list = append(list, domain.Charge{ID: e.ID, Reference: e.Reference, Key: e.IdempotencyKey, Amount: money(e.Amount),
			Captured: money(e.Captured), Refunded: money(e.Refunded), Status: domain.ChargeStatus(e.Status),
			RedirectURL: e.RedirectURL, Version: e.Version, CreatedAt: e.CreatedAt})
	}
	return list
}

func want(t *testing.T, got answer, status int, code string) {
	t.Helper()
	var body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal([]byte(got.body), &body)
	if got.status != status || body.Code != code || (code != "" && body.Message == "") {
		t.Fatalf("got %d %s, want %d with code %q", got.status, got.body, status, code)
	}
}

// eventually waits for a condition that something else makes true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never happened: %s", what)
}

// clock stands still until time is let pass.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) read() time.Time      { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
func (c *clock) pass(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }
