package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/domain/fault"
)

// openForm opens a contact form, as a browser without cookies and scripts does.
func openForm(t *testing.T, h http.Handler) (path, key string) {
	t.Helper()
	path = send(h, "GET", "/contact", "").Header().Get("Location")
	_, key, found := strings.Cut(path, "/contact/")
	if !found || !strings.Contains(send(h, "GET", path, "").Body.String(), `value="`+key+`"`) {
		t.Fatalf("no contact form at %q", path)
	}
	return path, key
}

func press(h http.Handler, path, key, text string) *httptest.ResponseRecorder {
	form := url.Values{"key": {key}, "email": {"sanne@example.nl"}, "message": {text}}
	return send(h, "POST", path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

func messages(t *testing.T, a *app) (n int) {
	t.Helper()
	if err := a.db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM messages").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPressedAgainWhileTheFirstPressRuns covers T17 and T18: the shop is slow, for a moment or for longer
// than a program would be made to wait, people press again, and all of them see that one message was
// received.
func TestPressedAgainWhileTheFirstPressRuns(t *testing.T) {
	t.Parallel()
	for _, slowness := range []time.Duration{300 * time.Millisecond, 8500 * time.Millisecond} {
		t.Run(slowness.String(), func(t *testing.T) { t.Parallel(); pressThrice(t, slowness) })
	}
}

func pressThrice(t *testing.T, slowness time.Duration) {
	a := newTestApp(t, slog.New(slog.DiscardHandler))
	h := a.handler()
	path, key := openForm(t, h)
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(fault.With(r.Context(), func(_ context.Context, point string) error {
			if point == "before_finish" {
				time.Sleep(slowness) // the slowness itself
			}
			return nil
		})))
	})
	var presses sync.WaitGroup
	for range 3 {
		presses.Go(func() {
			if got := press(slow, path, key, "Is the mug blue?"); got.Code != 303 || got.Header().Get("Location") != path+"/received" {
				t.Errorf("%d to %q: %s", got.Code, got.Header().Get("Location"), got.Body)
			}
		})
	}
	presses.Wait()
	if got := send(h, "GET", path+"/received", ""); got.Code != 200 || !strings.Contains(got.Body.String(), "C-") {
		t.Errorf("the page afterwards: %d %s", got.Code, got.Body)
	}
	if got := messages(t, a); got != 1 {
		t.Errorf("messages: got %d, want 1", got)
	}
}

// TestTwoBrowsersWithOneKeyAreTwo covers S4 and T52: who is not logged in is known by the unguessable
// address of his form, so a key that somebody else used finds nothing of theirs.
func TestTwoBrowsersWithOneKeyAreTwo(t *testing.T) {
	t.Parallel()
	a := newTestApp(t, slog.New(slog.DiscardHandler))
	h := a.handler()
	mine, key := openForm(t, h)
	yours, other := openForm(t, h)
	if mine == yours || key == other {
		t.Fatalf("two forms are one: %s", mine)
	}
	for path, text := range map[string]string{mine: "Is the mug blue?", yours: "Is the vase red?"} {
		if got := press(h, path, key, text); got.Code != 303 || got.Header().Get("Location") != path+"/received" {
			t.Errorf("%d to %q, want %s/received", got.Code, got.Header().Get("Location"), path)
		}
	}
	if got := messages(t, a); got != 2 {
		t.Errorf("messages: got %d, want 2", got)
	}
}
