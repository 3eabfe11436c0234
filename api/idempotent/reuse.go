package idempotent

import (
	"slices"
	"sync"

	"example.com/eenmaal/domain"
)

// recentKeys remembers on which endpoints a consumer's latest keys were used, to notice a key that is
// used for two operations: two effects, as it should be, and mostly a client that makes too few keys.
//
// It holds two generations of at most max keys. The older one is dropped when the newer one is full,
// so that it needs neither a clock nor the database.
type recentKeys struct {
	mu       sync.Mutex
	max      int
	new, old map[keyOwner][]int16
}

type keyOwner struct {
	key      [16]byte
	consumer int64
}

const maxRecentKeys = 8192

// use notes a key's endpoint, and reports whether it is the first use on a second or further one.
func (r *recentKeys) use(s domain.Scope) (other bool) {
	owner := keyOwner{s.Key.ID(), s.Consumer}
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, known := r.new[owner]
	if !known {
		seen = r.old[owner]
	}
	other = len(seen) > 0 && !slices.Contains(seen, s.Endpoint)
	if known && !other {
		return false
	}
	if !known && len(r.new) >= r.max {
		r.new, r.old = nil, r.new
	}
	if r.new == nil {
		r.new = map[keyOwner][]int16{}
	}
	if !slices.Contains(seen, s.Endpoint) {
		seen = append(seen, s.Endpoint)
	}
	r.new[owner] = seen
	return other
}
