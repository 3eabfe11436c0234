package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/store/storetest"
	"example.com/eenmaal/store/throwaway"
)

// TestACommitWhoseAnswerWasLostIsReadBack covers T43: the database did it, the connection broke before
// it could say so. The client gets the answer all the same, and the effect is there once.
func TestACommitWhoseAnswerWasLostIsReadBack(t *testing.T) {
	t.Parallel()
	d := storetest.Postgres(t)
	var w *wire
	w, d.URL = newPostgresWire(t, d.URL)
	d.Pool = 1
	s := newShop(t, d)
	for _, c := range []call{{path: "/v1/orders", body: mugOrder}, {path: "/v1/contact-messages", body: contactBody}} {
		c.key = newKey()
		wantStatus(t, "to warm up", s.do(c), 201)
		before := s.effects()
		c.key = newKey()
		w.lose.Store(true)
		got := s.do(c)
		wantStatus(t, c.path, got, 201)
		after := s.effects()
		if after[0]+after[5] != before[0]+before[5]+1 {
			t.Errorf("%s: effects %v, then %v", c.path, before, after)
		}
		wantReplay(t, c.path, got, s.do(c))
	}
	if w.lost.Load() != 2 {
		t.Errorf("%d answers were lost, want 2", w.lost.Load())
	}
	if got := s.metric("idem_unknown_commits_total", ""); got != 2 {
		t.Errorf("idem_unknown_commits_total is %v, want 2", got)
	}
}

// TestAPaymentSurvivesTheLossOfAnyAnswerOfTheDatabase loses the first, the second, ... answer of a
// payment's talk with its database.
func TestAPaymentSurvivesTheLossOfAnyAnswerOfTheDatabase(t *testing.T) {
	t.Parallel()
	d := storetest.Postgres(t)
	var w *wire
	w, d.URL = newPostgresWire(t, d.URL)
	d.Pool = 1
	var f faults
	s := newShop(t, d, withPlan(f.plan), withRegistry(noMemory))
	for _, point := range []string{"before_reserve", "after_reserve", "before_charge", "after_charge", "before_finish", "after_finish"} {
		id, number := s.newOrder()
		request := call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")}
		f.once(point, func(context.Context, string) error { w.lose.Store(true); return nil })
		final := s.untilFinal(request)
		wantStatus(t, point, final, 201)
		w.lose.Store(false)
		wantReplay(t, point, final, s.untilFinal(request))
		s.paidOnce(id, number)
	}
}

// TestALostAnswerToTheClaimCostsNoLease: the claim is written and its run does not know. It finds its
// own claim and goes on, instead of making the client wait half a minute for it to end.
func TestALostAnswerToTheClaimCostsNoLease(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan), withRegistry(idempotent.Config{Lease: time.Minute, Patience: time.Millisecond}))
		id, number := s.newOrder()
		request := call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")}
		f.once("after_commit", func(context.Context, string) error { return errors.New("lost") })
		first := s.do(request)
		wantStatus(t, "the answer", first, 201)
		wantReplay(t, "and again", first, s.do(request))
		s.paidOnce(id, number)
	})
}

// TestATransportThatSendsAgainByItselfIsADuplicate covers T32: Go's own client repeats a POST that has
// an Idempotency-Key when a kept connection breaks.
func TestATransportThatSendsAgainByItselfIsADuplicate(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		w := newWire(t, strings.TrimPrefix(s.server.URL, "http://"))
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		send := func(key string) (int, string) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+w.listener.Addr().String()+"/v1/orders", bytes.NewBufferString(mugOrder))
			must(t, err)
			req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer demo-alpha"}, "Idempotency-Key": {key}}
			resp, err := client.Do(req)
			must(t, err)
			defer func() { _ = resp.Body.Close() }()
			body, err := io.ReadAll(resp.Body)
			must(t, err)
			return resp.StatusCode, string(body)
		}
		send(newKey())
		key := newKey()
		w.lose.Store(true)
		status, body := send(key)
		if status != 201 || w.lost.Load() != 1 {
			t.Fatalf("got %d %s, %d answers lost", status, body, w.lost.Load())
		}
		if got := s.count("SELECT count(*) FROM orders"); got != 2 {
			t.Errorf("orders: got %d, want 2", got)
		}
		if got := s.order(key, mugOrder); got.Body != body {
			t.Errorf("the client has %s, a replay gives %s", body, got.Body)
		}
	})
}

