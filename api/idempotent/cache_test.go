package idempotent

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"example.com/eenmaal/domain"
)

func scopeOf(t testing.TB, n int) domain.Scope {
	t.Helper()
	key, err := domain.ParseKey(fmt.Sprintf("cache-test-key-%06d", n))
	if err != nil {
		t.Fatal(err)
	}
	return domain.Scope{Key: key, Consumer: 1, Endpoint: 1}
}

func TestTheCacheIsBoundedInBytesAndForgetsTheOldest(t *testing.T) {
	t.Parallel()
	body := []byte(strings.Repeat("x", 400))
	c := newAnswerCache(10 * (len(body) + entryOverhead))
	for n := range 1000 {
		c.put(scopeOf(t, n), domain.Fingerprint{}, domain.Answer{Body: body})
		c.get(scopeOf(t, 0)) // keeps the first one in use
		if c.size > c.max || len(c.byID) != c.order.Len() {
			t.Fatalf("%d bytes of %d, %d and %d entries", c.size, c.max, len(c.byID), c.order.Len())
		}
	}
	for n, want := range map[int]bool{0: true, 1: false, 500: false, 999: true, 991: true, 990: false} {
		if _, ok := c.get(scopeOf(t, n)); ok != want {
			t.Errorf("answer %d is there: %v", n, ok)
		}
	}
	c.drop(scopeOf(t, 999))
	c.drop(scopeOf(t, 999))
	if _, ok := c.get(scopeOf(t, 999)); ok || c.size != 9*(len(body)+entryOverhead) {
		t.Errorf("after a drop: %v, %d bytes", ok, c.size)
	}
}

func TestTheCacheKeepsTheFirstAnswerAndNoneThatIsTooLarge(t *testing.T) {
	t.Parallel()
	c := newAnswerCache(2000)
	s := scopeOf(t, 1)
	c.put(s, domain.Fingerprint{}, domain.Answer{Body: []byte("first")})
	c.put(s, domain.Fingerprint{}, domain.Answer{Body: []byte("second")})
	if got, ok := c.get(s); !ok || string(got.answer.Body) != "first" {
		t.Errorf("got %q", got.answer.Body)
	}
	c.put(scopeOf(t, 2), domain.Fingerprint{}, domain.Answer{Body: make([]byte, 2000)})
	if _, ok := c.get(s); !ok || len(c.byID) != 1 {
		t.Error("an answer that cannot fit drove others out")
	}
	other := s
	other.Consumer = 2
	if _, ok := c.get(other); ok {
		t.Error("another consumer finds the answer")
	}
	none := newAnswerCache(-1)
	none.put(s, domain.Fingerprint{}, domain.Answer{})
	if _, ok := none.get(s); ok {
		t.Error("a cache that is switched off remembers")
	}
}

func TestTheCacheBearsManyAtOnce(t *testing.T) {
	t.Parallel()
	c := newAnswerCache(20 * entryOverhead)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for n := range 300 {
				s := scopeOf(t, (g*n)%50)
				c.put(s, domain.Fingerprint{}, domain.Answer{})
				c.get(s)
				c.drop(scopeOf(t, n%50))
			}
		})
	}
	all.Wait()
	if c.size != len(c.byID)*entryOverhead || c.size > c.max {
		t.Errorf("%d bytes for %d entries", c.size, len(c.byID))
	}
}
