package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// clock is the one that Postgres sees: the real one, and what a file says to add to it (libfaketime). The
// shop takes its leases from it.
type clock struct {
	file string
	turn sync.Mutex // one jump at a time
}

func newClock(t *testing.T, dir string) *clock {
	t.Helper()
	c := &clock{file: filepath.Join(dir, "clock")}
	if err := c.set(0); err != nil {
		t.Fatal(err)
	}
	return c
}

// set makes the clock differ from the real one. Whoever reads the file meanwhile reads all of it.
func (c *clock) set(difference time.Duration) error {
	next := c.file + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+d\n", int(difference.Seconds())), 0o644); err != nil {
		return err
	}
	return os.Rename(next, c.file)
}

// environment lets a program see the clock. What measures how long something takes is left alone, as on a
// machine whose clock is set.
func (c *clock) environment() []string {
	return append(os.Environ(), "LD_PRELOAD="+fakeTime(), "FAKETIME_TIMESTAMP_FILE="+c.file, "FAKETIME_NO_CACHE=1",
		"DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1")
}

// fakeTime finds the library; it is empty when there is none.
func fakeTime() string {
	for _, pattern := range []string{"/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1"} {
		if found, _ := filepath.Glob(pattern); found != nil {
			return found[0]
		}
	}
	return ""
}

// jump is longer than the longest lease that the shop believes in, so that a claim from the other side of
// a jump shows itself by its lease.
const jump = 65 * time.Second

// jumps sets Postgres' clock, lets a replica die, and sets it back before anybody has taken over what the
// dead one had begun: its leases end far from now.
func jumps(difference time.Duration) func(w *world, r *replica, _ time.Duration) int {
	return func(w *world, r *replica, _ time.Duration) int {
		if !w.clock.turn.TryLock() {
			return 0
		}
		defer w.clock.turn.Unlock()
		if err := w.clock.set(difference); err != nil {
			w.violation("harness", "%v", err)
		}
		time.Sleep(lease / 4)
		wrong := w.clockDiffers()
		r.kill("")
		time.Sleep(lease / 4)
		if err := w.clock.set(0); err != nil {
			w.violation("harness", "%v", err)
		}
		if !wrong {
			return 0
		}
		return 1
	}
}

// clockDiffers reports whether Postgres sees another time than everybody else.
func (w *world) clockDiffers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var now time.Time
	err := w.sql.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&now)
	return err == nil && time.Since(now).Abs() > jump/2
}

func TestOnlyPostgresSeesTheClockJump(t *testing.T) {
	t.Parallel()
	asked(t)
	dir := publicDir(t)
	w := &world{clock: newClock(t, dir)}
	_, w.database = newPostgres(t, dir, newDisk(t, dir), w.clock, false)
	w.witness(t, "pgx", w.database)
	for _, difference := range []time.Duration{0, jump, -jump, 0} {
		if err := w.clock.set(difference); err != nil {
			t.Fatal(err)
		}
		if got, want := w.clockDiffers(), difference != 0; got != want {
			t.Errorf("%s away from the real time: differs %t", difference, got)
		}
	}
}

// publicDir is a folder that Postgres' account passes through.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "eenmaal-chaos-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
