package limit

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"example.com/eenmaal/domain"
)

// Shared is a set of token buckets that several processes take from. Take takes at most n tokens and
// tells how many it got; wait is how long it takes until there is one when it got none. An error says
// that nobody knows.
type Shared interface {
	Take(ctx context.Context, name string, perMinute, n int) (got int, wait time.Duration, err error)
}

// Rate lets every caller do something so many times a minute: all of them at once, or spread. A nil
// Rate lets everything through.
//
// Each process has its buckets. With shared ones beside them all processes together keep to the rate:
// a process asks its own first, which can only be fuller, and the shared ones when its own has a
// token. So a flood that is refused here costs no round trip, and when Redis is in trouble the own
// buckets go on as they are: every process then lets the whole rate through, and never everything.
//
// Shared tokens are fetched a tenth of a second's worth at a time, so that a busy caller pays one round
// trip for many runs. Those that a process has fetched and not used are lost to the others.
type Rate struct {
	name      string
	perMinute int
	shared    Shared
	refused   func()
	now       func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
	others  *bucket // for all who come while the map is full
	swept   time.Time
}

// bucket is what this process knows of one caller.
type bucket struct {
	*rate.Limiter
	mu      sync.Mutex
	fetched int // shared tokens that were not used yet
}

// maxBuckets bounds the callers that are told apart, which strangers can make at will.
const maxBuckets = 10_000

// Options of a Rate. Only PerMinute must be given.
type Options struct {
	Name      string // of the limit, in metrics and in the names of shared buckets
	PerMinute int
	Shared    Shared           // nil for this process alone
	Refused   func()           // called for every refusal
	Now       func() time.Time // time.Now when nil
}

// NewRate makes a limit, or nil when PerMinute is 0: no limit.
func NewRate(o Options) *Rate {
	if o.PerMinute <= 0 {
		return nil
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Refused == nil {
		o.Refused = func() {}
	}
	r := &Rate{name: o.Name, perMinute: o.PerMinute, shared: o.Shared, refused: o.Refused, now: o.Now, buckets: map[string]*bucket{}}
	r.others = r.newBucket()
	return r
}

// Take takes one token of a caller's, or gives the RateLimited error that says when to come back.
func (r *Rate) Take(ctx context.Context, caller string) error {
	if r == nil {
		return nil
	}
	now := r.now()
	b := r.bucket(caller, now)
	wait := b.takeOwn(now)
	if wait == 0 && r.shared != nil {
		wait = r.takeShared(ctx, caller, b)
	}
	if wait == 0 {
		return nil
	}
	r.refused()
	err := domain.Errorf(domain.RateLimited, "rate_limited", "More than %d requests a minute. Wait, and send it again with the same key.", r.perMinute)
	err.RetryAfter = wait
	return err
}

func (b *bucket) takeOwn(now time.Time) (wait time.Duration) {
	taken := b.ReserveN(now, 1)
	if wait = taken.DelayFrom(now); wait > 0 {
		taken.CancelAt(now)
	}
	return wait
}

func (r *Rate) takeShared(ctx context.Context, caller string, b *bucket) (wait time.Duration) {
	b.mu.Lock()
	have := b.fetched > 0
	if have {
		b.fetched--
	}
	b.mu.Unlock()
	if have {
		return 0
	}
	got, wait, err := r.shared.Take(ctx, r.name+":"+caller, r.perMinute, max(1, r.perMinute/600))
	if err != nil {
		return 0
	}
	if got > 0 {
		b.mu.Lock()
		b.fetched += got - 1
		b.mu.Unlock()
	}
	return wait
}

func (r *Rate) bucket(caller string, now time.Time) *bucket {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b, ok := r.buckets[caller]; ok {
		return b
	}
	if len(r.buckets) >= maxBuckets && now.Sub(r.swept) >= time.Second {
		r.sweep(now)
	}
	if len(r.buckets) >= maxBuckets {
		return r.others
	}
	b := r.newBucket()
	r.buckets[caller] = b
	return b
}

// sweep forgets buckets that are full again, which is what a new one would be.
func (r *Rate) sweep(now time.Time) {
	r.swept = now
	for caller, b := range r.buckets {
		if b.TokensAt(now) >= float64(r.perMinute) {
			delete(r.buckets, caller)
		}
	}
}

func (r *Rate) newBucket() *bucket {
	return &bucket{Limiter: rate.NewLimiter(rate.Limit(float64(r.perMinute)/60), r.perMinute)}
}
