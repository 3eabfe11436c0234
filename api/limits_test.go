package api_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/api"
	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/api/limit"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// admitting is a registry's Admit that holds consumers to a rate.
func admitting(r *limit.Rate) func(context.Context, domain.Consumer, string) error {
	return func(ctx context.Context, c domain.Consumer, _ string) error { return r.Take(ctx, limit.Consumer(c)) }
}

// TestAConsumerAtHisLimitStillGetsHisAnswers covers S36 and S6: the limit is on new runs alone, it
// leaves nothing behind, and it is nobody else's.
func TestAConsumerAtHisLimitStillGetsHisAnswers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		clock := &storetest.Clock{}
		shut := limit.NewRate(limit.Options{Name: "runs", PerMinute: 5, Now: clock.Now})
		s := newShop(t, d, withRegistry(idempotent.Config{Admit: admitting(shut)}))
		cold := newShop(t, d, withRegistry(idempotent.Config{Admit: admitting(shut), CacheBytes: -1}), withProvider(s.provider))
		first := call{path: "/v1/orders", key: newKey(), body: mugOrder}
		done := s.do(first)
		wantStatus(t, "order", done, 201)
		for range 50 {
			wantReplay(t, "a replay before the limit", done, s.do(first))
		}
		rows := s.count("SELECT count(*) FROM idempotency_keys")
		taken := 1
		for ; taken < 20 && s.order(newKey(), mugOrder).Status == 201; taken++ {
		}
		if taken != 5 {
			t.Errorf("%d orders before the limit, want 5: replays are free", taken)
		}
		refused := call{path: "/v1/orders", key: newKey(), body: mugOrder}
		for _, process := range []*shop{s, cold} {
			no := process.do(refused)
			wantStatus(t, "an order past the limit", no, http.StatusTooManyRequests)
			wait, err := strconv.Atoi(no.Header.Get("Retry-After"))
			if err != nil || wait < 1 || wait > 12 || no.field(t, "code") != "rate_limited" || !strings.Contains(no.Body, `"retryable":true`) ||
				no.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("got %v %s", no.Header, no.Body)
			}
			wantReplay(t, "a replay at the limit", done, process.do(first))
			late := first
			late.header = http.Header{"Retry-Attempt": {"1"}}
			wantReplay(t, "a retry at the limit", done, process.do(late))
			other := first
			other.body = strings.Replace(mugOrder, `:2}`, `:3}`, 1)
			wantStatus(t, "another request at the limit", process.do(other), http.StatusConflict)
		}
		if got := s.count("SELECT count(*) FROM idempotency_keys") - rows; got != taken-1 {
			t.Errorf("%d keys were recorded, want %d", got, taken-1)
		}
		byBeta := call{path: "/v1/orders", key: newKey(), body: mugOrder, consumer: "demo-beta"}
		wantStatus(t, "another consumer's order", s.do(byBeta), 201)
		clock.Move(12 * time.Second)
		wantStatus(t, "the same key after the wait", s.do(refused), 201)
	})
}

// TestWhatIsHalfDoneGoesOnAtTheLimit: a take-over is no new run.
func TestWhatIsHalfDoneGoesOnAtTheLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		runs := 2 // an order and its payment
		admit := func(context.Context, domain.Consumer, string) error {
			if runs--; runs < 0 {
				return domain.Errorf(domain.RateLimited, "rate_limited", "Wait.")
			}
			return nil
		}
		var charged atomic.Bool
		s := newShop(t, d, withRegistry(idempotent.Config{Admit: admit}), withPlan(func(_ context.Context, point string) error {
			if point == "after_charge" && !charged.Swap(true) {
				return errors.New("the process lost the answer")
			}
			return nil
		}))
		order, number := s.newOrder()
		key := newKey()
		wantStatus(t, "payment", s.pay(key, order, "tok_ok"), 503)
		paid := s.pay(key, order, "tok_ok")
		wantStatus(t, "its retry at the limit", paid, 201)
		if got := len(s.charges(number)); got != 1 {
			t.Errorf("%d charges", got)
		}
		wantStatus(t, "a new order", s.order(newKey(), mugOrder), 429)
	})
}

// TestReplicasHoldAConsumerToOneLimit covers S36: with Redis the replicas share it, and without it each
// goes on alone.
func TestReplicasHoldAConsumerToOneLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		server := storetest.OwnRedis(t)
		replica := func(options ...shopOption) *shop {
			answers := newAnswers(t, server.URL+"?read_timeout=2s", nil)
			r := limit.NewRate(limit.Options{Name: "runs", PerMinute: 6, Shared: answers.Buckets()})
			return newShop(t, d, append(options, withRegistry(idempotent.Config{Admit: admitting(r)}))...)
		}
		a := replica()
		b := replica(withProvider(a.provider))
		through := func(s *shop, consumer string, tries int) (n int) {
			for range tries {
				if s.do(call{path: "/v1/contact-messages", key: newKey(), body: contactBody, consumer: consumer}).Status == 201 {
					n++
				}
			}
			return n
		}
		begin := time.Now()
		got := through(a, "demo-alpha", 5) + through(b, "demo-alpha", 5)
		if most := 7 + int(time.Since(begin)/(10*time.Second)); got < 6 || got > most {
			t.Errorf("%d messages over two replicas, want 6 to %d", got, most)
		}
		server.Kill()
		begin = time.Now()
		got = through(a, "demo-beta", 20)
		if most := 7 + int(time.Since(begin)/(10*time.Second)); got < 6 || got > most {
			t.Errorf("%d messages without Redis, want 6 to %d", got, most)
		}
	})
}

