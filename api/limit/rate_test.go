package limit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/api/limit"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// waitOf is how long a refused caller is told to wait; 0 when he was let through.
func waitOf(t *testing.T, err error) time.Duration {
	t.Helper()
	if err == nil {
		return 0
	}
	known, ok := errors.AsType[*domain.Error](err)
	if !ok || known.Kind != domain.RateLimited || known.RetryAfter <= 0 {
		t.Fatalf("got %v, want RateLimited with a time to wait", err)
	}
	return known.RetryAfter
}

// passed counts how many of n tries get through.
func passed(t *testing.T, r *limit.Rate, caller string, n int) (through int) {
	t.Helper()
	for range n {
		if waitOf(t, r.Take(t.Context(), caller)) == 0 {
			through++
		}
	}
	return through
}

func TestACallerGetsAMinutesWorthAtOnceAndThenOneAfterTheOther(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	refused := 0
	r := limit.NewRate(limit.Options{PerMinute: 30, Now: func() time.Time { return now }, Refused: func() { refused++ }})
	if got := passed(t, r, "a", 100); got != 30 || refused != 70 {
		t.Errorf("%d passed and %d were refused, want 30 and 70", got, refused)
	}
	if wait := waitOf(t, r.Take(t.Context(), "a")); wait != 2*time.Second {
		t.Errorf("told to wait %s, want 2s", wait)
	}
	if got := passed(t, r, "b", 100); got != 30 {
		t.Errorf("%d of another caller passed, want 30", got)
	}
	now = now.Add(2 * time.Second) // as told
	if got := passed(t, r, "a", 10); got != 1 {
		t.Errorf("%d passed after the wait, want 1", got)
	}
	now = now.Add(time.Hour)
	if got := passed(t, r, "a", 100); got != 30 {
		t.Errorf("%d passed after an hour, want 30", got)
	}
}

func TestNoLimitIsNone(t *testing.T) {
	t.Parallel()
	if got := passed(t, limit.NewRate(limit.Options{PerMinute: 0}), "a", 1000); got != 1000 {
		t.Errorf("%d passed", got)
	}
	keys := limit.NewKeys(limit.KeysOptions{Max: 0})
	if err := keys.Take(t.Context(), domain.Consumer{ID: 1}); err != nil {
		t.Error(err)
	}
}

// TestMoreCallersThanCanBeToldApartShareABucket: memory stays bounded, and the door stays shut.
func TestMoreCallersThanCanBeToldApartShareABucket(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	r := limit.NewRate(limit.Options{PerMinute: 2, Now: func() time.Time { return now }})
	through := 0
	for i := range 20_000 {
		through += passed(t, r, fmt.Sprint(i), 1)
	}
	if through != 10_000+2 {
		t.Errorf("%d new callers passed, want 10002", through)
	}
	now = now.Add(time.Minute) // the buckets are full, and forgotten
	if got := passed(t, r, "late", 10); got != 2 {
		t.Errorf("%d passed, want 2", got)
	}
}

// shared is a set of buckets that another process has part in.
type shared struct {
	mu    sync.Mutex
	left  int
	err   error
	asked int
}

func (s *shared) Take(_ context.Context, _ string, _, n int) (got int, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.err != nil {
		return 0, 0, s.err
	}
	if s.left == 0 {
		return 0, time.Second, nil
	}
	got = min(n, s.left)
	s.left -= got
	return got, 0, nil
}

// TestABusyCallerPaysOneRoundTripForManyRuns, and never gets more than there is.
func TestABusyCallerPaysOneRoundTripForManyRuns(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	both := &shared{left: 95}
	r := limit.NewRate(limit.Options{PerMinute: 6000, Shared: both, Now: func() time.Time { return now }})
	if got := passed(t, r, "a", 90); got != 90 || both.asked != 9 {
		t.Errorf("%d passed with %d questions, want 90 with 9", got, both.asked)
	}
	if got := passed(t, r, "a", 90); got != 5 {
		t.Errorf("%d more passed, want the 5 that were left", got)
	}
}

// TestTheOwnBucketsGoOnWhenTheSharedOnesDoNotAnswer covers S36: Redis down means local, not open.
func TestTheOwnBucketsGoOnWhenTheSharedOnesDoNotAnswer(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	both := &shared{left: 12}
	r := limit.NewRate(limit.Options{PerMinute: 30, Shared: both, Now: func() time.Time { return now }})
	if got := passed(t, r, "a", 20); got != 12 {
		t.Errorf("%d passed, want the 12 that others left", got)
	}
	both.err = errors.New("no answer")
	if got := passed(t, r, "a", 100); got != 10 {
		t.Errorf("%d passed without an answer, want the 10 of the own bucket", got)
	}
	if both.asked != 30 {
		t.Errorf("asked %d times, want 30: a flood is refused without a round trip", both.asked)
	}
}

// TestReplicasShareTheirBucketsInRedis, and each goes on alone when Redis is killed.
func TestReplicasShareTheirBucketsInRedis(t *testing.T) {
	t.Parallel()
	redis := storetest.OwnRedis(t)
	var replicas []*limit.Rate
	for range 2 {
		answers := openAnswers(t, redis.URL)
		replicas = append(replicas, limit.NewRate(limit.Options{Name: "test", PerMinute: 60, Shared: answers.Buckets()}))
	}
	begin := time.Now()
	through := passed(t, replicas[0], "a", 40) + passed(t, replicas[1], "a", 40)
	if most := 61 + int(time.Since(begin).Seconds()); through < 60 || through > most {
		t.Errorf("%d passed, want 60 to %d", through, most)
	}
	redis.Kill()
	begin = time.Now()
	through = passed(t, replicas[0], "b", 200)
	if most := 61 + int(time.Since(begin).Seconds()); through < 60 || through > most {
		t.Errorf("%d passed without Redis, want 60 to %d", through, most)
	}
}

func TestAnAddressIsALineAndNotOneOfItsNumbers(t *testing.T) {
	t.Parallel()
	for _, pair := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.1", true}, {"192.0.2.1", "192.0.2.2", false}, {"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true}, {"2001:db8:1:2::1", "2001:db8:1:3::1", false}, {"", "192.0.2.1", false},
	} {
		if got := limit.Address(pair.a) == limit.Address(pair.b); got != pair.same {
			t.Errorf("%s and %s: same is %v", pair.a, pair.b, got)
		}
	}
	if got := limit.AddressOf(limit.WithAddress(t.Context(), "192.0.2.1")); got != limit.Address("192.0.2.1") {
		t.Errorf("got %q", got)
	}
}
