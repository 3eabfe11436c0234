package main

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// TestTheConsoleOfTheJobsIsForTheStaff covers S37: nobody comes in without a sign-in, by any method, and
// who is signed in can look and try again, and do nothing else.
func TestTheConsoleOfTheJobsIsForTheStaff(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, slog.New(slog.DiscardHandler)).handler()
	cookie := signedIn(t, h)
	for _, test := range []struct {
		method, path     string
		stranger, signed int
	}{
		{"GET", "/", 303, 200}, {"HEAD", "/", 303, 200}, {"GET", "/jobs", 303, 200}, {"GET", "/api/jobs", 303, 200}, {"GET", "/api/states", 303, 200},
		{"POST", "/api/jobs/retry", 403, 400}, // it names no job
		{"POST", "/api/jobs/cancel", 405, 405}, {"POST", "/api/jobs/delete", 405, 405}, {"DELETE", "/api/jobs/1", 405, 405},
		{"PUT", "/api/queues/default/pause", 405, 405}, {"PATCH", "/api/queues/default", 405, 405}, {"OPTIONS", "/api/jobs", 405, 405},
	} {
		if got := send(h, test.method, consolePath+test.path, `{"ids":[]}`, "Content-Type", "application/json"); got.Code != test.stranger {
			t.Errorf("a stranger's %s %s: %d", test.method, test.path, got.Code)
		}
		got := send(h, test.method, consolePath+test.path, `{"ids":[]}`, "Content-Type", "application/json", "Cookie", cookie)
		if got.Code != test.signed {
			t.Errorf("%s %s: %d %s", test.method, test.path, got.Code, got.Body)
		}
		if policy := got.Header().Get("Content-Security-Policy"); got.Code == 200 && (!strings.Contains(policy, "style-src 'self' 'unsafe-inline'") || strings.Contains(policy, "script-src")) {
			t.Errorf("%s %s has the policy %q", test.method, test.path, policy)
		}
	}
	if got := send(h, "POST", consolePath+"/api/jobs/retry", `{"ids":[]}`, "Cookie", cookie, "Sec-Fetch-Site", "cross-site"); got.Code != http.StatusForbidden {
		t.Errorf("from another site: %d", got.Code)
	}
	if policy := send(h, "GET", "/admin/jobs", "", "Cookie", cookie).Header().Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") {
		t.Errorf("the desk's own pages have the policy %q", policy)
	}
}

// signedIn signs in at the desk with one click, and gives the cookie.
func signedIn(t *testing.T, h http.Handler) string {
	t.Helper()
	for _, c := range send(h, "POST", "/admin/sign-in", "", "Content-Type", "application/x-www-form-urlencoded").Result().Cookies() {
		if strings.HasSuffix(c.Name, "desk") {
			return c.Name + "=" + c.Value
		}
	}
	t.Fatal("nobody is signed in")
	return ""
}
