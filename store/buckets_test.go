package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/store/storetest"
)

func TestABucketIsOneForAllReplicas(t *testing.T) {
	t.Parallel()
	name := uuid.NewString()
	through, refused := 0, time.Duration(0)
	for range 2 {
		answers := openAnswers(t, storetest.RedisURL(t))
		defer func() { _ = answers.Close() }()
		buckets := answers.Buckets()
		for range 8 {
			_, wait, err := buckets.Take(t.Context(), name, 10, 1)
			must(t, err)
			if wait == 0 {
				through++
			} else {
				refused = wait
			}
		}
	}
	// One token comes back every six seconds, so a slow machine gives some more.
	if through < 10 || through > 12 || refused <= 0 || refused > 6*time.Second {
		t.Errorf("%d got a token, want 10; the rest is told to wait %s", through, refused)
	}
}

// TestBucketsWithoutRedisSaySoAtOnce: the breaker spares every further request the wait.
func TestBucketsWithoutRedisSaySoAtOnce(t *testing.T) {
	t.Parallel()
	redis := storetest.OwnRedis(t)
	answers := openAnswers(t, redis.URL)
	defer func() { _ = answers.Close() }()
	buckets := answers.Buckets()
	redis.Freeze()
	begin := time.Now()
	for range 200 {
		if _, _, err := buckets.Take(t.Context(), "x", 1000, 1); err == nil {
			t.Error("a frozen Redis gave a token")
		}
	}
	if took := time.Since(begin); took > 5*time.Second { // 200 waits of 80 ms would be 16 s
		t.Errorf("200 tries took %s", took)
	}
}
