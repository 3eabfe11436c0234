package api_test

import (
	"fmt"
	"sync"
	"testing"

	"example.com/eenmaal/store/storetest"
)

// example is one valid request for an operation, and what it must have done, counted from outside.
type example struct {
	pattern string
	status  int
	request func(s *shop) call
	effects func(s *shop) string
}

var examples = []example{
	{"POST /v1/orders", 201, func(*shop) call { return call{path: "/v1/orders", body: mugOrder} },
		func(s *shop) string {
			return fmt.Sprint(s.count("SELECT count(*) FROM orders"), s.count("SELECT count(*) FROM order_lines"), s.stock("mug"))
		}},
	{"POST /v1/payments", 201, func(s *shop) call {
		id, _ := s.newOrder()
		return call{path: "/v1/payments", body: payBody(id, "tok_ok")}
	}, func(s *shop) string {
		return fmt.Sprint(s.count("SELECT count(*) FROM payments WHERE status = 'paid'"), s.count("SELECT count(*) FROM payments"),
			s.count("SELECT count(*) FROM mails"), s.count("SELECT count(*) FROM river_job WHERE kind = 'send_mail'"),
			s.count("SELECT count(*) FROM orders WHERE status = 'paid'"), len(s.allCharges()))
	}},
	{"PATCH /v1/orders/:id", 200, func(s *shop) call {
		id, _ := s.newOrder()
		return call{method: "PATCH", path: "/v1/orders/" + id, body: addressBody}
	}, func(s *shop) string {
		return fmt.Sprint(s.count("SELECT count(*) FROM orders WHERE line1 = 'Rokin 2'"), s.count("SELECT count(*) FROM orders"))
	}},
	{"POST /v1/orders/:id/cancellations", 201, func(s *shop) call {
		payment, _ := s.newPayment("automatic")
		return call{path: "/v1/orders/" + s.orderOf(payment) + "/cancellations"}
	}, func(s *shop) string {
		return fmt.Sprint(s.count("SELECT count(*) FROM orders WHERE status = 'cancelled'"), s.count("SELECT count(*) FROM cancellations"),
			s.count("SELECT count(*) FROM modifications WHERE kind = 'refund'"), s.stock("mug"),
			s.count("SELECT count(*) FROM mails"), s.count("SELECT count(*) FROM river_job"))
	}},
	{"POST /v1/payments/:id/captures", 201, func(s *shop) call {
		id, _ := s.newPayment("manual")
		return call{path: "/v1/payments/" + id + "/captures", body: `{"amount":{"amount":1000,"currency":"EUR"}}`}
	}, func(s *shop) string {
		return fmt.Sprint(s.count("SELECT sum(captured) FROM payments"), s.count("SELECT count(*) FROM modifications WHERE kind = 'capture'"),
			s.count("SELECT count(*) FROM mails"), s.count("SELECT count(*) FROM orders WHERE status = 'paid'"), s.movedAtProvider())
	}},
	{"POST /v1/payments/:id/voids", 201, func(s *shop) call {
		id, _ := s.newPayment("manual")
		return call{path: "/v1/payments/" + id + "/voids"}
	}, func(s *shop) string {
		return fmt.Sprint(s.count("SELECT count(*) FROM payments WHERE status = 'voided'"), s.count("SELECT count(*) FROM modifications"), s.movedAtProvider())
	}},
	{"POST /v1/payments/:id/refunds", 202, func(s *shop) call {
		id, _ := s.newPayment("automatic")
		return call{path: "/v1/payments/" + id + "/refunds", body: `{"amount":500}`}
	}, func(s *shop) string {
		return fmt.Sprint(s.count("SELECT count(*) FROM modifications WHERE kind = 'refund'"), s.count("SELECT count(*) FROM river_job"))
	}},
	{"POST /v1/contact-messages", 201, func(*shop) call { return call{path: "/v1/contact-messages", body: contactBody} },
		func(s *shop) string { return fmt.Sprint(s.count("SELECT count(*) FROM messages")) }},
	{"POST /v1/webhook-endpoints", 201, func(*shop) call { return call{path: "/v1/webhook-endpoints", body: endpointBody(newKey())} },
		func(s *shop) string { return fmt.Sprint(s.count("SELECT count(*) FROM webhook_endpoints")) }},
	{"DELETE /v1/webhook-endpoints/:id", 200, func(s *shop) call {
		return call{method: "DELETE", path: "/v1/webhook-endpoints/" + s.newEndpoint("http://localhost/"+newKey())}
	}, func(s *shop) string {
		return fmt.Sprint(s.count("SELECT count(*) FROM webhook_endpoints WHERE deleted_at IS NULL"), s.count("SELECT count(*) FROM webhook_endpoints"))
	}},
	{"POST /v1/webhook-endpoints/:id/deliveries/:delivery/redeliveries", 202, func(s *shop) call {
		endpoint := s.newEndpoint("http://localhost/" + newKey())
		return call{path: "/v1/webhook-endpoints/" + endpoint + "/deliveries/" + s.deadDelivery(endpoint) + "/redeliveries"}
	}, func(s *shop) string {
		return fmt.Sprint(s.count("SELECT count(*) FROM deliveries WHERE state = 'pending'"), s.count("SELECT count(*) FROM deliveries"),
			s.count("SELECT count(*) FROM river_job WHERE kind = 'deliver_event'"))
	}},
}

