package api_test

import (
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

// TestEveryOperationIsCalledTwice keeps the suite of twice_test.go complete.
func TestEveryOperationIsCalledTwice(t *testing.T) {
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

// TestEveryRouteWithAnIDHidesWhatIsNotTheCallers covers S1 for routes to come: a new one fails here
// until it is listed with the kind of thing its id names.
func TestEveryRouteWithAnIDHidesWhatIsNotTheCallers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		order, _ := s.newOrder()
		payment := s.pay(newKey(), order, "tok_ok")
		wantStatus(t, "payment", payment, 201)
		key := newKey()
		wantStatus(t, "order", s.order(key, mugOrder), 201)
		operation := s.do(call{method: "GET", path: "/v1/operations?endpoint=POST+/v1/orders&key=" + key})
		ids := map[string]string{"/v1/orders/:id": order, "/v1/payments/:id": payment.field(t, "id"), "/v1/operations/:id": operation.field(t, "id")}
		engine := gin.New()
		s.Routes(engine)
		for _, route := range engine.Routes() {
			if !strings.Contains(route.Path, ":") {
				continue
			}
			id, known := ids[route.Path]
			if !known {
				t.Errorf("%s %s has no row in this test", route.Method, route.Path)
				continue
			}
			for _, stranger := range []struct {
				id, consumer string
				status       int
			}{{id, "demo-alpha", 200}, {id, "demo-beta", 404}, {id, "nobody", 401}, {"1", "demo-alpha", 404},
				{"{" + id[1:], "demo-alpha", 404}, {"%27%20OR%201=1--", "demo-alpha", 404}} {
				path := strings.Replace(route.Path, ":id", stranger.id, 1)
				if got := s.do(call{method: route.Method, path: path, consumer: stranger.consumer}); got.Status != stranger.status {
					t.Errorf("%s %s by %s: got %d, want %d", route.Method, path, stranger.consumer, got.Status, stranger.status)
				}
			}
		}
	})
}
