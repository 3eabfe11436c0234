package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serve puts an app behind the program's own server on a real socket.
func serve(t *testing.T, change func(*http.Server)) (address string) {
	t.Helper()
	server := newServer(newTestApp(t, slog.New(slog.DiscardHandler)).handler())
	change(server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

func asItIs(*http.Server) {}

// talk sends bytes on a connection of its own.
func talk(t *testing.T, address, text string) *bufio.Reader {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second)) // a socket takes deadlines
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(conn)
}

// statusOf reads one response and its body.
func statusOf(t *testing.T, from *bufio.Reader) int {
	t.Helper()
	resp, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

func wantClosed(t *testing.T, what string, from *bufio.Reader) {
	t.Helper()
	if rest, err := io.ReadAll(from); err != nil || len(rest) > 0 {
		t.Errorf("%s: then came %q, %v; want the end of the connection", what, rest, err)
	}
}

// TestOversizedHeadersAreRefused covers S7 in front of the operations: a key of 20 KiB is none of
// theirs to judge.
func TestOversizedHeadersAreRefused(t *testing.T) {
	t.Parallel()
	address := serve(t, asItIs)
	for name, header := range map[string]string{
		"key": "Idempotency-Key: " + strings.Repeat("k", 20<<10), "bearer": "Authorization: Bearer " + strings.Repeat("b", 20<<10),
		"many": strings.Repeat("X-A: a\r\n", 4000) + "X-B: b",
	} {
		if got := statusOf(t, talk(t, address, "POST /v1/orders HTTP/1.1\r\nHost: shop\r\n"+header+"\r\nContent-Length: 0\r\n\r\n")); got != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%s: %d, want 431", name, got)
		}
	}
	if got := statusOf(t, talk(t, address, "GET /"+strings.Repeat("p", 20<<10)+" HTTP/1.1\r\nHost: shop\r\n\r\n")); got != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("path: %d, want 431", got)
	}
}

// TestSlowClientsHoldNobodyUp covers S8: all limits are set, and end the connection of who is slow.
func TestSlowClientsHoldNobodyUp(t *testing.T) {
	t.Parallel()
	s := newServer(http.NotFoundHandler())
	if s.ReadHeaderTimeout <= 0 || s.ReadHeaderTimeout > 5*time.Second || s.ReadTimeout <= 0 || s.ReadTimeout > 10*time.Second ||
		s.WriteTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 || s.MaxHeaderBytes > 16<<10 {
		t.Errorf("limits: header %s, read %s, write %s, idle %s, header bytes %d", s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout, s.MaxHeaderBytes)
	}
	address := serve(t, func(s *http.Server) {
		s.ReadHeaderTimeout, s.ReadTimeout, s.IdleTimeout = 200*time.Millisecond, 400*time.Millisecond, 200*time.Millisecond
	})
	half := talk(t, address, "GET / HTTP/1.1\r\nHost: shop\r\nX-Slow: ")
	idle := talk(t, address, "GET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n")
	body := talk(t, address, "POST /v1/orders HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer demo-alpha\r\nContent-Type: application/json\r\n"+
		"Idempotency-Key: 0198d6f0-0000-7000-8000-000000000001\r\nContent-Length: 100\r\n\r\n{")
	if got := statusOf(t, talk(t, address, "GET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n")); got != 200 {
		t.Errorf("a healthy client beside them got %d", got)
	}
	wantClosed(t, "half a header", half)
	if got := statusOf(t, idle); got != 200 {
		t.Errorf("before it went idle: %d", got)
	}
	wantClosed(t, "an idle connection", idle)
	if got := statusOf(t, body); got != 400 {
		t.Errorf("half a body: %d, want 400", got)
	}
	wantClosed(t, "half a body", body)
}

