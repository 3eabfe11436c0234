package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestAReplayThroughTheWholeProgramIsTheFirstAnswer covers T55: with everything that stands before the
// operation, a repeat has the status, the bytes and the Location of the first answer.
func TestAReplayThroughTheWholeProgramIsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	address := serve(t, asItIs)
	key := uuid.Must(uuid.NewV7()).String()
	const order = `{"email":"sanne@example.nl","name":"Sanne de Vries","address":{"line1":"Damrak 1","postal_code":"1012 AB","city":"Amsterdam","country":"NL"},"items":[{"sku":"mug","quantity":1}]}`
	var answers []string
	for i := range 2 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/orders", strings.NewReader(order))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer demo-alpha"}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != 201 || resp.Header.Get("Idempotent-Replayed") != fmt.Sprint(i == 1) {
			t.Errorf("call %d: %d %s %v, replayed %s", i, resp.StatusCode, body, err, resp.Header.Get("Idempotent-Replayed"))
		}
		answers = append(answers, fmt.Sprint(resp.StatusCode, resp.Header.Get("Location"), resp.Header.Get("Content-Type"), string(body)))
	}
	if answers[0] != answers[1] || !strings.Contains(answers[0], "/v1/orders/") {
		t.Errorf("the answers differ:\n%s\n%s", answers[0], answers[1])
	}
}
