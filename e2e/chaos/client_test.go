package chaos

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// operation is one thing that a client wants done once, under one key.
type operation struct {
	consumer string // "alpha" or "beta"
	endpoint string // as the contract writes it, such as POST /v1/payments/{id}/refunds
	path     string
	key      string
	body     string
	print    string // tells payloads under one key apart
	away     bool   // after an attempt that tells nothing the client goes away, until the shop goes on without him
}

// How a client of the shop should behave: the same key on every attempt, and pauses that grow, of random
// length.
const (
	attemptTimeout = 1500 * time.Millisecond
	firstPause     = 50 * time.Millisecond
	longestPause   = 1600 * time.Millisecond
)

// client makes attempts and writes down what came of them. Each attempt has a connection of its own:
// net/http repeats a request with an Idempotency-Key by itself on a used one, and that would not be in
// the history.
type client struct {
	number int
	world  *world
}

var (
	clients   atomic.Int64
	transport = &http.Transport{DisableKeepAlives: true, DisableCompression: true}
)

func (w *world) newClient() client { return client{int(clients.Add(1)), w} }

// perform repeats an operation until its answer is final, or says that the key is another request's. It
// gives up at the recovery bound.
func (w *world) perform(op operation) (ack, bool) { return w.repeat(op, 0) }

// repeat is perform by a client who has already made some attempts.
func (w *world) repeat(op operation, attempts int) (ack, bool) {
	c, begin := w.newClient(), time.Now()
	for n := attempts; ; n++ {
		got, outcome := c.try(op, n)
		switch outcome {
		case final:
			w.answered(time.Since(begin))
			return got, true
		case reused:
			return got, false
		}
		if op.away {
			op.away = false
			time.Sleep(lease + lookAfter + rand.N(4*time.Second))
			begin = time.Now()
			continue
		}
		if w.overdue(begin) {
			w.violation("I12", "%s %s has no final answer within %s after healing; the last attempt: %d %s %s (request %s)",
				op.consumer, op.endpoint, recoveryBound, got.Status, got.Code, op.key, got.Request)
			return got, false
		}
		time.Sleep(rand.N(min(longestPause, firstPause<<min(n, 10)) + 1))
	}
}

// try makes one attempt.
func (c client) try(op operation, n int) (ack, string) {
	front := c.world.fronts[rand.IntN(len(c.world.fronts))]
	a := attempt{Client: c.number, Replica: front.name, Consumer: op.consumer, Endpoint: op.endpoint, Key: op.key, Print: op.print}
	header := http.Header{"Idempotency-Key": {op.key}, "Content-Type": {"application/json"}}
	if n > 0 {
		header.Set("Retry-Attempt", strconv.Itoa(n))
	}
	method, _, _ := strings.Cut(op.endpoint, " ")
	a.Call = c.world.history.now()
	got, err := c.send(op.consumer, method, "http://"+front.addr+op.path, header, op.body)
	a.Return = c.world.history.now()
	full := ack{op: op, body: got.body}
	if err != nil {
		a.Outcome, a.Code = unknown, err.Error()
	} else {
		a.Status, a.Replayed, a.Request = got.status, got.header.Get("Idempotent-Replayed") == "true", got.header.Get("X-Request-Id")
		a.Outcome, a.Code = judge(got)
	}
	if a.Outcome == final {
		full.header = lasting(got.header)
		a.Hash = hash(a.Status, full.header, got.body)
	}
	full.attempt = a
	if first := c.world.history.add(a, full); first != nil {
		c.world.violation("I4", "%s was answered with %d %s%s and before that (%s) with %d %s%s; payloads %s and %s",
			a.scope(), a.Status, full.header, got.body, first.Request, first.Status, first.header, first.body, a.Print, first.Print)
	}
	if a.Code == "retry_same_key" {
		c.world.violation("unforeseen", "%s was answered with %d %s: the shop did not know what had happened to it", a.scope(), a.Status, got.body)
	}
	if a.Outcome == final && !expected[a.Status] {
		c.world.violation("I3", "%s was answered with %d %s", a.scope(), a.Status, got.body)
	}
	return full, a.Outcome
}

