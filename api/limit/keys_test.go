package limit_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/api/limit"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

func openAnswers(t *testing.T, url string) *store.Answers {
	t.Helper()
	a, err := store.OpenAnswers(url+"?read_timeout=2s", "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// table is a key table that others write to as well. Every count is told on counted.
type table struct {
	mu      sync.Mutex
	rows    map[int64]int
	err     error
	now     time.Time
	counted chan struct{}
}

func (tb *table) count(context.Context) (map[int64]int, error) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	copied := map[int64]int{}
	for c, n := range tb.rows {
		copied[c] = n
	}
	defer func() { tb.counted <- struct{}{} }()
	return copied, tb.err
}

func (tb *table) set(consumer int64, n int) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.rows[consumer] = n
}

func (tb *table) clock() time.Time {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	return tb.now
}

// later moves the clock past the next count, and lets one request begin it.
func (tb *table) later(t *testing.T, k *limit.Keys) {
	t.Helper()
	tb.mu.Lock()
	tb.now = tb.now.Add(time.Hour)
	tb.mu.Unlock()
	_ = k.Take(t.Context(), domain.Consumer{ID: 99})
	<-tb.counted
}

func newTable() *table {
	return &table{rows: map[int64]int{}, now: time.Unix(1_800_000_000, 0), counted: make(chan struct{}, 1)}
}

func (tb *table) keys(max int) *limit.Keys {
	return limit.NewKeys(limit.KeysOptions{Max: max, Count: tb.count, Now: tb.clock, Log: slog.New(slog.DiscardHandler)})
}

// taken takes until it is refused, at most n times.
func taken(t *testing.T, k *limit.Keys, consumer int64, n int) (through int) {
	t.Helper()
	for range n {
		if err := k.Take(t.Context(), domain.Consumer{ID: consumer}); err != nil {
			if known, ok := errors.AsType[*domain.Error](err); !ok || known.Code != "too_many_keys" || known.RetryAfter <= 0 {
				t.Fatalf("got %v", err)
			}
			return through
		}
		through++
	}
	return through
}

func TestAConsumerKeepsNoMoreKeysThanTheBound(t *testing.T) {
	t.Parallel()
	tb := newTable()
	k := tb.keys(100)
	_ = k.Take(t.Context(), domain.Consumer{ID: 99})
	<-tb.counted
	if got := taken(t, k, 1, 1000); got != 100 {
		t.Errorf("%d new keys, want 100", got)
	}
	if got := taken(t, k, 2, 50); got != 50 {
		t.Errorf("%d keys of another consumer, want all 50", got)
	}
	tb.set(1, 100)
	tb.later(t, k) // those of before this count may be in the table or not
	tb.set(1, 40)  // 60 expired
	tb.later(t, k)
	until(t, func() bool { return k.Take(t.Context(), domain.Consumer{ID: 1}) == nil })
	if got := taken(t, k, 1, 1000); got != 59 {
		t.Errorf("%d more new keys after some expired, want 59", got)
	}
}

// TestTheTableIsReadSeldom: a consumer who is far from the bound costs nothing.
func TestTheTableIsReadSeldom(t *testing.T) {
	t.Parallel()
	tb := newTable()
	k := tb.keys(1000)
	counts := 0
	for range 240 { // one in five seconds, for 20 minutes
		if got := taken(t, k, 1, 1); got != 1 {
			t.Fatal("refused")
		}
		tb.mu.Lock()
		tb.now, tb.rows[1] = tb.now.Add(5*time.Second), tb.rows[1]+1
		tb.mu.Unlock()
		select {
		case <-tb.counted:
			counts++
		default:
		}
	}
	if counts > 4 {
		t.Errorf("counted %d times for 240 keys of 1000", counts)
	}
}

// TestACountThatRunsForgetsNothing: what was let through before it began counts while it runs.
func TestACountThatRunsForgetsNothing(t *testing.T) {
	t.Parallel()
	running, ended := make(chan struct{}), make(chan struct{})
	defer close(ended)
	k := limit.NewKeys(limit.KeysOptions{Max: 100, Log: slog.New(slog.DiscardHandler), Count: func(context.Context) (map[int64]int, error) {
		close(running)
		<-ended
		return nil, nil
	}})
	before := taken(t, k, 1, 60)
	<-running
	if got := before + taken(t, k, 1, 1000); got != 100 {
		t.Errorf("%d new keys around the beginning of a count, want 100", got)
	}
}

func TestAFailedCountForgetsNothing(t *testing.T) {
	t.Parallel()
	tb := newTable()
	k := tb.keys(100)
	if got := taken(t, k, 1, 60); got != 60 {
		t.Fatalf("%d new keys", got)
	}
	<-tb.counted
	tb.err = errors.New("no answer")
	tb.later(t, k)
	tb.later(t, k)
	if got := taken(t, k, 1, 1000); got != 40 {
		t.Errorf("%d new keys after counts that failed, want 40", got)
	}
}

// until waits for what a count in the background makes true.
func until(t *testing.T, true func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !true(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}
