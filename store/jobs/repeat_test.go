package jobs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/store/jobs"
	"example.com/eenmaal/store/storetest"
)

// TestARepeatedJobIsMadeOnceAnID, however often a process starts, and again after it was given up.
func TestARepeatedJobIsMadeOnceAnID(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, time.Now)
		runs := &tally{counts: map[string]int{}}
		for start, id := range []string{"fails", "fails", "monday", "monday", "tuesday", "last"} {
			queue, err := jobs.New(t.Context(), jobs.Config{DB: db, ListenURL: d.URL})
			must(t, err)
			t.Cleanup(queue.Close)
			queue.Handle(jobs.Reconcile, jobs.Handler{Work: func(_ context.Context, id string, _ int) error {
				runs.add(id)
				if id == "fails" && runs.of(id) == 1 {
					return errors.Join(jobs.ErrGiveUp, errors.New("not today"))
				}
				return nil
			}})
			queue.Repeat(jobs.Reconcile, time.Hour, func() string { return id })
			done := time.Now().Add(30 * time.Second)
			must(t, queue.Start(t.Context()))
			for want := map[int]int{0: 1, 1: 2, 2: 3, 3: 3, 4: 4, 5: 5}[start]; runs.all() < want; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(done) {
					t.Fatalf("start %d: %d runs, want %d", start, runs.all(), want)
				}
			}
			stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			must(t, queue.Stop(stop))
			cancel()
		}
		if runs.of("fails") != 2 || runs.of("monday") != 1 || runs.of("tuesday") != 1 || runs.of("last") != 1 {
			t.Errorf("got %v", runs.counts)
		}
	})
}

// TestAJobThatHasNothingToDoYetRunsAgain, without using up its tries.
func TestAJobThatHasNothingToDoYetRunsAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, time.Now)
		queue, err := jobs.New(t.Context(), jobs.Config{DB: db, ListenURL: d.URL})
		must(t, err)
		t.Cleanup(queue.Close)
		tries := make(chan int, 10)
		queue.Handle(jobs.AskProvider, jobs.Handler{Tries: 1, Delay: 300 * time.Millisecond, Work: func(_ context.Context, _ string, try int) error {
			if tries <- try; len(tries) < 3 {
				return jobs.Again(10 * time.Millisecond)
			}
			return nil
		}})
		must(t, queue.Start(t.Context()))
		tx, begin := db.Begin(), time.Now()
		queue.Enqueue(tx, jobs.AskProvider, "a payment")
		must(t, tx.Commit(t.Context()))
		for end := begin.Add(30 * time.Second); len(tries) < 3; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d runs, want 3", len(tries))
			}
		}
		if took := time.Since(begin); took < 300*time.Millisecond {
			t.Errorf("it began before its delay: all was done after %s", took)
		}
		for range 3 {
			if try := <-tries; try != 1 {
				t.Errorf("this was try %d, want each to be the first", try)
			}
		}
		stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		must(t, queue.Stop(stop))
	})
}

// tally counts by name.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *tally) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[name]++
}

func (c *tally) of(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[name]
}

func (c *tally) all() (sum int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.counts {
		sum += n
	}
	return sum
}
