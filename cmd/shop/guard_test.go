package main

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"example.com/eenmaal/web"
)

// Every route that changes something is an operation of the registry, or a page's POST that says why
// calling it twice is safe, or the simulated provider's, which is another company's.
func TestEveryMutatingRouteIsAccountedFor(t *testing.T) {
	t.Parallel()
	a := newTestApp(t, slog.New(slog.DiscardHandler))
	accounted := map[string]bool{
		"POST /v1/webhooks/:provider":             true, // its key is the event's id
		"POST " + consolePath + "/api/jobs/retry": true, // a job bears being run twice
	}
	for _, o := range a.registry.Operations() {
		accounted[o.Pattern] = true
	}
	for _, r := range web.MutatingRoutes {
		if r.Why == "" {
			t.Errorf("%s %s does not say why twice is safe", r.Method, r.Pattern)
		}
		accounted[r.Method+" "+r.Pattern] = true
	}
	found := 0
	for _, r := range a.routes().Routes() {
		if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions || strings.HasPrefix(r.Path, "/psp/") || strings.HasPrefix(r.Path, "/testbank/") {
			continue
		}
		found++
		if !accounted[r.Method+" "+r.Path] {
			t.Errorf("%s %s is neither an operation nor a page's route that says why twice is safe", r.Method, r.Path)
		}
	}
	if found != len(accounted) {
		t.Errorf("%d mutating routes, %d accounted for", found, len(accounted))
	}
}
