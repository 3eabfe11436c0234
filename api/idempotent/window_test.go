package idempotent_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/store/storetest"
)

// TestATTLNotLongerThanTheRetryWindowIsRefused covers T28: the program does not start with an operation
// whose clients may still retry when its records are gone.
func TestATTLNotLongerThanTheRetryWindowIsRefused(t *testing.T) {
	t.Parallel()
	r, err := idempotent.NewRegistry(idempotent.Config{DB: storetest.SQLite(t).Open(t, nil), RetryWindow: 24 * time.Hour})
	must(t, err)
	run := func(context.Context, *idempotent.Tx, in) (out, error) { return out{}, nil }
	for ttl, accepted := range map[time.Duration]bool{0: false, time.Hour: false, 24 * time.Hour: false, 24*time.Hour + 1: true} {
		_, err := idempotent.Local(t.Context(), r, "POST /things", idempotent.Options{TTL: ttl}, run)
		if (err == nil) != accepted || err != nil && !strings.Contains(err.Error(), "retry window of 24h") {
			t.Errorf("a TTL of %s: %v", ttl, err)
		}
	}
	if len(r.Operations()) != 1 {
		t.Errorf("%d operations, want the accepted one", len(r.Operations()))
	}
}
