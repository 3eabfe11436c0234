package outbound

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// resolver answers every question for an IPv4 address with the next of the given ones; the last stays.
func resolver(t *testing.T, addresses ...string) *net.Resolver {
	var asked atomic.Int64
	answer := func(query []byte) []byte {
		var m dnsmessage.Message
		if err := m.Unpack(query); err != nil {
			t.Error(err)
		}
		m.Response, m.Authoritative, m.Additionals = true, true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			i := min(int(asked.Add(1)), len(addresses)) - 1
			m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body: &dnsmessage.AResource{A: netip.MustParseAddr(addresses[i]).As4()}}}
		}
		reply, err := m.Pack()
		if err != nil {
			t.Error(err)
		}
		return reply
	}
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe() // no packet connection, so lengths come first, as over TCP
		go func() {
			defer func() { _ = server.Close() }()
			head := make([]byte, 2)
			for {
				if _, err := io.ReadFull(server, head); err != nil {
					return
				}
				query := make([]byte, int(head[0])<<8|int(head[1]))
				if _, err := io.ReadFull(server, query); err != nil {
					return
				}
				reply := answer(query)
				_, _ = server.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...))
			}
		}()
		return client, nil
	}}
}

// receiver is a server on this machine that counts what reaches it.
func receiver(t *testing.T, handle http.HandlerFunc) (address string, hits *atomic.Int64) {
	t.Helper()
	hits = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		handle(w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL, hits
}

func post(t *testing.T, c *Client, address string) (int, string) {
	t.Helper()
	status, err := c.Post(t.Context(), address, http.Header{"X-Test": {"yes"}}, []byte("body"))
	if err != nil {
		return status, err.Error()
	}
	return status, ""
}

func TestWhatIsPostedArrives(t *testing.T) {
	t.Parallel()
	address, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || string(body) != "body" || r.Header.Get("X-Test") != "yes" || r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("%s %q %v", r.Method, body, r.Header)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	if status, failure := post(t, New(Config{Demo: true}), address); status != 202 || failure != "" {
		t.Errorf("got %d %s", status, failure)
	}
}

// TestANameThatLeadsInsideIsRefused covers S30 and F26: the name looks well, what it resolves to decides.
func TestANameThatLeadsInsideIsRefused(t *testing.T) {
	t.Parallel()
	for _, inside := range []string{"10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"} {
		for _, demo := range []bool{false, true} {
			c := New(Config{Demo: demo, Resolver: resolver(t, inside)})
			if status, failure := post(t, c, "https://hooks.example.nl/"); failure != "address_refused" {
				t.Errorf("%s, demo %v: %d %s", inside, demo, status, failure)
			}
		}
	}
	if status, failure := post(t, New(Config{Resolver: resolver(t, "127.0.0.1")}), "https://hooks.example.nl/"); failure != "address_refused" {
		t.Errorf("loopback: %d %s", status, failure)
	}
}

// TestASecondAnswerForANameIsCheckedToo covers S30: a name that was fine when it was registered.
func TestASecondAnswerForANameIsCheckedToo(t *testing.T) {
	t.Parallel()
	address, hits := receiver(t, func(http.ResponseWriter, *http.Request) {})
	c := New(Config{Demo: true, Resolver: resolver(t, "127.0.0.1", "10.0.0.1")})
	named := strings.Replace(address, "127.0.0.1", "hooks.localhost", 1)
	if status, failure := post(t, c, named); status != 200 || hits.Load() != 1 {
		t.Fatalf("first: %d %s", status, failure)
	}
	if status, failure := post(t, c, named); failure != "address_refused" {
		t.Errorf("second: %d %s", status, failure)
	}
}

// TestARedirectIsNotFollowed covers S30: not inside, and not anywhere else either.
func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere, hits := receiver(t, func(http.ResponseWriter, *http.Request) {})
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, target := range []string{elsewhere, "http://169.254.169.254/latest/meta-data/"} {
			address, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, status) })
			if got, failure := post(t, New(Config{Demo: true}), address); got != status || failure != "" {
				t.Errorf("%d to %s: %d %s", status, target, got, failure)
			}
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d redirects were followed", hits.Load())
	}
}

// TestNothingIsSentToAURLThatIsRefused: the check at registration is made again for each post.
func TestNothingIsSentToAURLThatIsRefused(t *testing.T) {
	t.Parallel()
	address, hits := receiver(t, func(http.ResponseWriter, *http.Request) {})
	for _, text := range []string{address, strings.Replace(address, "//", "//user@", 1), "https://0x7f.1/", "https://2130706433/"} {
		if status, failure := post(t, New(Config{}), text); failure != "address_refused" {
			t.Errorf("%s: %d %s", text, status, failure)
		}
	}
	if hits.Load() != 0 {
		t.Error("something was sent")
	}
}

func TestAReceiverCannotHoldUsUp(t *testing.T) {
	t.Parallel()
	silent, _ := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client has gone
		<-r.Context().Done()
	})
	if status, failure := post(t, New(Config{Demo: true, Timeout: 200 * time.Millisecond}), silent); failure != "timeout" {
		t.Errorf("silent: %d %s", status, failure)
	}
	endless, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	})
	if status, failure := post(t, New(Config{Demo: true, Timeout: time.Hour}), endless); status != 200 {
		t.Errorf("endless: %d %s", status, failure)
	}
	wide, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Wide", strings.Repeat("a", 2*maxHeader))
	})
	if status, failure := post(t, New(Config{Demo: true}), wide); failure != "connection_failed" {
		t.Errorf("wide header: %d %s", status, failure)
	}
}

func TestNothingIsRememberedOfAReceiver(t *testing.T) {
	t.Parallel()
	address, hits := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "" {
			t.Error("a cookie came back")
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b", Path: "/"})
	})
	c := New(Config{Demo: true})
	for range 2 {
		post(t, c, address)
	}
	if hits.Load() != 2 {
		t.Errorf("%d posts arrived", hits.Load())
	}
}

// TestNoProxyIsAsked: a proxy would connect where the check does not see it.
func TestNoProxyIsAsked(t *testing.T) {
	t.Parallel()
	if New(Config{}).http.Transport.(*http.Transport).Proxy != nil {
		t.Error("the client has a proxy")
	}
}

// TestFailuresHaveShortCodes: an error of the network names the address; a Failure does not.
func TestFailuresHaveShortCodes(t *testing.T) {
	t.Parallel()
	c := New(Config{Demo: true})
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	if status, failure := post(t, c, "http://"+closed.Addr().String()+"/?secret"); failure != "connection_failed" {
		t.Errorf("closed port: %d %s", status, failure)
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	if status, failure := post(t, c, secure.URL); failure != "certificate_refused" {
		t.Errorf("unknown certificate: %d %s", status, failure)
	}
}
