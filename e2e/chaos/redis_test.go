package chaos

import (
	"context"
	"testing"
	"time"
)

// ofRedis hurt the server with the copies of answers, and the copies.
func ofRedis() []nemesis {
	return []nemesis{
		{"freeze Redis", func(w *world, _ *replica, d time.Duration) int { w.redis.frozen(d); return 1 }},
		{"kill Redis", func(w *world, _ *replica, d time.Duration) int {
			w.redis.kill()
			time.Sleep(d)
			return w.again(w.redis)
		}},
		{"flush Redis", func(w *world, _ *replica, _ time.Duration) int {
			ctx, cancel := context.WithTimeout(context.Background(), longest)
			defer cancel()
			if w.cache.FlushAll(ctx).Err() != nil {
				return 0
			}
			return 1
		}},
		{"values of another type in Redis", func(w *world, _ *replica, _ time.Duration) int { return w.poison(mistype) }},
		{"another key's values in Redis", func(w *world, _ *replica, _ time.Duration) int { return w.poison(swap) }},
	}
}

// mistype makes a copy something that cannot be read as one.
const mistype = `redis.call('DEL', KEYS[1]); return redis.call('RPUSH', KEYS[1], 'something else')`

// swap makes one key's copy another key's.
const swap = `local other = redis.call('GET', KEYS[2]); if not other then return 0 end; redis.call('SET', KEYS[1], other, 'EX', 600); return 1`

// poison spoils the copies there are, or waits for the first ones, and tells how many.
func (w *world) poison(how string) (n int) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	for n == 0 && ctx.Err() == nil {
		names, _ := w.cache.Keys(ctx, "*answer:*").Result()
		for i, name := range names {
			if w.cache.Eval(ctx, how, []string{name, names[(i+1)%len(names)]}).Err() == nil && len(names) > 1 {
				n++
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return n
}

func TestPoisonSpoilsEveryCopy(t *testing.T) {
	t.Parallel()
	asked(t)
	w := &world{}
	_, w.cache = newRedis(t, t.TempDir())
	copies := map[string]string{"x:answer:{1}": "one", "x:answer:{2}": "two", "x:answer:{3}": "three"}
	for _, how := range []string{swap, mistype} {
		for name, text := range copies {
			if err := w.cache.Set(t.Context(), name, text, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if n := w.poison(how); n != len(copies) {
			t.Errorf("%d copies were spoilt", n)
		}
		for name, text := range copies {
			if got, err := w.cache.Get(t.Context(), name).Result(); got == text && err == nil {
				t.Errorf("%s is still %s", name, got)
			}
		}
	}
}
