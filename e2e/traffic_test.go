package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// traffic is customers' programs that order and pay without a pause, send many requests twice at once,
// repeat old ones, and remember every final answer. A request whose answers differ is a failure at once.
type traffic struct {
	t    *testing.T
	base string
	stop chan struct{}
	done sync.WaitGroup

	mu      sync.Mutex
	asked   []*asked
	retries map[string]int // of requests, by why
	counts  trafficCounts
}

// trafficCounts is what the programs saw.
type trafficCounts struct {
	requests, duplicates, elsewhere, replays, mismatches int
	slowest                                              time.Duration // until the final answer, with all tries
}

// asked is one key and its only answer.
type asked struct {
	path, key, body string
	status          int
	answer          string // status, headers and body
	text            string // the body
	replica         string
}

var skus = []string{"mug", "teapot", "bowl", "vase", "notebook", "candle", "plate"}

// startTraffic lets so many customers go on until finish.
func startTraffic(t *testing.T, base string, customers int) *traffic {
	t.Helper()
	tr := &traffic{t: t, base: base, stop: make(chan struct{}), retries: map[string]int{}}
	for range customers {
		tr.done.Go(tr.customer)
	}
	t.Cleanup(tr.finish)
	return tr
}

// finish lets every customer end what he does; it may be called twice.
func (tr *traffic) finish() {
	tr.mu.Lock()
	select {
	case <-tr.stop:
	default:
		close(tr.stop)
	}
	tr.mu.Unlock()
	tr.done.Wait()
}

// pace bounds the load: a customer begins so many times a second at most.
const pace = 150 * time.Millisecond

func (tr *traffic) customer() {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tr.stop:
			return
		case <-tick.C:
		}
		order := tr.twice("/v1/orders", newKey(), orderFor("sanne@example.nl", skus[n%len(skus)]))
		var made struct{ ID string }
		if order == nil || order.status != http.StatusCreated || json.Unmarshal([]byte(order.text), &made) != nil {
			continue // the test has failed
		}
		tr.twice("/v1/payments", newKey(), payment(made.ID, [...]string{"tok_ok", "tok_ok", "tok_declined", "tok_ok", "tok_charged_then_500"}[n%5]))
		switch n % 4 {
		case 1:
			tr.repeat(tr.any())
		case 3:
			tr.otherBody(order)
		}
	}
}

// twice sends a request two times at once, which the door gives to two replicas.
func (tr *traffic) twice(path, key, body string) *asked {
	var both [2]*asked
	var sent sync.WaitGroup
	for i := range both {
		sent.Go(func() { both[i] = tr.settle(tr.base, path, key, body) })
	}
	sent.Wait()
	if both[0] == nil || both[1] == nil {
		return nil
	}
	tr.same(both[0], both[1])
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.asked = append(tr.asked, both[0])
	tr.counts.duplicates++
	if both[0].replica != both[1].replica {
		tr.counts.elsewhere++
	}
	return both[0]
}

// repeat asks again with a key that has its answer.
func (tr *traffic) repeat(a *asked) {
	if again := tr.settle(tr.base, a.path, a.key, a.body); again != nil {
		tr.same(a, again)
		tr.count(func(c *trafficCounts) { c.replays++ })
	}
}

// otherBody uses an order's key for another order, which must be refused.
func (tr *traffic) otherBody(a *asked) {
	got := tr.settle(tr.base, a.path, a.key, strings.Replace(a.body, `"quantity":1`, `"quantity":2`, 1))
	if got != nil && (got.status != http.StatusConflict || !strings.Contains(got.text, "idempotency_key_reused")) {
		tr.t.Errorf("another order under a used key is answered with %s", got.answer)
	}
	tr.count(func(c *trafficCounts) { c.mismatches++ })
}

// any is a request that has its answer.
func (tr *traffic) any() *asked {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.asked[rand.IntN(len(tr.asked))]
}

func (tr *traffic) same(first, again *asked) {
	if first.answer != again.answer {
		tr.t.Errorf("%s %s is answered with\n%s\nand with\n%s", first.path, first.key, first.answer, again.answer)
	}
}

// settle sends a request until its answer is final, or gives nil when none comes: the test has failed.
func (tr *traffic) settle(base, path, key, body string) *asked {
	begin := time.Now()
	for try := 0; time.Since(begin) < 60*time.Second; try++ {
		got, again, err := tr.send(base, path, key, body, try)
		if err == nil && again == "" {
			tr.count(func(c *trafficCounts) { c.slowest = max(c.slowest, time.Since(begin)) })
			return got
		}
		if err != nil {
			again = "no answer"
		}
		tr.mu.Lock()
		tr.retries[again]++
		tr.mu.Unlock()
		time.Sleep(rand.N(min(time.Second, 50*time.Millisecond<<min(try, 5)))) // full jitter, as clients are told
	}
	tr.t.Errorf("%s %s gets no final answer", path, key)
	return nil
}

// send makes one try. again tells why another one is needed: only an answer that asks for it is a reason.
func (tr *traffic) send(base, path, key, body string, try int) (got *asked, again string, err error) {
	ctx, cancel := context.WithTimeout(tr.t.Context(), 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	req.Header = http.Header{"Authorization": {"Bearer demo-alpha"}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	if try > 0 {
		req.Header.Set("Retry-Attempt", fmt.Sprint(try))
	}
	req.Close = true // or net/http repeats requests by itself
	tr.count(func(c *trafficCounts) { c.requests++ })
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, "", err
	}
	head := resp.Header
	if head.Get("Retry-After") != "" {
		return nil, fmt.Sprint(resp.StatusCode), nil
	}
	if resp.StatusCode >= 500 {
		tr.t.Errorf("%s %s is answered with %d %s, which nobody may repeat", path, key, resp.StatusCode, text)
	}
	answer := fmt.Sprintln(resp.StatusCode, head.Get("Content-Type"), head.Get("Location"), head.Get("Idempotency-Expires")) + string(text)
	return &asked{path, key, body, resp.StatusCode, answer, string(text), head.Get(replicaHeader)}, "", nil
}

func (tr *traffic) count(change func(*trafficCounts)) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	change(&tr.counts)
}

// settled is how many keys have their answer.
func (tr *traffic) settled() int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return len(tr.asked)
}

// flowsDuring does something while keys get their answers, and fails when none did.
func (tr *traffic) flowsDuring(what string, do func()) {
	tr.t.Helper()
	begin, before := time.Now(), tr.settled()
	do()
	took, during := time.Since(begin), tr.settled()-before
	eventually(tr.t, patience, func() string { return "orders flow after: " + what }, func() bool { return tr.settled() >= before+10 })
	tr.t.Logf("%s: %s, and %d keys got their answers meanwhile", what, took.Round(time.Millisecond), during)
}
