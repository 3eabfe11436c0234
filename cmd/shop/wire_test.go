package main

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// serve runs a server on a free port and gives its address.
func serve(t *testing.T, server *http.Server) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

// dial sends text over a new connection, which lives no longer than a minute.
func dial(t *testing.T, address, text string) *bufio.Reader {
	t.Helper()
	conn, err := net.Dial("tcp", address) //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(conn)
}

// TestAReplayThroughTheWholeProgramIsTheFirstAnswer covers T55: with everything that stands before the
// operation, a repeat has the status, the bytes and the Location of the first answer.
func TestAReplayThroughTheWholeProgramIsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	address := serve(t, newServer(newTestApp(t, slog.New(slog.DiscardHandler)).handler()))
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

// TestTheServerIsBounded covers S8, and S7 for headers: who is slow or sends too much is cut off, and
// others are served meanwhile.
func TestTheServerIsBounded(t *testing.T) {
	t.Parallel()
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			w.WriteHeader(http.StatusRequestTimeout)
		}
	}))
	if server.ReadHeaderTimeout != 5*time.Second || server.ReadTimeout != 10*time.Second || server.WriteTimeout == 0 || server.IdleTimeout == 0 {
		t.Errorf("timeouts: %+v", server)
	}
	server.ReadHeaderTimeout, server.ReadTimeout, server.IdleTimeout = 300*time.Millisecond, 600*time.Millisecond, 300*time.Millisecond
	address := serve(t, server)
	slow := map[string]*bufio.Reader{
		"half a header": dial(t, address, "GET / HTTP/1.1\r\nHost: sho"),
		"half a body":   dial(t, address, "POST / HTTP/1.1\r\nHost: shop\r\nContent-Length: 10\r\n\r\nhalf"),
		"nothing":       dial(t, address, ""),
	}
	resp, err := http.Get("http://" + address) //nolint:noctx // loopback
	if err != nil || resp.StatusCode != 200 {
		t.Errorf("beside the slow ones: %v %v", resp, err)
	} else {
		_ = resp.Body.Close()
	}
	for name, conn := range slow {
		if rest, err := io.ReadAll(conn); err != nil || strings.Contains(string(rest), "200 OK") {
			t.Errorf("%s: got %q %v, want the connection closed", name, rest, err)
		}
	}
	if status, _ := dial(t, address, "GET / HTTP/1.1\r\nHost: shop\r\nIdempotency-Key: "+strings.Repeat("k", 40<<10)+"\r\n\r\n").ReadString('\n'); !strings.Contains(status, "431") {
		t.Errorf("a key of 40 KiB: got %q, want 431", status)
	}
}

// TestOneRequestIsNeverTakenForTwo covers S9: two lengths are refused, and after a body that says its
// length in two ways the connection ends, so that nothing hidden behind it is served.
func TestOneRequestIsNeverTakenForTwo(t *testing.T) {
	t.Parallel()
	address := serve(t, newServer(newTestApp(t, slog.New(slog.DiscardHandler)).handler()))
	const start = "POST /v1/orders HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer demo-alpha\r\nContent-Type: application/json\r\n"
	if status, _ := dial(t, address, start+"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x").ReadString('\n'); !strings.Contains(status, " 400 ") {
		t.Errorf("two lengths: got %q, want 400", status)
	}
	const hidden = "GET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n"
	rest, err := io.ReadAll(dial(t, address, start+"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"+hidden))
	if n := strings.Count(string(rest), "HTTP/1.1 "); err != nil || n != 1 || strings.Contains(string(rest), "alive") {
		t.Errorf("%d answers, %v: %s", n, err, rest)
	}
}

// TestAnAddressTakesItsOwnMethodsAlone covers S29 and S46.
func TestAnAddressTakesItsOwnMethodsAlone(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, slog.New(slog.DiscardHandler)).handler()
	for path, foreign := range map[string][]string{
		"/v1/webhooks/simulated": {"GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE"},
		"/v1/orders":             {"GET", "PUT", "DELETE", "TRACE"},
		"/v1/payments":           {"GET", "PATCH", "TRACE"},
		"/healthz":               {"POST", "TRACE"},
	} {
		for _, method := range foreign {
			if got := send(h, method, path, ""); got.Code != http.StatusMethodNotAllowed || got.Header().Get("Allow") == "" {
				t.Errorf("%s %s: got %d, Allow %q", method, path, got.Code, got.Header().Get("Allow"))
			}
		}
	}
}
