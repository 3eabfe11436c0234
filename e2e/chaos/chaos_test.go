// Package chaos hurts the whole shop in every way it knows, all at the same time, and then looks whether
// anything happened twice, was lost or was told wrongly. It starts the built program, two replicas of it,
// with a Postgres, a Redis and a payment provider, and a bad link between each two; and then one with a
// SQLite file. What came out of them is kept in this process, which nothing hurts. Nothing of the shop's
// code is used here.
//
//	go test ./e2e/chaos -args -chaos.time 10m -chaos.fsync -chaos.seed 7
//
// The schedule of the troubles and the wishes of every customer follow from the seed; what meets what
// does not, so the same seed makes the same storm and not the same shipwreck.
package chaos

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	length     = flag.Duration("chaos.time", 30*time.Second, "how long there is trouble")
	seedFlag   = flag.Uint64("chaos.seed", 0, "of schedule and customers; 0 takes one by chance")
	fsync      = flag.Bool("chaos.fsync", false, "let Postgres write to the disk before it answers, as in production")
	reportFlag = flag.String("chaos.report", "", "file for the report as JSON")
)

// binary is the built shop.
var binary string

// customers buy at the same time.
const customers = 24

func TestNothingIsDoneTwiceOrLostWhateverHappens(t *testing.T) {
	weather(t, *length, newWorld, *reportFlag)
}

// SQLite has one process, no Redis and nobody else to hurt: half the time is enough.
func TestNothingIsDoneTwiceOrLostOnSQLite(t *testing.T) {
	if *onlyFlag != "" {
		t.Skip("the run is steered, and its troubles are the other storm's")
	}
	file := *reportFlag
	if file != "" {
		file = strings.TrimSuffix(file, ".json") + "-sqlite.json"
	}
	weather(t, *length/2, newSmallWorld, file)
}

// asked skips what takes long or needs much, unless somebody wants it.
func asked(t *testing.T) {
	t.Helper()
	wanted := os.Getenv("EENMAAL_TEST_ALL") != ""
	flag.Visit(func(f *flag.Flag) { wanted = wanted || strings.HasPrefix(f.Name, "chaos.") })
	switch {
	case !supported:
		t.Skip("NOT TESTED: the harness knows how to freeze and kill processes on Linux only")
	case !wanted:
		t.Skip("NOT TESTED: it takes minutes; make test or make chaos")
	}
	if err := missing(); err != nil {
		t.Fatal(err)
	}
}

// weather makes a storm of some length over a new world, and judges what is left.
func weather(t *testing.T, length time.Duration, create func(*testing.T, string) *world, file string) {
	asked(t)
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	dir := evidence(t, seed)
	build(t, dir)
	w := create(t, dir)
	defer w.history.flush()
	for i := range w.streams {
		w.streams[i].all = chosen(w.streams[i].all)
	}

	took := w.storm(seed, length)
	for _, then := range []func(){w.heal, func() { w.early(t) }, w.customersEnd.Wait, func() { w.settle(t) }, func() { w.replayAll(t) }, func() { w.check(t, dir) }} {
		if !w.caught() {
			then()
		}
	}

	r, err := w.report(seed, took)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("chaos:\n%s", r)
	if file != "" {
		if err := r.write(file); err != nil {
			t.Error(err)
		}
	}
	for i, v := range r.Violations {
		t.Errorf("%s: %s", v.Invariant, v.Story)
		if i < 5 { // the rest is in the history
			t.Logf("what was said about it:\n%s", w.history.about(v.Story))
		}
	}
	for _, why := range r.Void {
		t.Errorf("the run is void: %s", why)
	}
}

// tardy is how much longer a storm goes on than it should, until every nemesis has had an effect: on a
// slow machine each of them takes longer.
const tardy = time.Minute

// storm lets customers buy while there is trouble. It goes on until every nemesis has had an effect, but
// not for ever. Customers go on with what they have begun.
func (w *world) storm(seed uint64, length time.Duration) (took time.Duration) {
	begin := time.Now()
	open, closing := context.WithCancel(context.Background())
	for i := range uint64(customers) {
		c := &customer{world: w, number: int(i), rng: rand.New(rand.NewPCG(seed, 100+i))}
		w.customersEnd.Go(func() {
			for open.Err() == nil {
				c.buys()
			}
		})
	}
	stormy, calm := context.WithCancel(context.Background())
	var storm sync.WaitGroup
	storm.Go(func() { w.trouble(stormy, seed) })
	for _, r := range w.replicas {
		storm.Go(func() { w.listen(stormy, r) })
	}
	missed := func() bool { // the replays come in the end
		return slices.ContainsFunc(w.unfired(), func(name string) bool { return name != replayed && name != replayedPoisoned })
	}
	for tick := 1; !w.caught() && (time.Since(begin) < length || missed() && time.Since(begin) < length+tardy); tick++ {
		time.Sleep(100 * time.Millisecond)
		if *catchFlag != "" && tick%10 == 0 {
			w.checkAlways()
		}
	}
	calm()
	storm.Wait()
	closing() // not before: those who are in the middle of it now are the ones to recover
	return time.Since(begin)
}

// evidence is the folder of everything a run leaves behind. It is kept when the test fails.
func evidence(t *testing.T, seed uint64) string {
	t.Helper()
	dir, err := os.MkdirTemp("", fmt.Sprintf("eenmaal-chaos-%d-", seed))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // Postgres' account passes through
		t.Fatal(err)
	}
	t.Logf("seed %d", seed)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d; schedule, history, logs and, in disk.img, the data are in %s", seed, dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func build(t *testing.T, dir string) {
	t.Helper()
	if binary = *binaryFlag; binary != "" {
		return
	}
	binary = filepath.Join(dir, "shop")
	cmd := exec.Command("go", "build", "-tags", "nomsgpack,failpoint", "-o", binary, "../../cmd/shop")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the shop: %v\n%s", err, out)
	}
}