// exchange is an answer that came whole.
type exchange struct {
	status int
	header http.Header
	body   []byte
}

func (c client) send(consumer, method, address string, header http.Header, body string) (got exchange, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), attemptTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return got, err
	}
	req.Header = header
	req.Header.Set("Authorization", "Bearer demo-"+consumer)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return got, err
	}
	defer func() { _ = resp.Body.Close() }()
	got = exchange{status: resp.StatusCode, header: resp.Header}
	got.body, err = io.ReadAll(resp.Body)
	return got, err
}

// expected are the final answers to what these clients ask for: they break no rule of the API.
var expected = map[int]bool{200: true, 201: true, 202: true, 402: true, 422: true}

// judge tells what an answer to an operation means. Only what may pass has a Retry-After.
func judge(got exchange) (outcome, code string) {
	var problem struct{ Code string }
	if strings.HasPrefix(got.header.Get("Content-Type"), "application/problem") {
		_ = json.Unmarshal(got.body, &problem) // an empty code is what is to be told then
	}
	switch {
	case got.status >= 500 || got.header.Get("Retry-After") != "":
		return unknown, problem.Code
	case problem.Code == "idempotency_key_reused":
		return reused, problem.Code
	default:
		return final, problem.Code
	}
}

// lasting are the headers that must be the same in every final answer of a key.
func lasting(h http.Header) string {
	var b strings.Builder
	for _, name := range []string{"Content-Type", "Location", "Idempotency-Expires", "Idempotency-Original-Request-Id"} {
		fmt.Fprintf(&b, "%s: %s\n", name, h.Get(name))
	}
	return b.String()
}

func hash(status int, header string, body []byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d\n%s\n", status, header)
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// look asks what became of a key. What it says is part of the history.
func (w *world) look(op operation) {
	c := w.newClient()
	front := w.fronts[rand.IntN(len(w.fronts))]
	a := attempt{Client: c.number, Replica: front.name, Consumer: op.consumer, Endpoint: op.endpoint, Key: op.key, Outcome: unknown}
	query := url.Values{"endpoint": {op.endpoint}, "key": {op.key}}
	a.Call = w.history.now()
	got, err := c.send(op.consumer, http.MethodGet, "http://"+front.addr+"/v1/operations?"+query.Encode(), http.Header{}, "")
	a.Return = w.history.now()
	if err != nil {
		a.Code = err.Error()
	} else {
		a.Status, a.Request = got.status, got.header.Get("X-Request-Id")
		if a.Outcome = recorded(got); a.Outcome == unknown && got.status < 500 {
			w.violation("I14", "the look at %s was answered with %d %s", a.scope(), got.status, got.body)
		}
	}
	w.history.add(a, ack{})
}

// recorded tells what an answer to a look means.
func recorded(got exchange) string {
	var record struct{ State, Code string }
	if err := json.Unmarshal(got.body, &record); err != nil {
		return unknown
	}
	switch {
	case got.status == http.StatusNotFound && record.Code == "operation_not_found":
		return none
	case got.status == http.StatusOK && record.State == "completed":
		return done
	case got.status == http.StatusOK && (record.State == "in_progress" || record.State == "retryable"):
		return opened
	default:
		return unknown
	}
}

// read gets something of a consumer's until it is told, by whichever replica.
func (w *world) read(consumer, path string, into any) bool {
	c := w.newClient()
	for n, begin := 0, time.Now(); !w.overdue(begin); n++ {
		front := w.fronts[rand.IntN(len(w.fronts))]
		got, err := c.send(consumer, http.MethodGet, "http://"+front.addr+path, http.Header{}, "")
		if err == nil && got.status < 500 {
			if got.status != http.StatusOK || json.Unmarshal(got.body, into) != nil {
				w.violation("I14", "%s was told of %s and reads %d %s", consumer, path, got.status, got.body)
				return false
			}
			return true
		}
		time.Sleep(rand.N(min(longestPause, firstPause<<min(n, 10)) + 1))
	}
	w.violation("I12", "%s cannot read %s within %s after healing", consumer, path, recoveryBound)
	return false
}
