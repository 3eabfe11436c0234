package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/eenmaal/api"
	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/api/outbound"
	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
	"example.com/eenmaal/store/storetest"
)

func init() { gin.SetMode(gin.TestMode) }

// shop is one process of the shop with its API on a real socket, and a provider of its own unless it
// shares one.
type shop struct {
	*api.API
	t        *testing.T
	db       *store.DB
	registry *idempotent.Registry
	jobs     *jobs.Queue
	server   *httptest.Server
	provider string            // address of the simulated provider
	psp      *simulated.Server // the provider itself, unless it is shared
	clock    *storetest.Clock
	metrics  *prometheus.Registry
	book     *logBook // what the engine logs, unless the test reads that itself
}

type shopOption func(*shopConfig)

type shopConfig struct {
	registry idempotent.Config
	provider string
	clock    *storetest.Clock
	plan     fault.Plan
	attempt  time.Duration
	limits   api.Limits
	askAfter time.Duration
}

func withRegistry(c idempotent.Config) shopOption { return func(s *shopConfig) { s.registry = c } }
func withPlan(p fault.Plan) shopOption            { return func(s *shopConfig) { s.plan = p } }
func withAttempt(d time.Duration) shopOption      { return func(s *shopConfig) { s.attempt = d } }
func withLimits(l api.Limits) shopOption          { return func(s *shopConfig) { s.limits = l } }
func withProvider(url string) shopOption          { return func(s *shopConfig) { s.provider = url } }
func withAskAfter(d time.Duration) shopOption     { return func(s *shopConfig) { s.askAfter = d } }

func newShop(t *testing.T, d storetest.Database, options ...shopOption) *shop {
	t.Helper()
	cfg := shopConfig{clock: &storetest.Clock{}, attempt: 3 * time.Second}
	for _, o := range options {
		o(&cfg)
	}
	s := &shop{t: t, clock: cfg.clock, db: storetest.Seeded(t, d, cfg.clock.Now), provider: cfg.provider,
		metrics: prometheus.NewRegistry(), book: &logBook{}}
	if s.provider == "" {
		s.psp, s.provider = startProvider(t, simulated.ServerConfig{Slow: 700 * time.Millisecond})
	}
	client, err := simulated.NewClient(simulated.ClientConfig{BaseURL: s.provider, AttemptTimeout: cfg.attempt})
	must(t, err)
	cfg.registry.DB, cfg.registry.Metrics = s.db, s.metrics
	if cfg.registry.Log == nil {
		cfg.registry.Log = s.book.logger()
	}
	s.registry, err = idempotent.NewRegistry(cfg.registry)
	must(t, err)
	s.jobs, err = jobs.New(t.Context(), jobs.Config{DB: s.db, ListenURL: d.URL})
	must(t, err)
	t.Cleanup(s.jobs.Close)
	events, err := simulated.NewEventReader([]string{eventSecret, oldEventSecret}, s.db.Now)
	must(t, err)
	s.API, err = api.New(t.Context(), api.Config{DB: s.db, Registry: s.registry, Provider: client, Jobs: s.jobs,
		Events: map[string]domain.EventReader{"simulated": events}, BaseURL: "http://127.0.0.1",
		TTL:    api.TTLs{Contact: 48 * time.Hour, Orders: 72 * time.Hour, Payments: 168 * time.Hour},
		Limits: cfg.limits, Metrics: s.metrics, Outbound: outbound.New(outbound.Config{Demo: true, Timeout: time.Second}), DeliveryPause: 10 * time.Millisecond, AskAfter: cfg.askAfter})
	must(t, err)
	engine := gin.New()
	engine.Use(func(c *gin.Context) {
		id := uuid.NewString()
		c.Header("X-Request-Id", id)
		ctx := context.WithValue(c.Request.Context(), leftKey{}, c.Request.Context().Done())
		ctx = idempotent.WithHints(ctx, idempotent.Hints{RequestID: id, Retry: c.GetHeader("Retry-Attempt") != ""})
		if cfg.plan != nil {
			ctx = fault.With(ctx, cfg.plan)
		}
		c.Request = c.Request.WithContext(ctx)
	})
	s.Routes(engine)
	s.server = httptest.NewServer(engine)
	t.Cleanup(s.server.Close)
	return s
}

type leftKey struct{}

// clientLeft is closed when the server has noticed that the client of a run is gone.
func clientLeft(run context.Context) <-chan struct{} { return run.Value(leftKey{}).(<-chan struct{}) }

func newSlowProvider(t *testing.T, slow time.Duration) string {
	t.Helper()
	_, address := startProvider(t, simulated.ServerConfig{Slow: slow})
	return address
}

func startProvider(t *testing.T, cfg simulated.ServerConfig) (*simulated.Server, string) {
	t.Helper()
	cfg.Path, cfg.WebhookSecret = filepath.Join(t.TempDir(), "psp.db"), eventSecret
	psp, err := simulated.NewServer(cfg)
	must(t, err)
	server := httptest.NewServer(psp)
	psp.SetPublicURL(server.URL)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close(); _ = psp.Close() })
	return psp, server.URL
}

// work lets this process do its jobs, from now to the end of the test, under the plan if there is one.
func (s *shop) work(plans ...fault.Plan) {
	s.t.Helper()
	ctx := s.t.Context()
	for _, plan := range plans {
		ctx = fault.With(ctx, plan)
	}
	must(s.t, s.jobs.Start(ctx))
	s.t.Cleanup(func() {
		stop, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.jobs.Stop(stop); err != nil {
			s.t.Error(err)
		}
	})
}

// until waits for what must come true; how fast it does is not judged.
func (s *shop) until(what string, true func() bool) {
	s.t.Helper()
	for end := time.Now().Add(60 * time.Second); !true(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain until %s", what)
		}
	}
}