func (s *shop) orderOf(payment string) (id string) {
	s.t.Helper()
	pay, err := s.db.Payment(s.t.Context(), payment)
	must(s.t, err)
	return pay.OrderID
}

// movedAtProvider sums what the provider's own ledger says of all orders: captured and refunded cents.
func (s *shop) movedAtProvider() (moved [2]int64) {
	s.t.Helper()
	for _, number := range s.texts("SELECT number FROM orders") {
		for _, c := range s.charges(number) {
			moved[0], moved[1] = moved[0]+c.Captured.Amount, moved[1]+c.Refunded.Amount
		}
	}
	return moved
}

// texts reads one column of texts.
func (s *shop) texts(query string) (list []string) {
	s.t.Helper()
	rows, err := s.db.SQL().QueryContext(s.t.Context(), query)
	must(s.t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		must(s.t, rows.Scan(&text))
		list = append(list, text)
	}
	must(s.t, rows.Err())
	return list
}

func (s *shop) allCharges() (ids []string) {
	s.t.Helper()
	for _, number := range s.texts("SELECT number FROM orders") {
		for _, c := range s.charges(number) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// TestTwiceEqualsOnce calls every operation twice with one key: the answers are the same bytes, wherever
// the second is found, and rows and side effects are those of one call. Covers T55 and T61.
func TestTwiceEqualsOnce(t *testing.T) {
	t.Parallel()
	eachSource(t, func(t *testing.T, s source) {
		for _, e := range examples {
			request := e.request(s.shop)
			request.key = newKey()
			first := s.do(request)
			wantStatus(t, e.pattern, first, e.status)
			if first.field(t, "id") == "" {
				t.Errorf("%s: the answer names nothing: %s", e.pattern, first.Body)
			}
			s.only(request, e.pattern)
			once := e.effects(s.shop)
			wantReplay(t, e.pattern, first, s.again(request))
			if twice := e.effects(s.shop); twice != once {
				t.Errorf("%s: effects of two calls %s, of one %s", e.pattern, twice, once)
			}
		}
	})
}

func sameAnswer(t *testing.T, what string, a, b answer) {
	t.Helper()
	if a.Status != b.Status || a.Body != b.Body || a.Header.Get("Location") != b.Header.Get("Location") ||
		a.Header.Get("Content-Type") != b.Header.Get("Content-Type") {
		t.Errorf("%s: answers differ:\n%d %s %s\n%d %s %s", what, a.Status, a.Header.Get("Location"), a.Body, b.Status, b.Header.Get("Location"), b.Body)
	}
}

// TestFiftyOverlappingDuplicates lets fifty copies of each request meet, over two processes on one
// database: one effect, fifty equal answers.
func TestFiftyOverlappingDuplicates(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newShop(t, d)
		processes := []*shop{a}
		if d.Name == "Postgres" {
			processes = append(processes, newShop(t, d, withProvider(a.provider)))
		}
		for _, e := range examples {
			for round := range 3 {
				request := e.request(a)
				request.key = newKey()
				answers := together(t, 50, func(i int) (answer, error) {
					return processes[i%len(processes)].try(t.Context(), request)
				})
				for _, got := range answers {
					sameAnswer(t, e.pattern, answers[0], got)
				}
				if answers[0].Status != e.status {
					t.Fatalf("%s: got %d %s", e.pattern, answers[0].Status, answers[0].Body)
				}
				effects := e.effects(a)
				a.do(request)
				if again := e.effects(a); again != effects {
					t.Errorf("%s round %d: another call had an effect: %s, then %s", e.pattern, round, effects, again)
				}
			}
		}
		if got := a.count("SELECT count(*) FROM messages"); got != 3 {
			t.Errorf("messages: got %d, want one per round", got)
		}
		orders := a.count("SELECT count(*) FROM orders")
		if got := a.count("SELECT count(DISTINCT key) FROM orders"); got != orders {
			t.Errorf("orders: got %d for %d keys", orders, got)
		}
		if got, want := len(a.allCharges()), a.count("SELECT count(*) FROM payments"); got != want {
			t.Errorf("charges: got %d for %d payments", got, want)
		}
		if got := a.stock("mug"); got != 1000-2*a.count("SELECT count(*) FROM orders WHERE status <> 'cancelled'") {
			t.Errorf("stock: got %d", got)
		}
	})
}

// together starts n calls at one moment.
func together(t *testing.T, n int, do func(i int) (answer, error)) []answer {
	t.Helper()
	answers, start := make([]answer, n), make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			var err error
			if answers[i], err = do(i); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
	return answers
}
