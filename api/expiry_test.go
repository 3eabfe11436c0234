package api_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"example.com/eenmaal/api"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// sweep moves the clock and does what the periodic jobs do.
func (s *shop) sweep(after time.Duration) store.Swept {
	s.t.Helper()
	s.clock.Move(after)
	swept, err := s.db.Sweep(s.t.Context(), api.SweepRules(s.registry))
	must(s.t, err)
	must(s.t, s.db.EnsurePartitions(s.t.Context()))
	return swept
}

// TestALateRetryNeverRunsAsNewWhateverIsLeftOfItsKey covers T28, for every operation: after its answer
// was wiped, after its day was dropped, and after the last trace of an opaque key was deleted.
func TestALateRetryNeverRunsAsNewWhateverIsLeftOfItsKey(t *testing.T) {
	t.Parallel()
	eachSource(t, func(t *testing.T, s source) {
		type sent struct {
			example
			call
			first answer
		}
		var all []sent
		for _, e := range examples {
			for _, key := range []string{newKey(), uuid.NewString()} {
				c := e.request(s.shop)
				c.key = key
				first := s.do(c)
				wantStatus(t, e.pattern, first, e.status)
				if s.copy != nil {
					s.copied(c, e.pattern)
				}
				all = append(all, sent{e, c, first})
			}
		}
		before := s.effects()
		late := func(when string, linked bool) {
			t.Helper()
			for _, c := range all {
				what := when + ": " + c.pattern + " " + c.key
				if linked {
					refusal(t, what+" for something else", s.again(another(c.call)), 409, "idempotency_key_reused")
				}
				got := s.again(c.call)
				if when == "forgotten" && (got.Status == 404 || got.Status == 422) {
					continue // what it did to something that is there no more can only be refused
				}
				p := refusal(t, what, got, 410, "idempotency_key_expired")
				if linked && p.Resource != c.first.Header.Get("Location") {
					t.Errorf("%s: resource %q, want %q", what, p.Resource, c.first.Header.Get("Location"))
				}
			}
			if after := s.effects(); after != before {
				t.Errorf("%s: effects %v, then %v", when, before, after)
			}
		}
		if got := s.sweep(168*time.Hour + 61*time.Minute); int(got.Wiped) != s.keys() || s.keys() < len(all) {
			t.Fatalf("%d keys; %+v", s.keys(), got)
		}
		if got := s.count("SELECT count(*) FROM idempotency_keys WHERE length(body) > 0 OR header <> '' OR input IS NOT NULL OR steps IS NOT NULL"); got != 0 {
			t.Errorf("%d answers or commands are left", got)
		}
		late("wiped", true)
		s.sweep(9 * 24 * time.Hour)
		if got := s.count("SELECT count(*) FROM idempotency_keys WHERE key < 'ff000000-0000-0000-0000-000000000000'"); got != 0 {
			t.Errorf("%d keys of an old day are left", got)
		}
		late("dropped", false)
		s.sweep(400 * 24 * time.Hour)
		if s.keys() != 0 {
			t.Errorf("%d keys are left", s.keys())
		}
		late("forgotten", false)
	})
}

// another is the same request about something else: another body, or another id in the path.
func another(c call) call {
	body := strings.NewReplacer("Sanne", "Anna", "tok_ok", "tok_declined", "Rokin 2", "Rokin 3", "localhost/", "localhost/other").Replace(c.body)
	if body == c.body {
		c.path = anyUUID.ReplaceAllString(c.path, newKey())
	}
	c.body = body
	return c
}

var anyUUID = regexp.MustCompile("[0-9a-f]{8}-[0-9a-f-]{27}")

// TestTheCopyOfAnAnswerEndsWithIt: Redis is told how long the answer is kept, and forgets it by itself.
func TestTheCopyOfAnAnswerEndsWithIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newSource(t, d, "Redis", nil)
		client := redis.NewClient(redisOptions(t, storetest.RedisURL(t)))
		defer func() { _ = client.Close() }()
		for pattern, longest := range map[string]time.Duration{
			"POST /v1/orders": 72 * time.Hour, "POST /v1/contact-messages": 48 * time.Hour} {
			c := call{path: "/v1/orders", key: newKey(), body: mugOrder}
			if strings.HasSuffix(pattern, "messages") {
				c.path, c.body = "/v1/contact-messages", contactBody
			}
			s.do(c)
			s.copied(c, pattern)
			scope := s.scope(c.key, pattern)
			left, err := client.PTTL(t.Context(), fmt.Sprintf("eenmaal:test:answer:{%s:%d:%d}", uuid.UUID(scope.Key.ID()), scope.Consumer, scope.Endpoint)).Result()
			if err != nil || left <= longest-time.Minute || left > longest {
				t.Errorf("%s: the copy lives for %s, want %s: %v", pattern, left, longest, err)
			}
		}
	})
}

func TestEveryOperationHasARuleForItsRecords(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t))
	rules := api.SweepRules(s.registry)
	if len(rules) != len(s.registry.Operations()) {
		t.Fatalf("%d rules", len(rules))
	}
	for _, r := range rules {
		want := 400 * 24 * time.Hour
		if r.Endpoint == "POST /v1/contact-messages" {
			want = 30 * 24 * time.Hour
		}
		if r.TTL < 48*time.Hour || r.Tombstone != want {
			t.Errorf("%+v", r)
		}
	}
}
