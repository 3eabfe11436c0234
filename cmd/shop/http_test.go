package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func newTestApp(t *testing.T, log *slog.Logger) *app {
	t.Helper()
	return startApp(t, log, map[string]string{"DATA_DIR": t.TempDir()})
}

func startApp(t *testing.T, log *slog.Logger, environment map[string]string) *app {
	t.Helper()
	cfg, err := LoadConfig(environment)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newApp(t.Context(), cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	return a
}

func send(h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestARequestThatChangesSomethingIsNeverRedirected: a 307 would carry its key and body elsewhere.
func TestARequestThatChangesSomethingIsNeverRedirected(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, slog.New(slog.DiscardHandler)).handler()
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		for _, path := range []string{"/v1/orders/", "/v1/payments/", "/basket/", "/v1/orders//", "//v1/orders", "/V1/orders"} {
			if w := send(h, method, path, "{}"); w.Code/100 == 3 || w.Header().Get("Location") != "" {
				t.Errorf("%s %s: %d to %q", method, path, w.Code, w.Header().Get("Location"))
			}
		}
	}
	if w := send(h, "GET", "/nl/", ""); w.Code != 301 && w.Code != 200 {
		t.Errorf("a reader with a slash too many: %d", w.Code)
	}
}

// TestEveryLineOfARequestTellsWhoseItIs: from one line to the next by request, key and consumer.
func TestEveryLineOfARequestTellsWhoseItIs(t *testing.T) {
	t.Parallel()
	var book bytes.Buffer
	a := newTestApp(t, slog.New(slog.NewJSONHandler(&book, nil)))
	h := a.handler()
	key := uuid.Must(uuid.NewV7()).String()
	header := []string{"Authorization", "Bearer demo-alpha", "Content-Type", "application/json", "Idempotency-Key", key}
	for _, text := range []string{"one", "one", "two"} {
		send(h, "POST", "/v1/contact-messages", `{"email":"sanne@example.nl","message":"`+text+`"}`, header...)
	}
	send(h, "POST", "/v1/contact-messages", `{`, header...)
	send(h, "GET", "/v1/operations", "", header...)
	if err := a.registry.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(book.String()), "\n")
	var outcomes []string
	for _, line := range lines {
		if !strings.Contains(line, `"request":"`) {
			continue
		}
		if !strings.Contains(line, `"consumer":"alpha"`) || !strings.Contains(line, `"outcome":"`) {
			t.Errorf("a line without its consumer or outcome: %s", line)
		}
		if strings.Contains(line, key) || strings.Contains(line, "demo-alpha") || strings.Contains(line, "sanne") {
			t.Errorf("a line with a secret: %s", line)
		}
		if strings.Contains(line, `"msg":"request"`) {
			_, rest, _ := strings.Cut(line, `"outcome":"`)
			word, _, _ := strings.Cut(rest, `"`)
			outcomes = append(outcomes, word)
			if reads := strings.Contains(line, "/operations"); !reads && !strings.Contains(line, `"key":"`+key[:13]+`"`) {
				t.Errorf("a line without its key: %s", line)
			}
		}
	}
	if got := strings.Join(outcomes, " "); got != "executed replayed mismatch malformed ignored" {
		t.Errorf("outcomes: %s\n%s", got, book.String())
	}
}

