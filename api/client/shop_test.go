package client_test

import (
	"errors"
	"testing"

	"example.com/eenmaal/api/client"
	"example.com/eenmaal/domain"
)

func TestEveryTypedCallIsItsRequest(t *testing.T) {
	t.Parallel()
	shop := &fakeShop{}
	c := shop.client(t, client.Config{})
	ctx, withKey := t.Context(), client.WithKey(client.NewKey())
	for _, call := range []struct {
		endpoint, body string
		send           func() error
	}{
		{"POST /v1/orders", `{"email":"sanne@example.nl","name":"Sanne","address":{"line1":"Damrak 1","postal_code":"1012 AB","city":"Amsterdam","country":"NL"},"items":[{"sku":"mug","quantity":2}],"language":"nl"}`, func() error {
			_, err := c.PlaceOrder(ctx, client.OrderRequest{Email: "sanne@example.nl", Name: "Sanne", Language: "nl", Items: []domain.Item{{SKU: "mug", Quantity: 2}},
				Address: domain.Address{Line1: "Damrak 1", PostalCode: "1012 AB", City: "Amsterdam", Country: "NL"}}, withKey)
			return err
		}},
		{"PATCH /v1/orders/7", `{"address":{"line1":"Dam 2","postal_code":"","city":"","country":""}}`, func() error {
			_, err := c.ChangeAddress(ctx, "7", domain.Address{Line1: "Dam 2"}, withKey)
			return err
		}},
		{"POST /v1/orders/7/cancellations", `{}`, func() error { _, err := c.CancelOrder(ctx, "7", withKey); return err }},
		{"POST /v1/payments", `{"order_id":"7","method":{"type":"card","token":"tok_ok"},"capture":"manual"}`, func() error {
			_, err := c.PayOrder(ctx, client.PaymentRequest{OrderID: "7", Method: client.Card("tok_ok"), Capture: "manual"}, withKey)
			return err
		}},
		{"POST /v1/payments", `{"order_id":"8","method":{"type":"ideal"}}`, func() error {
			_, err := c.PayOrder(ctx, client.PaymentRequest{OrderID: "8", Method: client.IDEAL()})
			return err
		}},
		{"POST /v1/payments/9/captures", `{"amount":500}`, func() error { _, err := c.CapturePayment(ctx, "9", 500, withKey); return err }},
		{"POST /v1/payments/8/captures", `{}`, func() error { _, err := c.CapturePayment(ctx, "8", 0, withKey); return err }},
		{"POST /v1/payments/9/voids", `{}`, func() error { _, err := c.VoidPayment(ctx, "9", withKey); return err }},
		{"POST /v1/payments/9/refunds", `{"amount":1}`, func() error { _, err := c.RefundPayment(ctx, "9", 1, withKey); return err }},
		{"POST /v1/contact-messages", `{"email":"sanne@example.nl","message":"Is it blue?"}`, func() error {
			_, err := c.SubmitContact(ctx, client.ContactRequest{Email: "sanne@example.nl", Message: "Is it blue?"}, withKey)
			return err
		}},
	} {
		must(t, call.send())
		if got := shop.arrivals[len(shop.arrivals)-1]; got.endpoint != call.endpoint || got.body != call.body {
			t.Errorf("got %s %s, want %s %s", got.endpoint, got.body, call.endpoint, call.body)
		}
	}
	for _, call := range []struct {
		endpoint string
		send     func() error
	}{
		{"GET /v1/orders/7", func() error { _, err := c.Order(ctx, "7"); return err }},
		{"GET /v1/payments/9", func() error { _, err := c.Payment(ctx, "9"); return err }},
		{"GET /v1/refunds/3", func() error { _, err := c.Refund(ctx, "3"); return err }},
	} {
		must(t, call.send())
		if got := shop.asked[len(shop.asked)-1]; got.endpoint != call.endpoint {
			t.Errorf("got %s, want %s", got.endpoint, call.endpoint)
		}
	}
}

func TestAnOperationIsFoundByItsKey(t *testing.T) {
	t.Parallel()
	shop := &fakeShop{}
	c := shop.client(t, client.Config{})
	order, err := c.PlaceOrder(t.Context(), anOrder)
	must(t, err)
	op, err := c.Operation(t.Context(), "POST /v1/orders", order.Key)
	must(t, err)
	if op.Value.State != client.Completed || op.Value.Key != order.Key || op.Value.Endpoint != "POST /v1/orders" {
		t.Errorf("got %+v", op.Value)
	}
	_, err = c.Operation(t.Context(), "POST /v1/payments", order.Key)
	if refused, ok := errors.AsType[*client.Refused](err); !ok || refused.Code != "operation_not_found" {
		t.Errorf("another endpoint: %v", err)
	}
}

// TestAnAnswerOfAnotherShapeIsStillAnAnswer: it was done, so it is neither refused nor unknown.
func TestAnAnswerOfAnotherShapeIsStillAnAnswer(t *testing.T) {
	t.Parallel()
	shop := &fakeShop{script: []fault{func(*fakeShop, arrival) *answer { return &answer{201, nil, `["new"]`} }}}
	got, err := shop.client(t, client.Config{}).PlaceOrder(t.Context(), anOrder)
	_, refused := errors.AsType[*client.Refused](err)
	_, unknown := errors.AsType[*client.Unknown](err)
	if err == nil || refused || unknown || got.Status != 201 || string(got.Key) != shop.arrivals[0].key || got.Attempts != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}
