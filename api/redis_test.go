package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/store/storetest"
	"example.com/eenmaal/store/throwaway"
)

// TestRedisInTroubleCostsNothingButTime covers T45 and T60: whatever happens to Redis in the middle of
// fifty duplicates, there is one effect and every answer is the same.
func TestRedisInTroubleCostsNothingButTime(t *testing.T) {
	t.Parallel()
	troubles := map[string]func(t *testing.T, r *throwaway.Server){
		"killed": func(_ *testing.T, r *throwaway.Server) { r.Kill() },
		"frozen": func(_ *testing.T, r *throwaway.Server) { r.Freeze() },
		"flushed": func(t *testing.T, r *throwaway.Server) {
			client := redis.NewClient(redisOptions(t, r.URL))
			defer func() { _ = client.Close() }()
			must(t, client.FlushAll(t.Context()).Err())
		},
		"restarted": func(t *testing.T, r *throwaway.Server) { must(t, r.Restart()) },
	}
	once := effectsOfOne(t)
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, d storetest.Database) {
				server := storetest.OwnRedis(t)
				a := redisShop(t, d, server.URL)
				b := redisShop(t, d, server.URL, withProvider(a.provider))
				for _, e := range examples {
					request := e.request(a)
					request.key, request.header = newKey(), http.Header{"Retry-Attempt": {"1"}}
					answers := together(t, 50, func(i int) (answer, error) {
						if i == 25 {
							trouble(t, server)
						}
						return []*shop{a, b}[i%2].try(t.Context(), request)
					})
					wantStatus(t, e.pattern, answers[0], e.status)
					for _, got := range answers {
						sameAnswer(t, e.pattern, answers[0], got)
					}
					effects := e.effects(a)
					if want := once[e.pattern]; effects != want {
						t.Errorf("%s: effects of fifty requests %s, of one %s", e.pattern, effects, want)
					}
					wantReplay(t, e.pattern, answers[0], b.do(request))
					if again := e.effects(a); again != effects {
						t.Errorf("%s: a retry had an effect: %s, then %s", e.pattern, effects, again)
					}
				}
			})
		})
	}
}

// effectsOfOne tells what one request of each kind leaves behind, made one after the other.
func effectsOfOne(t *testing.T) map[string]string {
	s, effects := newShop(t, storetest.SQLite(t)), map[string]string{}
	for _, e := range examples {
		request := e.request(s)
		request.key = newKey()
		wantStatus(t, e.pattern, s.do(request), e.status)
		effects[e.pattern] = e.effects(s)
	}
	return effects
}

func redisShop(t *testing.T, d storetest.Database, url string, options ...shopOption) *shop {
	t.Helper()
	cfg := idempotent.Config{CacheBytes: -1, Answers: newAnswers(t, url, nil)}
	return newShop(t, d, append([]shopOption{withRegistry(cfg)}, options...)...)
}

func redisOptions(t *testing.T, url string) *redis.Options {
	t.Helper()
	o, err := redis.ParseURL(url)
	must(t, err)
	return o
}

// TestAnAnswerThatIsNotThisKeysIsRefused covers F18: a copy that belongs to another key, another
// consumer or nobody is not shown, wherever it came from.
func TestAnAnswerThatIsNotThisKeysIsRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var book logBook
		copies := newAnswers(t, storetest.RedisURL(t), book.logger())
		s := source{shop: newShop(t, d, withRegistry(idempotent.Config{CacheBytes: -1, Answers: copies})), copy: copies, name: "database"}
		client := redis.NewClient(redisOptions(t, storetest.RedisURL(t)))
		defer func() { _ = client.Close() }()
		nameOf := func(c call) string {
			scope := s.scope(c.key, "POST /v1/orders")
			return fmt.Sprintf("eenmaal:test:answer:{%s:%d:%d}", uuid.UUID(scope.Key.ID()), scope.Consumer, scope.Endpoint)
		}
		other := call{path: "/v1/orders", key: newKey(), body: change(`"quantity":2`, `"quantity":1`)}
		foreign := s.do(other)
		s.only(other, "POST /v1/orders")
		text, err := client.Get(t.Context(), nameOf(other)).Result()
		must(t, err)

		for i, planted := range []string{text, "", "null", "{}", `{"s":200,"b":"aGVsbG8="}`, strings.Replace(text, `"c":1`, `"c":2`, 1)} {
			mine := call{path: "/v1/orders", key: newKey(), body: mugOrder}
			must(t, client.Set(t.Context(), nameOf(mine), planted, 0).Err())
			first := s.again(mine)
			wantStatus(t, fmt.Sprint("never run, planted ", i), first, 201)
			if first.Body == foreign.Body || first.Header.Get("Idempotent-Replayed") != "false" {
				t.Errorf("planted %d: a foreign answer was shown", i)
			}
			must(t, client.Set(t.Context(), nameOf(mine), planted, 0).Err())
			wantReplay(t, fmt.Sprint("run before, planted ", i), first, s.again(mine))
		}
		if len(book.lines("refused a copied answer")) < 6 {
			t.Errorf("log: %v", book.lines(""))
		}
	})
}