// TestTheLineOfAPageTellsItsOutcome: under the request's own id, whatever the browser calls it.
func TestTheLineOfAPageTellsItsOutcome(t *testing.T) {
	t.Parallel()
	var book bytes.Buffer
	a := newTestApp(t, slog.New(slog.NewJSONHandler(&book, nil)))
	h := a.handler()
	path, key := openForm(t, h)
	form := url.Values{"key": {key}, "email": {"sanne@example.nl"}, "message": {"Is the mug blue?"}}
	got := send(h, "POST", path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded", "X-Request-Id", "mine")
	line := ""
	for l := range strings.Lines(book.String()) {
		if strings.Contains(l, `"method":"POST"`) {
			line = l
		}
	}
	for _, part := range []string{`"outcome":"executed"`, `"request":"` + got.Header().Get("X-Request-Id") + `"`, `"key":"` + key[:13] + `"`} {
		if !strings.Contains(line, part) {
			t.Errorf("%s is missing in %s", part, line)
		}
	}
	if strings.Contains(book.String(), "mine") {
		t.Error("the browser names its request in the log")
	}
	var id string
	if err := a.db.SQL().QueryRowContext(t.Context(), "SELECT request_id FROM idempotency_keys").Scan(&id); err != nil || id != got.Header().Get("X-Request-Id") {
		t.Errorf("the key remembers the request as %q (%v), want %q", id, err, got.Header().Get("X-Request-Id"))
	}
}

// TestNobodyWritesIntoTheLog covers S40: whatever comes in a key, a path or a name, a request is one line,
// and its fields are those of the program.
func TestNobodyWritesIntoTheLog(t *testing.T) {
	t.Parallel()
	for _, forged := range []string{"\n{\"level\":\"ERROR\",\"msg\":\"forged\"}", "\r\nlevel=ERROR msg=forged", "\x1b[2J\x1b[31mforged", `","level":"ERROR","msg":"forged`, "\u2028forged", "\xff\xfeforged"} {
		var book bytes.Buffer
		a := newTestApp(t, slog.New(slog.NewJSONHandler(&book, nil)))
		h := a.handler()
		book.Reset()
		header := []string{"Authorization", "Bearer demo-alpha", "Content-Type", "application/json", "User-Agent", forged, "Retry-Attempt", forged,
			"X-Request-Id", forged, "X-Forwarded-For", forged, "Idempotency-Key", (forged + strings.Repeat("k", 20))}
		body := `{"email":"a@example.nl","message":"` + url.QueryEscape(forged) + `"}`
		send(h, "POST", "/v1/contact-messages", body, header...)
		send(h, "POST", "/v1/contact-messages", strings.Replace(body, "a@", "b@", 1), header...)
		send(h, "GET", "/v1/orders/"+url.PathEscape(forged)+"?q="+url.QueryEscape(forged), "", header...)
		send(h, "GET", "/"+url.PathEscape(forged), "", header...)
		if err := a.registry.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		requests := 0
		for line := range strings.Lines(book.String()) {
			var fields struct{ Level, Msg string }
			decoder := json.NewDecoder(strings.NewReader(line))
			if err := decoder.Decode(&fields); err != nil || fields.Level == "ERROR" || fields.Msg == "forged" || strings.ContainsAny(line, "\x1b\r") {
				t.Errorf("%q wrote %q: %v", forged, line, err)
			}
			if fields.Msg == "request" {
				requests++
			}
		}
		if requests != 4 {
			t.Errorf("%q: %d lines of requests, want 4:\n%s", forged, requests, book.String())
		}
	}
}

// TestWhatAPageDidIsFoundByItsRequest: its operation keeps the id that the log line has, whatever id the
// browser sends.
func TestWhatAPageDidIsFoundByItsRequest(t *testing.T) {
	t.Parallel()
	var book bytes.Buffer
	a := newTestApp(t, slog.New(slog.NewJSONHandler(&book, nil)))
	form := newKey()
	w := send(a.handler(), "POST", "/contact/"+form, url.Values{"key": {form}, "email": {"sanne@example.nl"}, "message": {"Hello"}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "X-Request-Id", "made-up")
	kept := readAll(t, a, "SELECT request_id FROM idempotency_keys")
	if w.Code != 303 || len(kept) != 1 || kept[0][0] != w.Header().Get("X-Request-Id") {
		t.Errorf("%d, kept %v, want %s", w.Code, kept, w.Header().Get("X-Request-Id"))
	}
	if line := book.String(); !strings.Contains(line, `"key":"`+form[:13]+`","outcome":"executed"`) {
		t.Errorf("the line of the request does not tell what came of it: %s", line)
	}
}
