package api_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/api/client"
	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// goClient is the Go client of the shop at an address.
func goClient(t *testing.T, url string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{BaseURL: url, Secret: "demo-alpha", Attempt: 10 * time.Second, Budget: 2 * time.Minute})
	must(t, err)
	return c
}

var twoMugs = client.OrderRequest{Email: "sanne@example.nl", Name: "Sanne de Vries", Items: []domain.Item{{SKU: "mug", Quantity: 2}},
	Address: domain.Address{Line1: "Damrak 1", PostalCode: "1012 AB", City: "Amsterdam", Country: "NL"}}

// TestTheGoClientPaysOnce covers T21 and T57 with the client that others are given: whatever the
// provider does, one call of it ends in one charge.
func TestTheGoClientPaysOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d, withAttempt(400*time.Millisecond))
		c := goClient(t, s.server.URL)
		for _, token := range []string{simulated.TokenChargedThenTimeout, simulated.TokenUnavailable} {
			order, err := c.PlaceOrder(t.Context(), twoMugs)
			must(t, err)
			payment, err := c.PayOrder(t.Context(), client.PaymentRequest{OrderID: order.Value.ID, Method: client.Card(token)})
			must(t, err)
			if payment.Status != 201 || payment.Value.Status != domain.PaymentPaid || payment.Value.Amount != order.Value.Total || payment.Key == order.Key {
				t.Errorf("%s: order %+v, payment %+v", token, order, payment)
			}
			if token == simulated.TokenUnavailable && payment.Attempts < 2 {
				t.Errorf("%s: paid without a retry", token)
			}
			s.paidOnce(order.Value.ID, order.Value.Number)
			now, err := c.Order(t.Context(), order.Value.ID)
			must(t, err)
			if now.Value.Status != domain.OrderPaid {
				t.Errorf("%s: the order is %s", token, now.Value.Status)
			}
		}
	})
}

func TestTheGoClientHearsOfTheRefunds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		c := goClient(t, newShop(t, d).server.URL)
		order, err := c.PlaceOrder(t.Context(), twoMugs)
		must(t, err)
		_, err = c.PayOrder(t.Context(), client.PaymentRequest{OrderID: order.Value.ID, Method: client.Card(simulated.TokenOK)})
		must(t, err)
		cancelled, err := c.CancelOrder(t.Context(), order.Value.ID)
		must(t, err)
		now, err := c.Order(t.Context(), order.Value.ID)
		must(t, err)
		if len(cancelled.Value.RefundIDs) != 1 || now.Value.CancelledFor != domain.CancelRequested {
			t.Errorf("the cancellation is %+v, and the order %+v", cancelled.Value, now.Value)
		}
	})
}

// TestTheGoClientFindsItsLostAnswer covers T32 and T03, on a new connection and on a kept one.
func TestTheGoClientFindsItsLostAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		w := newWire(t, strings.TrimPrefix(s.server.URL, "http://"))
		c := goClient(t, "http://"+w.listener.Addr().String())
		for made := range 2 {
			w.lose.Store(true)
			order, err := c.PlaceOrder(t.Context(), twoMugs)
			must(t, err)
			if got := s.count("SELECT count(*) FROM orders"); got != made+1 || !order.Replayed || order.Attempts != 2 || w.lost.Load() != int64(made+1) {
				t.Errorf("%d orders, %d answers lost, got %+v", got, w.lost.Load(), order)
			}
			if got := s.order(string(order.Key), mugOrder); got.field(t, "id") != order.Value.ID {
				t.Errorf("the client has %s, its key %s", order.Value.ID, got.Body)
			}
		}
	})
}

// TestTheGoClientTellsWhatTheShopRefuses covers T23 with the refusals of the real API.
func TestTheGoClientTellsWhatTheShopRefuses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		c := goClient(t, s.server.URL)
		refused := func(what string, err error, status int, code string, fields ...string) {
			t.Helper()
			got, ok := errors.AsType[*client.Refused](err)
			if !ok || got.Status != status || got.Code != code || len(got.Fields) != len(fields) {
				t.Fatalf("%s: got %v, want %d %s", what, err, status, code)
			}
			for i, name := range fields {
				if got.Fields[i].Field != name {
					t.Errorf("%s: field %s, want %s", what, got.Fields[i].Field, name)
				}
			}
		}
		order, err := c.PlaceOrder(t.Context(), twoMugs)
		must(t, err)
		declined, err := c.PayOrder(t.Context(), client.PaymentRequest{OrderID: order.Value.ID, Method: client.Card(simulated.TokenDeclined)})
		refused("declined", err, 402, "card_declined")
		other := client.PaymentRequest{OrderID: order.Value.ID, Method: client.Card(simulated.TokenOK)}
		_, err = c.PayOrder(t.Context(), other, client.WithKey(declined.Key))
		refused("another card under its key", err, 409, "idempotency_key_reused")
		_, err = c.PayOrder(t.Context(), other)
		must(t, err)
		wrong := twoMugs
		wrong.Email = "nobody"
		_, err = c.PlaceOrder(t.Context(), wrong)
		refused("a wrong field", err, 422, "validation_failed", "email")
	})
}
