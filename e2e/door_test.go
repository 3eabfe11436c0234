package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
)

// door is the load balancer in front of several replicas: each request goes to the next one that says it
// is ready. It repeats nothing; a request without an answer is the client's to repeat.
type door struct {
	url      string
	replicas []string
	ready    []atomic.Bool
	next     atomic.Int64
	lost     atomic.Int64 // requests that a replica gave no answer to
}

// replicaHeader tells the test which replica has answered.
const replicaHeader = "X-Replica"

func newDoor(t *testing.T, replicas ...string) *door {
	t.Helper()
	d := &door{replicas: replicas, ready: make([]atomic.Bool, len(replicas))}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: d.pick()}) },
		ModifyResponse: func(r *http.Response) error {
			r.Header.Set(replicaHeader, r.Request.URL.Host)
			return nil
		},
		// A connection of its own for each request, as in proxy.
		Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			d.lost.Add(1)
			hangUp(w)
		},
	})
	d.url = server.URL
	stop := make(chan struct{})
	d.watch(stop)
	t.Cleanup(func() {
		close(stop)
		server.CloseClientConnections()
		server.Close()
	})
	return d
}

// watch begins to ask every replica ten times a second whether it is ready.
func (d *door) watch(stop <-chan struct{}) {
	client := http.Client{Timeout: time.Second}
	for i := range d.replicas {
		go func() {
			for {
				resp, err := client.Get("http://" + d.replicas[i] + "/readyz")
				if err == nil {
					_ = resp.Body.Close()
				}
				d.ready[i].Store(err == nil && resp.StatusCode == http.StatusOK)
				select {
				case <-stop:
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		}()
	}
}

// pick gives the next replica that is ready, or just the next.
func (d *door) pick() string {
	n := int(d.next.Add(1))
	for i := range d.replicas {
		if at := (n + i) % len(d.replicas); d.ready[at].Load() {
			return d.replicas[at]
		}
	}
	return d.replicas[n%len(d.replicas)]
}

// allReady reports whether the door uses every replica.
func (d *door) allReady() bool {
	for i := range d.ready {
		if !d.ready[i].Load() {
			return false
		}
	}
	return true
}
