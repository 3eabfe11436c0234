package idempotent

import (
	"testing"

	"example.com/eenmaal/domain"
)

func TestAKeyOnASecondEndpointIsNoticedOnce(t *testing.T) {
	t.Parallel()
	r := recentKeys{max: 100}
	use := func(key int, consumer int64, endpoint int16) bool {
		return r.use(domain.Scope{Key: scopeOf(t, key).Key, Consumer: consumer, Endpoint: endpoint})
	}
	for i, c := range []struct {
		key      int
		consumer int64
		endpoint int16
		want     bool
	}{
		{1, 1, 1, false}, {1, 1, 1, false}, {1, 2, 2, false}, {2, 1, 2, false}, // nothing to say
		{1, 1, 2, true}, {1, 1, 2, false}, {1, 1, 1, false}, {1, 1, 3, true}, // a second and a third endpoint
	} {
		if got := use(c.key, c.consumer, c.endpoint); got != c.want {
			t.Errorf("use %d: %v, want %v", i, got, c.want)
		}
	}
}

func TestTheMemoryOfRecentKeysIsBounded(t *testing.T) {
	t.Parallel()
	r := recentKeys{max: 100}
	for n := range 1000 {
		s := scopeOf(t, n)
		r.use(s)
		if len(r.new) > r.max || len(r.old) > r.max {
			t.Fatalf("%d and %d keys, want at most %d each", len(r.new), len(r.old), r.max)
		}
	}
	for n, want := range map[int]bool{999: true, 901: true, 1: false} {
		s := scopeOf(t, n)
		s.Endpoint++
		if got := r.use(s); got != want {
			t.Errorf("key %d is remembered: %v, want %v", n, got, want)
		}
	}
}