// TestABatchThatIsStartedAgainDoublesNothing covers T30: a program sends a list, with keys made of what
// is on it. It dies when the fourth order is made and not yet answered, and begins anew.
func TestABatchThatIsStartedAgainDoublesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan))
		batch := func(ctx context.Context, before func(i int)) (heard []answer) {
			for i := range 6 {
				before(i)
				a, err := s.try(ctx, call{path: "/v1/orders", key: fmt.Sprintf("subscription:2026-11:%04d", i), body: mugOrder})
				if err != nil {
					break
				}
				heard = append(heard, a)
			}
			return heard
		}
		ctx, die := context.WithCancel(t.Context())
		defer die()
		first := batch(ctx, func(i int) {
			if i == 3 {
				f.once("after_finish", func(run context.Context, _ string) error {
					die()
					<-clientLeft(run)
					return nil
				})
			}
		})
		second := batch(t.Context(), func(int) {})
		if len(first) != 3 || len(second) != 6 {
			t.Fatalf("%d answers before the end and %d after it, want 3 and 6", len(first), len(second))
		}
		for i, a := range second {
			wantStatus(t, "second run", a, 201)
			if got := a.Header.Get("Idempotent-Replayed"); got != strconv.FormatBool(i <= 3) {
				t.Errorf("order %d of the second run: Idempotent-Replayed %s", i, got)
			}
		}
		for i, a := range first {
			wantReplay(t, "first and second run", a, second[i])
		}
		if got := s.count("SELECT count(*) FROM orders"); got != 6 {
			t.Errorf("orders: got %d, want 6", got)
		}
	})
}

// TestADatabaseThatIsDownStopsEverythingAndLosesNothing covers T60 and T57.
func TestADatabaseThatIsDownStopsEverythingAndLosesNothing(t *testing.T) {
	t.Parallel()
	server := storetest.OwnPostgres(t, throwaway.Options{})
	s := newShop(t, storetest.Database{Name: "Postgres", URL: server.URL})
	id, number := s.newOrder()
	requests := []call{{path: "/v1/orders", body: mugOrder}, {path: "/v1/contact-messages", body: contactBody}, {path: "/v1/payments", body: payBody(id, "tok_ok")}}
	for i := range requests {
		requests[i].key = newKey()
	}
	before := s.effects()
	server.Kill()
	for range 2 {
		for _, c := range requests {
			if p := refusal(t, c.path, s.do(c), 503, "store_unavailable"); p.SafeNewKey {
				t.Error("a new key is called safe")
			}
		}
	}
	refusal(t, "a read", s.do(call{method: "GET", path: "/v1/orders/" + id}), 503, "store_unavailable")
	if got := s.charges(number); len(got) != 0 {
		t.Errorf("charged without a record: %v", got)
	}
	must(t, server.Restart())
	if after := s.effects(); after != before {
		t.Errorf("effects: %v, then %v", before, after)
	}
	for _, c := range requests {
		final := s.untilFinal(c)
		wantStatus(t, c.path, final, 201)
		wantReplay(t, c.path, final, s.do(c))
	}
	s.paidOnce(id, number)
	if got := s.effects(); got[0] != 2 || got[5] != 1 {
		t.Errorf("effects %v", got)
	}
}

// TestAPaymentInFlightWhenTheDatabaseDiesIsFinishedLater: the charge is made, the database is not there
// to hear of it.
func TestAPaymentInFlightWhenTheDatabaseDiesIsFinishedLater(t *testing.T) {
	t.Parallel()
	server := storetest.OwnPostgres(t, throwaway.Options{})
	var f faults
	s := newShop(t, storetest.Database{Name: "Postgres", URL: server.URL}, withPlan(f.plan),
		withRegistry(idempotent.Config{Lease: 500 * time.Millisecond}))
	id, number := s.newOrder()
	request := call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")}
	f.once("after_charge", func(context.Context, string) error { server.Kill(); return nil })
	refusal(t, "while it is down", s.do(request), 503, "store_unavailable")
	must(t, server.Restart())
	final := s.untilFinal(request)
	wantStatus(t, "later", final, 201)
	wantReplay(t, "and again", final, s.do(request))
	s.paidOnce(id, number)
}
