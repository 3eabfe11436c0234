package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxy stands between a client and a server. It remembers every POST that comes by and, where a test
// says so, behaves like a bad network.
type proxy struct {
	url     string
	target  atomic.Pointer[url.URL]
	forward *httputil.ReverseProxy
	running sync.WaitGroup

	mu     sync.Mutex
	posts  []post
	gets   []string // paths
	faults []*fault
}

// post is one POST that came by.
type post struct {
	path  string
	body  string
	retry string // the header in which a program counts its tries
	key   string // of the header
	event string // the webhook-id
}

// fault is what happens to POSTs whose path ends in suffix.
type fault struct {
	suffix string
	times  int // that are left; below zero: always
	do     func(p *proxy, w http.ResponseWriter, r *http.Request)
}

// newProxy makes a proxy in front of addr.
func newProxy(t *testing.T, addr string) *proxy {
	t.Helper()
	p := &proxy{}
	p.to(addr)
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(p.target.Load())
			r.Out.Host = r.In.Host // the origin of a form is compared with it
		},
		// A connection of its own for each request: net/http repeats a request with an Idempotency-Key
		// by itself when a used connection turns out to be closed.
		Transport:    &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { hangUp(w) },
	}
	server := httptest.NewServer(p)
	p.url = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return p
}

// to sends what comes from now on to another address.
func (p *proxy) to(addr string) { p.target.Store(&url.URL{Scheme: "http", Host: addr}) }

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.running.Add(1)
	defer p.running.Done()
	var do func(*proxy, http.ResponseWriter, *http.Request)
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			hangUp(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		do = p.record(r, string(body))
	}
	if r.Method == http.MethodGet {
		p.mu.Lock()
		p.gets = append(p.gets, r.URL.Path)
		p.mu.Unlock()
	}
	if do == nil {
		p.forward.ServeHTTP(w, r)
		return
	}
	do(p, w, r)
}

func (p *proxy) record(r *http.Request, body string) func(*proxy, http.ResponseWriter, *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.posts = append(p.posts, post{path: r.URL.Path, body: body, retry: r.Header.Get("Retry-Attempt"), key: r.Header.Get("Idempotency-Key"),
		event: r.Header.Get("webhook-id")})
	for _, f := range p.faults {
		if f.times != 0 && strings.HasSuffix(r.URL.Path, f.suffix) {
			f.times--
			return f.do
		}
	}
	return nil
}

// on makes the next POSTs to paths that end in suffix meet a fault; below zero means all of them.
func (p *proxy) on(suffix string, times int, do func(*proxy, http.ResponseWriter, *http.Request)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, &fault{suffix, times, do})
}

// heal takes all faults away.
func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = nil
}

// count is how many POSTs came by to paths that end in suffix.
func (p *proxy) count(suffix string) int { return len(p.seen(suffix)) }

func (p *proxy) seen(suffix string) (list []post) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, post := range p.posts {
		if strings.HasSuffix(post.path, suffix) {
			list = append(list, post)
		}
	}
	return list
}

// countGets is how often a page whose path ends in suffix was asked for.
func (p *proxy) countGets(suffix string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, path := range p.gets {
		if strings.HasSuffix(path, suffix) {
			n++
		}
	}
	return n
}

// delay holds a request back before the server hears of it.
func delay(d time.Duration) func(*proxy, http.ResponseWriter, *http.Request) {
	return func(p *proxy, w http.ResponseWriter, r *http.Request) {
		time.Sleep(d)
		p.forward.ServeHTTP(w, r)
	}
}

// dropAnswer lets the server do its work and then closes the connection without a word of it.
func dropAnswer(p *proxy, w http.ResponseWriter, r *http.Request) {
	p.forward.ServeHTTP(httptest.NewRecorder(), r)
	hangUp(w)
}

// holdAnswer lets the server do its work at once and gives its answer later.
func holdAnswer(d time.Duration) func(*proxy, http.ResponseWriter, *http.Request) {
	return func(p *proxy, w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		p.forward.ServeHTTP(recorded, r)
		time.Sleep(d)
		pass(w, recorded)
	}
}

// pass gives an answer that was held on to the client, which may have gone.
func pass(w http.ResponseWriter, recorded *httptest.ResponseRecorder) {
	for name, values := range recorded.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(recorded.Body.Bytes())
}

// holder keeps clients waiting until they are released, give up or are no more.
type holder struct {
	now     atomic.Int32  // how many wait
	release chan struct{} // closed to let them go on; nil means never
}

// wait reports whether to go on; gone says that nobody waits any more.
func (h *holder) wait(gone <-chan struct{}) bool {
	h.now.Add(1)
	defer h.now.Add(-1)
	select {
	case <-h.release:
		return true
	case <-gone:
		return false
	}
}

// request holds a request before the server hears of it.
func (h *holder) request(p *proxy, w http.ResponseWriter, r *http.Request) {
	if h.wait(r.Context().Done()) {
		p.forward.ServeHTTP(w, r)
	}
}

// answer lets the server do its work and holds what it says of it.
func (h *holder) answer(p *proxy, w http.ResponseWriter, r *http.Request) {
	recorded := httptest.NewRecorder()
	p.forward.ServeHTTP(recorded, r)
	if h.wait(r.Context().Done()) {
		pass(w, recorded)
	}
}

// refuse closes the connection before the server hears of the request.
func refuse(_ *proxy, w http.ResponseWriter, _ *http.Request) { hangUp(w) }

// hangUp closes the client's connection without an answer.
func hangUp(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return // a recorder: its reader hangs up itself
	}
	if conn, _, err := hijacker.Hijack(); err == nil {
		_ = conn.Close()
	}
}
