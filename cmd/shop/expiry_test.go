package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestTheProgramSweepsAndTellsSo: the job runs soon after the start, with a rule for every operation.
func TestTheProgramSweepsAndTellsSo(t *testing.T) {
	t.Parallel()
	a := newTestApp(t, slog.New(slog.DiscardHandler))
	// An answer of long ago, under a key that does not tell its age.
	if _, err := a.db.SQL().ExecContext(t.Context(), `INSERT INTO idempotency_keys (key, consumer_id, endpoint_id, created_at, lease_until,
		done_at, state, status, attempt, request_id, fingerprint, fields, header, body, resource)
		VALUES ('ff000000-0000-0000-0000-000000000001', 1, 1, 1, 0, 1, 3, 201, 1, '', x'', x'', '', x'00', '')`); err != nil {
		t.Fatal(err)
	}
	if err := a.jobs.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = a.jobs.Stop(ctx)
	}()
	metrics := func() string {
		answer := httptest.NewRecorder()
		a.handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return answer.Body.String()
	}
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(metrics(), `idem_swept_total{kind="wiped"} 1`); {
		if time.Now().After(deadline) {
			t.Fatalf("nothing was swept:\n%s", metrics())
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, line := range []string{`idem_swept_total{kind="tombstone_deleted"} 1`, `idem_swept_total{kind="partition_dropped"} 0`, "idem_sweep_lag_seconds 0"} {
		if !strings.Contains(metrics(), line) {
			t.Errorf("no %s in the metrics", line)
		}
	}
}
