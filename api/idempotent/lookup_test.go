package idempotent

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
)

// TestAnEndpointIsFoundByAllItsNames: as registered, as documented, and as it is called.
func TestAnEndpointIsFoundByAllItsNames(t *testing.T) {
	t.Parallel()
	r := &Registry{operations: []Described{{Pattern: "POST /v1/orders"}, {Pattern: "POST /v1/payments/:id/captures"},
		{Pattern: "DELETE /v1/payments/:id"}, {Pattern: "POST /v1/payments/:id/:what"}, {Pattern: "POST /v1/payments/all/voids"}}}
	for name, want := range map[string]string{
		"POST /v1/orders":                    "POST /v1/orders",
		"POST /v1/payments/:id/captures":     "POST /v1/payments/:id/captures",
		"POST /v1/payments/{id}/captures":    "POST /v1/payments/:id/captures",
		"POST /v1/payments/0199-a/captures":  "POST /v1/payments/:id/captures",
		"DELETE /v1/payments/7":              "DELETE /v1/payments/:id",
		"POST /v1/payments/all/voids":        "POST /v1/payments/all/voids",
		"POST /v1/payments/all/refunds":      "POST /v1/payments/:id/:what",
		"PATCH /v1/orders":                   "",
		"POST /v1/payments//captures":        "",
		"POST /v1/payments/7/captures/":      "",
		"POST /v1/payments/7/8/captures":     "",
		"POST v1/orders":                     "",
		"":                                   "",
		"POST /v1/payments/7/captures?x=1":   "POST /v1/payments/:id/:what",
		"POST /v1/payments/{id}/captures/{}": "",
	} {
		if got, ok := r.Find(name); got.Pattern != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", name, got.Pattern, want)
		}
	}
}

func TestAnOperationIDIsItsKeyAndEndpoint(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, text := range []string{uuid.Must(uuid.NewV7()).String(), uuid.NewString(), "order:2026-11.0001_a"} {
		for _, number := range []int16{1, 2, 32767} {
			key, err := domain.ParseKey(text)
			if err != nil {
				t.Fatal(err)
			}
			id := operationID(domain.Scope{Key: key, Consumer: 7, Endpoint: number})
			endpoint, back, ok := parseOperationID(id)
			_, timed := key.Time()
			if !ok || endpoint != number || back.ID() != key.ID() || timed && back != key || !timed && !back.IsZero() || seen[id] {
				t.Errorf("%s of %s, %d: %v %v %d", id, text, number, ok, back, endpoint)
			}
			seen[id] = true
		}
	}
	for id := range seen {
		for _, broken := range []string{"", id[3:], id + "A", id[:len(id)-1], "OP_" + id[3:], id[:10] + "\n" + id[11:], id[:10] + "+" + id[11:]} {
			if _, _, ok := parseOperationID(broken); ok {
				t.Errorf("%q was read", broken)
			}
		}
	}
}

// TestARecordSaysWhatTheNextRequestMeets: its states follow the rule book.
func TestARecordSaysWhatTheNextRequestMeets(t *testing.T) {
	t.Parallel()
	now := time.Now()
	done := domain.Answer{Status: 201, At: now.Add(-time.Minute)}
	for i, c := range []struct {
		claim domain.Claim
		ttl   time.Duration
		want  RecordState
	}{
		{domain.Claim{State: domain.Done, Answer: done}, time.Hour, Completed},
		{domain.Claim{State: domain.Done, Answer: done}, time.Second, Expired},
		{domain.Claim{State: domain.Tombstone, Answer: done}, time.Hour, Expired},
		{domain.Claim{State: domain.Running, LeaseLeft: time.Second}, time.Hour, InProgress},
		{domain.Claim{State: domain.Running, LeaseLeft: -time.Second}, time.Hour, Retryable},
		{domain.Claim{State: domain.Running, LeaseLeft: time.Hour}, time.Hour, Retryable},
		{domain.Claim{State: domain.Released}, time.Hour, Retryable},
	} {
		if got := stateOf(c.claim, now, c.ttl); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
	record, err := recordOf(Described{TTL: time.Hour}, domain.Scope{}, domain.Claim{State: domain.Released, Steps: []byte(`{"two":1,"one":true}`)}, now)
	if err != nil || fmt.Sprint(record.Steps) != "[one two]" || record.Status != 0 || !record.Expires.IsZero() {
		t.Errorf("got %+v %v", record, err)
	}
}