// TestAmbiguousFramingSmugglesNothing covers S9. Where two lengths contradict, the request is refused.
// Where net/http must take the chunks, nothing behind them on the connection is read: a second
// request that somebody in between did not see is none.
func TestAmbiguousFramingSmugglesNothing(t *testing.T) {
	t.Parallel()
	address := serve(t, asItIs)
	const smuggled = "GET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n"
	for name, header := range map[string]string{
		"two lengths": "Content-Length: 5\r\nContent-Length: 6", "a list of lengths": "Content-Length: 5, 6", "a signed length": "Content-Length: +5",
		"a negative length": "Content-Length: -5", "an unknown coding": "Transfer-Encoding: gzip, chunked", "two codings": "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
		"a space before the colon": "Content-Length : 5", "no host twice": "Host: other",
	} {
		answers := talk(t, address, "POST /contact HTTP/1.1\r\nHost: shop\r\n"+header+"\r\n\r\nhello"+smuggled)
		if got := statusOf(t, answers); got != 400 && got != 501 {
			t.Errorf("%s: %d, want a refusal", name, got)
		}
		wantClosed(t, name, answers)
	}
	for name, header := range map[string]string{
		"length and chunks": "Content-Length: 4\r\nTransfer-Encoding: chunked", "chunks and length": "Transfer-Encoding: chunked\r\nContent-Length: 40",
		"chunks alone": "Transfer-Encoding: chunked",
	} {
		answers := talk(t, address, "POST /v1/orders HTTP/1.1\r\nHost: shop\r\n"+header+"\r\n\r\n0\r\n\r\n"+smuggled)
		if got := statusOf(t, answers); got != 401 {
			t.Errorf("%s: %d, want 401", name, got)
		}
		wantClosed(t, name, answers)
	}
}

// TestMethodsThatNobodyNeeds covers S46, and S29 for methods.
func TestMethodsThatNobodyNeeds(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, slog.New(slog.DiscardHandler)).handler()
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"TRACE", "/", 405}, {"TRACE", "/v1/orders", 405}, {"CONNECT", "/v1/orders", 405}, {"PUT", "/v1/orders", 405}, {"DELETE", "/v1/orders", 405},
		{"GET", "/v1/webhooks/simulated", 405}, {"HEAD", "/v1/webhooks/simulated", 405}, {"PUT", "/v1/webhooks/simulated", 405},
		{"PROPFIND", "/", 405}, {"GET", "/static/", 404}, {"GET", "/static", 404}, {"GET", "/static/../go.mod", 404}, {"GET", "/.env", 404}, {"GET", "/.git/config", 404},
	} {
		w := send(h, c.method, c.path, "", "X-Secret", "echo")
		if w.Code != c.status || strings.Contains(w.Body.String(), "echo") {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
		if w.Code == 405 && w.Header().Get("Allow") == "" {
			t.Errorf("%s %s does not say what is allowed", c.method, c.path)
		}
	}
}

// TestProductionHasNoTestDoors covers S45.
func TestProductionHasNoTestDoors(t *testing.T) {
	t.Parallel()
	a := startApp(t, slog.New(slog.DiscardHandler), map[string]string{"MODE": "production", "DATA_DIR": t.TempDir(), "PSP_URL": "http://127.0.0.1:1", "BASE_URL": "https://shop.example",
		"SESSION_SECRET": strings.Repeat("s", 32), "WEBHOOK_SECRET": "whsec_" + strings.Repeat("c2VjcmV0", 5)})
	for _, r := range a.routes().Routes() {
		for _, door := range []string{"/debug", "/psp", "/testbank", "/lab", "/fault"} {
			if strings.HasPrefix(r.Path, door) || strings.HasPrefix(r.Path, "/nl"+door) {
				t.Errorf("production has %s %s", r.Method, r.Path)
			}
		}
	}
	h := a.handler()
	for _, path := range []string{"/mailbox", "/debug/pprof/", "/debug/vars"} {
		if w := send(h, "GET", path, ""); w.Code != 404 {
			t.Errorf("%s in production: %d", path, w.Code)
		}
	}
	if w := send(h, "GET", "/v1/orders/0198d6f0-0000-7000-8000-000000000001", "", "Authorization", "Bearer demo-alpha"); w.Code != 401 {
		t.Errorf("the demo's key in production: %d", w.Code)
	}
}

// TestATakenPortStopsTheShopBeforeItWorks: nothing but the one sentence that names the setting is said.
func TestATakenPortStopsTheShopBeforeItWorks(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	other, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }() // ends with the test anyway
	var said bytes.Buffer
	addr := other.Addr().String()
	a := startApp(t, slog.New(slog.NewTextHandler(&said, nil)), map[string]string{"DATA_DIR": t.TempDir(), "ADDR": addr})
	err = a.run(t.Context(), parts{http: true, jobs: true}, io.Discard)
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "ADDR="+addr) {
		t.Errorf("got %v", err)
	}
	if said.Len() > 0 {
		t.Errorf("and the log says:\n%s", &said)
	}
}
