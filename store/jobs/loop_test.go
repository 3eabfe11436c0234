package jobs_test

import (
	"context"
	"testing"
	"time"

	"example.com/eenmaal/store/jobs"
	"example.com/eenmaal/store/storetest"
)

// TestALoopWorksFromStartToStop: again at once while there is more, and after a pause when there is not.
// Stop waits for what is under way, and ends it when there is no time to wait.
func TestALoopWorksFromStartToStop(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t).Open(t, time.Now)
	for _, patient := range []bool{true, false} {
		queue, err := jobs.New(t.Context(), jobs.Config{DB: db})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(queue.Close)
		turns, under, free, ended := 0, make(chan struct{}), make(chan struct{}), make(chan error, 1)
		queue.Every(time.Hour, func(ctx context.Context) bool {
			if turns++; turns < 3 {
				return true
			}
			close(under)
			select {
			case <-free:
			case <-ctx.Done():
			}
			ended <- ctx.Err()
			return true
		})
		if turns != 0 {
			t.Fatal("it works before Start")
		}
		starting, cancel := context.WithCancel(t.Context())
		if err := queue.Start(starting); err != nil {
			t.Fatal(err)
		}
		cancel() // ends the start, not the work
		select {
		case <-under:
		case <-time.After(30 * time.Second):
			t.Fatal("the third turn did not come at once")
		}
		stop, cancel := context.WithCancel(t.Context())
		defer cancel()
		if patient {
			time.AfterFunc(100*time.Millisecond, func() { close(free) })
		} else {
			cancel()
		}
		_ = queue.Stop(stop)
		if err := <-ended; (err == nil) != patient || turns != 3 {
			t.Errorf("patient %v: it ended with %v after %d turns", patient, err, turns)
		}
	}
}