// Secrets of the provider's events: the one in use, and the one before it.
const (
	eventSecret    = "whsec_bmV3LXNlY3JldC1uZXctc2VjcmV0LW5ldy1zZWNyZXQ="
	oldEventSecret = "whsec_b2xkLXNlY3JldC1vbGQtc2VjcmV0LW9sZC1zZWNyZXQ="
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answer is what came back over the wire.
type answer struct {
	Status int
	Header http.Header
	Body   string
}

func (a answer) field(t *testing.T, name string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(a.Body), &m); err != nil {
		t.Fatalf("body %q: %v", a.Body, err)
	}
	s, _ := m[name].(string)
	return s
}

type call struct {
	method, path, body string
	key                string
	consumer           string // bearer key; demo-alpha when empty
	header             http.Header
}

func (s *shop) do(c call) answer {
	s.t.Helper()
	a, err := s.try(context.Background(), c)
	must(s.t, err)
	return a
}

func (s *shop) try(ctx context.Context, c call) (answer, error) {
	req, err := s.request(ctx, c)
	if err != nil {
		return answer{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	got := answer{resp.StatusCode, resp.Header, string(body)}
	if err == nil {
		s.asAgreed(exchange{req, c.body, got})
	}
	return got, err
}

func (s *shop) request(ctx context.Context, c call) (*http.Request, error) {
	if c.method == "" {
		c.method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, c.method, s.server.URL+c.path, bytes.NewBufferString(c.body))
	if err != nil {
		return nil, err
	}
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.consumer == "" {
		c.consumer = "demo-alpha"
	}
	req.Header.Set("Authorization", "Bearer "+c.consumer)
	for name, values := range c.header {
		req.Header[name] = values
	}
	if c.key != "" {
		req.Header.Add("Idempotency-Key", c.key)
	}
	return req, nil
}

// asAgreed holds every exchange of the suite against the contract.
func (s *shop) asAgreed(e exchange) {
	s.t.Helper()
	for _, trouble := range theContract().examine(e) {
		s.t.Errorf("%s %s (key %q, body %.300q): %s", e.request.Method, e.request.URL.RequestURI(),
			e.request.Header.Get("Idempotency-Key"), e.body, trouble)
	}
}

func (s *shop) order(key, body string) answer {
	return s.do(call{path: "/v1/orders", key: key, body: body})
}
func (s *shop) pay(key, orderID, token string) answer {
	return s.do(call{path: "/v1/payments", key: key, body: payBody(orderID, token)})
}

func payBody(orderID, token string) string {
	return `{"order_id":"` + orderID + `","method":{"type":"card","token":"` + token + `"}}`
}

func (s *shop) newOrder() (id, number string) {
	s.t.Helper()
	a := s.order(newKey(), mugOrder)
	if a.Status != 201 {
		s.t.Fatalf("order: %d %s", a.Status, a.Body)
	}
	return a.field(s.t, "id"), a.field(s.t, "number")
}

// newPayment pays a new order by card, with automatic or manual capture.
func (s *shop) newPayment(capture string) (id, number string) {
	s.t.Helper()
	order, number := s.newOrder()
	a := s.do(call{path: "/v1/payments", key: newKey(), body: strings.Replace(payBody(order, "tok_ok"), "{", `{"capture":"`+capture+`",`, 1)})
	wantStatus(s.t, "payment", a, 201)
	return a.field(s.t, "id"), number
}

// change asks for a capture, void or refund of a payment. An empty body asks for all that is left.
func (s *shop) change(payment, what, body string) answer {
	s.t.Helper()
	return s.do(call{path: "/v1/payments/" + payment + "/" + what, key: newKey(), body: body})
}

const addressBody = `{"address":{"line1":"Rokin 2","postal_code":"1012 KR","city":"Amsterdam","country":"NL"}}`

const mugOrder = `{"email":"sanne@example.nl","name":"Sanne de Vries","address":{"line1":"Damrak 1","postal_code":"1012 AB","city":"Amsterdam","country":"NL"},"items":[{"sku":"mug","quantity":2}]}`

const contactBody = `{"name":"Sanne","email":"sanne@example.nl","message":"Is the mug blue?"}`

func newKey() string { return uuid.Must(uuid.NewV7()).String() }

// count counts rows by plain SQL, as a witness from outside the code under test.
func (s *shop) count(query string, args ...any) int {
	s.t.Helper()
	var n int
	if s.db.Postgres() {
		for i := 1; strings.Contains(query, "?"); i++ {
			query = strings.Replace(query, "?", "$"+string(rune('0'+i)), 1)
		}
	}
	must(s.t, s.db.SQL().QueryRowContext(context.Background(), query, args...).Scan(&n))
	return n
}

func (s *shop) stock(sku string) int { return s.count("SELECT stock FROM products WHERE sku = ?", sku) }

// charges asks the provider's own ledger.
func (s *shop) charges(number string) []domain.Charge {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.provider+"/psp/v1/charges?reference="+number, nil)
	must(s.t, err)
	resp, err := http.DefaultClient.Do(req)
	must(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	var ledger struct {
		Charges []struct {
			ID                         string
			Status                     string
			Amount, Captured, Refunded int64
		}
	}
	must(s.t, json.NewDecoder(resp.Body).Decode(&ledger))
	var list []domain.Charge
	for _, c := range ledger.Charges {
		list = append(list, domain.Charge{ID: c.ID, Status: domain.ChargeStatus(c.Status), Amount: domain.EUR(c.Amount),
			Captured: domain.EUR(c.Captured), Refunded: domain.EUR(c.Refunded)})
	}
	return list
}
