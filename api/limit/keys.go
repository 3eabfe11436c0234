package limit

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"example.com/eenmaal/domain"
)

// Keys bounds the keys that a consumer has in the table, whose answers are kept for days. A nil Keys
// bounds nothing.
//
// Counting reads the whole table, so it is done beside the requests and seldom: when new keys have used
// up a quarter of the room that a consumer had at the last count, and once in a while. In between,
// this process adds the new keys that it lets through. Those of other replicas it knows by the counts
// alone, so with n of them a consumer can exceed the bound by n quarters of the room last counted,
// which shrinks from count to count.
type Keys struct {
	max     int
	count   func(context.Context) (map[int64]int, error)
	refused func()
	now     func() time.Time
	log     *slog.Logger

	mu       sync.Mutex
	counted  map[int64]int // by the last count
	older    map[int64]int // new ones of before the last count, which it may have missed
	newer    map[int64]int // new ones since the last count began
	next     time.Time     // before this there is no further count
	stale    time.Time     // after this there is one, needed or not
	counting bool
}

// KeysOptions of Keys. Max, Count and Log must be given.
type KeysOptions struct {
	Max     int
	Count   func(context.Context) (map[int64]int, error) // the kept keys of all consumers
	Refused func()                                       // called for every refusal
	Now     func() time.Time                             // time.Now when nil
	Log     *slog.Logger
}

// Counting takes at most one twentieth of one connection's time, whatever the size of the table.
const (
	countPause   = 5 * time.Second
	countShare   = 20
	countAge     = 10 * time.Minute
	countTimeout = 30 * time.Second
)

// NewKeys makes a bound, or nil when Max is 0: none.
func NewKeys(o KeysOptions) *Keys {
	if o.Max <= 0 {
		return nil
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Refused == nil {
		o.Refused = func() {}
	}
	return &Keys{max: o.Max, count: o.Count, refused: o.Refused, now: o.Now, log: o.Log,
		counted: map[int64]int{}, older: map[int64]int{}, newer: map[int64]int{}}
}

// Take counts one more key of a consumer's, or gives the RateLimited error of one who has too many.
func (k *Keys) Take(ctx context.Context, consumer domain.Consumer) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	room, added := k.max-k.counted[consumer.ID], k.older[consumer.ID]+k.newer[consumer.ID]
	if now := k.now(); !k.counting && !now.Before(k.next) && (4*added >= room || !now.Before(k.stale)) {
		k.counting = true
		go k.recount(context.WithoutCancel(ctx))
	}
	if added >= room {
		k.refused()
		err := domain.Errorf(domain.RateLimited, "too_many_keys",
			"The answers of %d keys are kept for you, and no more can be. Some expire every hour; send it again with the same key.", k.max)
		err.RetryAfter = time.Minute
		return err
	}
	k.newer[consumer.ID]++
	return nil
}

// recount replaces what is known. Runs that are let through just before it begins may not be in the
// table yet, so they are still added once: the sum errs towards too many, by a few seconds' worth.
func (k *Keys) recount(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	k.mu.Lock()
	before := k.newer
	for consumer, n := range before {
		k.older[consumer] += n
	}
	k.newer = map[int64]int{}
	k.mu.Unlock()
	begin := time.Now()
	counted, err := k.count(ctx)
	took := time.Since(begin)

	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	k.counting, k.next, k.stale = false, now.Add(max(countPause, countShare*took)), now.Add(countAge)
	if err != nil {
		k.log.Warn("kept keys not counted, the last count stays", "error", err)
		return
	}
	k.counted, k.older = counted, before
}
