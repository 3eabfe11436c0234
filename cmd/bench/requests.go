package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// post writes a request of the shop's API. A retry says that it is one, as clients do.
func post(path, key, body string, consumer int, retry bool) []byte {
	marked := ""
	if retry {
		marked = "Retry-Attempt: 1\r\n"
	}
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s", path, secretOf(consumer), key, len(body), marked, body)
}

// orderBody asks for one each of some articles.
func orderBody(skus []string) string {
	items := make([]string, len(skus))
	for i, sku := range skus {
		items[i] = `{"sku":"` + sku + `","quantity":1}`
	}
	return `{"email":"sanne@example.nl","name":"Sanne de Vries","address":{"line1":"Damrak 1","postal_code":"1012 AB",` +
		`"city":"Amsterdam","country":"NL"},"items":[` + strings.Join(items, ",") + `]}`
}

// linesPerOrder is what the orders suite and its floor put into one order.
const linesPerOrder = 2

// newOrder is an order that nobody sent before.
func newOrder() []byte {
	return post("/v1/orders", newKey(), orderBody(someSKUs(linesPerOrder)), rand.IntN(consumers), false)
}

// get writes a read.
func get(path string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
}
