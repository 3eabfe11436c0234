package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"example.com/eenmaal/api/client"
	"example.com/eenmaal/domain"
)

// practise starts a small shop that makes trouble by the script, and gives a client of it.
func practise(script ...fault) (*client.Client, *fakeShop, func()) {
	shop := &fakeShop{script: script}
	server := httptest.NewServer(shop)
	c, err := client.New(client.Config{BaseURL: server.URL, Secret: "demo-alpha"})
	if err != nil {
		panic(err)
	}
	return c, shop, server.Close
}

// An order and its payment are two things that each happen once, so they have two keys.
func Example() {
	c, _, end := practise()
	defer end()
	ctx := context.Background()

	order, err := c.PlaceOrder(ctx, client.OrderRequest{
		Email: "sanne@example.nl", Name: "Sanne de Vries",
		Address: domain.Address{Line1: "Damrak 1", PostalCode: "1012 AB", City: "Amsterdam", Country: "NL"},
		Items:   []domain.Item{{SKU: "mug", Quantity: 2}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	payment, err := c.PayOrder(ctx, client.PaymentRequest{OrderID: order.Value.ID, Method: client.Card("tok_ok")})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("order", order.Value.Number)
	fmt.Println("payment", payment.Value.Status)
	fmt.Println("one key for both:", order.Key == payment.Key)
	// Output:
	// order EM-1
	// payment paid
	// one key for both: false
}

// The order is placed, but the connection breaks before the answer. The retry gets the original answer.
func ExampleClient_PlaceOrder_lostAnswer() {
	c, shop, end := practise(lost, nil)
	defer end()

	order, err := c.PlaceOrder(context.Background(), client.OrderRequest{Email: "sanne@example.nl"})
	fmt.Println("error:", err)
	fmt.Println("order", order.Value.Number, "after", order.Attempts, "attempts, replayed:", order.Replayed)
	fmt.Println("orders in the shop:", shop.effects)
	// Output:
	// error: <nil>
	// order EM-1 after 2 attempts, replayed: true
	// orders in the shop: 1
}

// Save the key before the call. A program that crashed sends the same request again when it is back,
// whether or not the first one arrived.
func ExampleWithKey() {
	c, shop, end := practise()
	defer end()
	ctx := context.Background()
	request := client.PaymentRequest{OrderID: "no-1", Method: client.Card("tok_ok")}

	folder, err := os.MkdirTemp("", "saved-keys")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	saved := filepath.Join(folder, "pay-order-no-1") // a row beside the order, in a real program
	if err := os.WriteFile(saved, []byte(client.NewKey()), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	pay := func() (client.Result[client.Payment], error) {
		key, err := os.ReadFile(saved)
		if err != nil {
			return client.Result[client.Payment]{}, err
		}
		return c.PayOrder(ctx, request, client.WithKey(client.Key(key)))
	}
	_, _ = pay() // and here the program crashes, before it could write the result down

	payment, err := pay() // after the restart
	fmt.Println(payment.Value.Status, "replayed:", payment.Replayed, "error:", err)
	fmt.Println("payments made:", shop.effects)
	// Output:
	// paid replayed: true error: <nil>
	// payments made: 1
}

// A declined card is a lasting answer. Another card is another attempt to pay, with a key of its own.
func ExampleRefused() {
	c, _, end := practise()
	defer end()
	ctx := context.Background()

	declined, err := c.PayOrder(ctx, client.PaymentRequest{OrderID: "no-1", Method: client.Card("tok_declined")})
	if refused, ok := errors.AsType[*client.Refused](err); ok {
		fmt.Println(refused.Status, refused.Code)
	}
	paid, err := c.PayOrder(ctx, client.PaymentRequest{OrderID: "no-1", Method: client.Card("tok_ok")})
	fmt.Println(paid.Value.Status, err)
	fmt.Println("one key for both:", declined.Key == paid.Key)
	// Output:
	// 402 card_declined
	// paid <nil>
	// one key for both: false
}

// At the end of the budget nobody can say whether the order was placed. The letter holds what is needed
// to find out later.
func ExampleUnknown() {
	shop := &fakeShop{script: []fault{says(503, "outcome_unknown", "60")}}
	server := httptest.NewServer(shop)
	defer server.Close()
	kept := &letters{}
	c, err := client.New(client.Config{BaseURL: server.URL, Secret: "demo-alpha", DeadLetters: kept})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()

	_, err = c.PlaceOrder(ctx, client.OrderRequest{Email: "sanne@example.nl"})
	if unknown, ok := errors.AsType[*client.Unknown](err); ok {
		fmt.Println("unknown; the operation is", unknown.State)
	}

	shop.script = nil // the shop is well again
	order, err := c.Do(ctx, kept.list[0].Call())
	fmt.Println(order.Status, err)
	fmt.Println("orders in the shop:", shop.effects)
	// Output:
	// unknown; the operation is not_found
	// 201 <nil>
	// orders in the shop: 1
}
