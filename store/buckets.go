package store

import (
	"context"
	"time"

	"github.com/go-redis/redis_rate/v10"
)

// Buckets are token buckets in Redis, which all replicas take from. They share the connections of the
// copied answers and their breaker: while Redis is in trouble, Take says so at once.
type Buckets struct {
	answers *Answers
	limiter *redis_rate.Limiter
}

// Buckets gives the token buckets in the same Redis.
func (a *Answers) Buckets() *Buckets { return &Buckets{a, redis_rate.NewLimiter(a.client)} }

// Take takes at most n tokens from the bucket of a name, which holds perMinute tokens and is filled in
// a minute, and gives how many it got. When it got none, wait is how long it takes until there is one.
// An error says that Redis gave no answer: the caller has to decide by itself.
func (b *Buckets) Take(ctx context.Context, name string, perMinute, n int) (got int, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.answers.timeout)
	defer cancel()
	_, err = b.answers.breaker.Execute(func() (string, error) {
		taken, err := b.limiter.AllowAtMost(ctx, b.answers.shop+name, redis_rate.PerMinute(perMinute), n)
		if err != nil {
			return "", err
		}
		if got = taken.Allowed; got == 0 {
			wait = max(taken.RetryAfter, time.Millisecond)
		}
		return "", nil
	})
	return got, wait, err
}