// TestRequestsOfAnyKindHaveALimit: replays and reads are cheap, not free.
func TestRequestsOfAnyKindHaveALimit(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t), withLimits(api.Limits{Requests: limit.NewRate(limit.Options{PerMinute: 10, Now: (&storetest.Clock{}).Now})}))
	order, _ := s.newOrder()
	statuses := map[int]int{}
	for range 20 {
		statuses[s.do(call{method: "GET", path: "/v1/orders/" + order}).Status]++
	}
	if statuses[200] < 9 || statuses[200] > 10 || statuses[429] < 10 {
		t.Errorf("got %v", statuses)
	}
	wantStatus(t, "another consumer's read", s.do(call{method: "GET", path: "/v1/orders/" + order, consumer: "demo-beta"}), 404)
}

// TestAnAddressThatGuessesKeysIsStopped covers S6 and S36: the secret is not even looked up.
func TestAnAddressThatGuessesKeysIsStopped(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t), withLimits(api.Limits{Strangers: limit.NewRate(limit.Options{PerMinute: 10})}))
	wantStatus(t, "the known consumer", s.do(call{method: "GET", path: "/v1/orders/" + newKey()}), 404)
	statuses := map[int]int{}
	for range 30 {
		statuses[s.do(call{method: "GET", path: "/v1/orders/" + newKey(), consumer: uuid.NewString()}).Status]++
	}
	if statuses[401] < 9 || statuses[401] > 12 || statuses[401]+statuses[429] != 30 {
		t.Errorf("got %v", statuses)
	}
	wantStatus(t, "a right guess", s.do(call{method: "GET", path: "/v1/orders/" + newKey(), consumer: "demo-beta"}), 429)
}

// TestAFloodOfForgedEventsIsStopped covers S36: the address pays for each, and the provider behind the same
// address is not held up by it.
func TestAFloodOfForgedEventsIsStopped(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t), withLimits(api.Limits{Forgeries: limit.NewRate(limit.Options{PerMinute: 10, Now: (&storetest.Clock{}).Now})}))
	s.work()
	order, number, _ := s.atBank()
	forgery := s.news("charge.succeeded", number, approved(3))
	forgery.secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of somebody who guesses"))
	statuses := map[int]int{}
	for i := range 40 {
		statuses[s.deliver(forgery).Status]++
		if i%10 == 0 {
			wantStatus(t, "an event of the provider", s.deliver(s.news("charge.pending", number, nil)), 200)
		}
	}
	if statuses[401] < 10 || statuses[401] > 12 || statuses[401]+statuses[429] != 40 {
		t.Errorf("got %v", statuses)
	}
	refusal(t, "one more", s.deliver(forgery), 429, "rate_limited")
	s.approveAtProvider(s.rawCharge(number))
	wantStatus(t, "the provider's own word", s.deliver(s.news("charge.succeeded", number, nil)), 200)
	s.until("the order is paid", func() bool { return s.orderStatus(order) == "paid" })
}

// TestAFloodOfKeysFillsNoTable covers S6: 20,000 keys of one consumer, and no more rows than the bound.
func TestAFloodOfKeysFillsNoTable(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		const bound, flood = 200, 20_000
		var keys *limit.Keys
		s := newShop(t, d, withRegistry(idempotent.Config{Admit: func(ctx context.Context, c domain.Consumer, _ string) error { return keys.Take(ctx, c) }}))
		keys = limit.NewKeys(limit.KeysOptions{Max: bound, Count: s.db.LiveKeys, Log: slog.New(slog.DiscardHandler)})
		alpha, err := s.db.ConsumerBySecret(t.Context(), "demo-alpha")
		must(t, err)
		kinds := map[string]int{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for w := range 8 {
			all.Go(func() {
				for i := range flood / 8 {
					key, err := domain.ParseKey(newKey())
					must(t, err)
					_, err = s.SubmitContact.Do(t.Context(), alpha, key, api.SubmitContact{Email: "a@example.nl", Message: fmt.Sprint(w, i)})
					mu.Lock()
					kinds[codeOf(err)]++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		rows := s.count("SELECT count(*) FROM idempotency_keys WHERE consumer_id = ?", alpha.ID)
		// The count errs towards too many by what ran while it was taken.
		if rows > bound || rows < bound/2 || kinds[""] != rows || kinds[""]+kinds["too_many_keys"] != flood {
			t.Errorf("%d rows, answers %v", rows, kinds)
		}
		wantStatus(t, "another consumer's order", s.do(call{path: "/v1/orders", key: newKey(), body: mugOrder, consumer: "demo-beta"}), 201)
	})
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return idempotent.ProblemOf(err).Code
}
