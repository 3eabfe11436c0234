package api_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/store/storetest"
)

// TestEveryChangingRouteIsAnOperation keeps a POST from being mounted beside the engine. Covers S46.
func TestEveryChangingRouteIsAnOperation(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t))
	operations := map[string]bool{}
	for _, op := range s.registry.Operations() {
		operations[op.Pattern] = false
	}
	engine := gin.New()
	s.Routes(engine)
	for _, route := range engine.Routes() {
		if route.Method == http.MethodGet || route.Method == http.MethodHead || route.Method == http.MethodOptions {
			continue
		}
		pattern := route.Method + " " + route.Path
		if pattern == "POST /v1/webhooks/:provider" {
			continue // its key is the event's id: TestEightDeliveriesOfOneEventHaveOneEffect
		}
		if _, known := operations[pattern]; !known {
			t.Errorf("%s changes things and is no operation: register it with idempotent.Local or Phased", pattern)
		}
		operations[pattern] = true
	}
	for pattern, mounted := range operations {
		if !mounted {
			t.Errorf("%s is registered and not mounted", pattern)
		}
	}
}

// TestEveryOperationIsInTheSuite: an example is all that the suite needs.
func TestEveryOperationIsInTheSuite(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t))
	covered := map[string]bool{}
	for _, e := range examples {
		covered[e.pattern] = true
	}
	for _, op := range s.registry.Operations() {
		if !covered[op.Pattern] {
			t.Errorf("%s has no example in twice_test.go", op.Pattern)
		}
		delete(covered, op.Pattern)
	}
	for pattern := range covered {
		t.Errorf("the example for %s has no operation", pattern)
	}
}

// TestEveryRouteWithAnIDHidesWhatIsNotTheCallers covers S1 and F16, for routes to come too: a new one
// fails here until it is listed with something its id names, and what its owner gets.
func TestEveryRouteWithAnIDHidesWhatIsNotTheCallers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		rows := s.routesWithAnID()
		hooks, delivery := s.webhookRoutes()
		maps.Copy(rows, hooks)
		engine := gin.New()
		s.Routes(engine)
		for _, route := range engine.Routes() {
			if !strings.Contains(route.Path, ":") || route.Path == "/v1/webhooks/:provider" {
				continue
			}
			row, known := rows[route.Method+" "+route.Path]
			if !known {
				t.Errorf("%s %s has no row in this test", route.Method, route.Path)
				continue
			}
			for _, stranger := range []struct {
				id, consumer string
				status       int
			}{{row.id, "demo-beta", 404}, {row.id, "nobody", 401}, {"1", "demo-alpha", 404}, {"{" + row.id[1:], "demo-alpha", 404},
				{"%27%20OR%201=1--", "demo-alpha", 404}, {row.id, "demo-alpha", row.status}} {
				c := call{method: route.Method, path: strings.NewReplacer(":id", stranger.id, ":delivery", delivery).Replace(route.Path), consumer: stranger.consumer, body: row.body}
				if route.Method != http.MethodGet {
					c.key = newKey()
				}
				if got := s.do(c); got.Status != stranger.status {
					t.Errorf("%s %s by %s: got %d %s, want %d", route.Method, c.path, stranger.consumer, got.Status, got.Body, stranger.status)
				}
			}
		}
	})
}

type idRow struct {
	id, body string
	status   int
}

// routesWithAnID makes one of everything and tells by which routes it is reached.
func (s *shop) routesWithAnID() map[string]idRow {
	s.t.Helper()
	order, _ := s.newOrder()
	unwanted, _ := s.newOrder()
	paid, _ := s.newPayment("automatic")
	reserved, _ := s.newPayment("manual")
	captured, _ := s.newPayment("manual")
	voided, _ := s.newPayment("manual")
	capture := s.change(captured, "captures", "")
	void := s.change(voided, "voids", "")
	refund := s.change(paid, "refunds", `{"amount":1}`)
	key := newKey()
	wantStatus(s.t, "order", s.order(key, mugOrder), 201)
	operation := s.do(call{method: "GET", path: "/v1/operations?endpoint=POST+/v1/orders&key=" + key})
	return map[string]idRow{
		"GET /v1/orders/:id":                {order, "", 200},
		"PATCH /v1/orders/:id":              {order, addressBody, 200},
		"POST /v1/orders/:id/cancellations": {unwanted, "", 201},
		"GET /v1/payments/:id":              {paid, "", 200},
		"POST /v1/payments/:id/captures":    {reserved, `{"amount":1}`, 201},
		"POST /v1/payments/:id/voids":       {reserved, "", 201},
		"POST /v1/payments/:id/refunds":     {paid, `{"amount":1}`, 202},
		"GET /v1/payments/:id/refunds":      {paid, "", 200},
		"GET /v1/captures/:id":              {capture.field(s.t, "id"), "", 200},
		"GET /v1/voids/:id":                 {void.field(s.t, "id"), "", 200},
		"GET /v1/operations/:id":            {operation.field(s.t, "id"), "", 200},
		"GET /v1/refunds/:id":               {refund.field(s.t, "id"), "", 200},
	}
}
