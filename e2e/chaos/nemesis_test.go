package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"
)

// nemesis is one way to hurt the shop. It gives how often it had an effect, and undoes it.
type nemesis struct {
	name string
	hurt func(w *world, r *replica, d time.Duration) (fired int)
}

// failpoints are where a replica dies by its own hand: between what it has done and what it would note
// or say of it.
var failpoints = []string{"before_commit", "after_commit", "after_claim", "after_reserve", "before_charge", "after_charge",
	"before_finish_commit", "after_finish", "before_write", "after_mail", "after_webhook"}

// ofReplicas hurt one of the replicas. It dies by its own hand at these points.
func ofReplicas(points []string) []nemesis {
	list := []nemesis{
		{"kill replica", func(_ *world, r *replica, _ time.Duration) int { r.kill(""); return 1 }},
		{"freeze replica for 1.3 leases", func(_ *world, r *replica, _ time.Duration) int {
			process, _ := r.life()
			freeze(process)
			time.Sleep(lease * 13 / 10)
			thaw(process)
			return 1
		}},
		{"rolling restart", rollingRestart},
		{"pause after_charge for longer than the lease", pauseAfterCharge},
	}
	for _, point := range points {
		list = append(list, nemesis{"kill at " + point, func(_ *world, r *replica, _ time.Duration) int { return killAt(r, point) }})
	}
	return list
}

// killAt lets the next process die at a failpoint, and not at the first one: with several requests on
// their way, one of them is hit in the middle of others.
func killAt(r *replica, point string) int {
	r.kill("kill:" + point + ":0.5")
	time.Sleep(2 * restartPause) // the next one has started
	if r.awaitDeath(4*time.Second) == point {
		return 1
	}
	r.kill("")
	return 0
}

// pauseAfterCharge lets every payment of a process come back from the provider when its lease has ended
// and somebody else has gone on with it.
func pauseAfterCharge(_ *world, r *replica, _ time.Duration) int {
	r.kill(fmt.Sprintf("sleep:after_charge:%s:1", lease*13/10))
	time.Sleep(2 * restartPause)
	r.awaitDeath(2 * lease)
	trace := r.traced()
	r.kill("")
	return strings.Count(trace, "after_charge\n")
}

func rollingRestart(w *world, _ *replica, _ time.Duration) int {
	for _, r := range w.replicas {
		if !r.restart(10 * time.Second) {
			return 0
		}
	}
	return 1
}

func (w *world) again(s *server) int {
	if err := s.start(); err != nil {
		w.violation("harness", "%v", err)
	}
	return 1
}

// ofLinks make trouble on one of the links. The fronts of both replicas are one in the schedule.
func ofLinks(names ...string) (list []nemesis) {
	for _, name := range names {
		for _, what := range troubles {
			list = append(list, nemesis{name + ": " + string(what), func(w *world, _ *replica, d time.Duration) (met int) {
				var mu sync.Mutex
				var all sync.WaitGroup
				for _, l := range w.links {
					if strings.HasPrefix(l.name, name) {
						all.Go(func() {
							n := l.trouble(what, d)
							mu.Lock()
							defer mu.Unlock()
							met += n
						})
					}
				}
				all.Wait()
				return met
			}})
		}
	}
	return list
}

// Nemeses that fire by themselves: one is noticed by its numbers, the replays come in the end.
const (
	completerToo     = "the completer beside the client and the webhook"
	replayed         = "replay with an empty cache"
	replayedPoisoned = "replay with a spoilt cache"
)

// ofClients are the nemeses that customers bring along.
func ofClients() (names []string) {
	names = []string{"twins on one key", "triplets on one key", "another payload under the key", "another consumer with the key",
		"two payments of one order", "another card after a refusal", completerToo, replayed}
	for _, t := range tokens[2:] {
		names = append(names, "provider: "+t.name)
	}
	for _, button := range buttons[1:] {
		names = append(names, "webhook: "+button)
	}
	return names
}

// step is one entry of the schedule.
type step struct {
	nemesis
	pause time.Duration // before it
	last  time.Duration // how long it lasts, where that can be chosen
}

// schedule deals out the nemeses of one kind, round after round, each round in another order. Several may
// draw from it.
type schedule struct {
	mu    sync.Mutex
	rng   *rand.Rand
	pause time.Duration // on average
	all   []nemesis
	left  []int
}

func newSchedule(seed, stream uint64, pause time.Duration, all []nemesis) *schedule {
	return &schedule{rng: rand.New(rand.NewPCG(seed, stream)), pause: pause, all: all}
}

func (s *schedule) next() step {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) == 0 {
		s.left = s.rng.Perm(len(s.all))
	}
	one := s.all[s.left[0]]
	s.left = s.left[1:]
	between := func(least, most time.Duration) time.Duration {
		return least + time.Duration(s.rng.Int64N(int64(most-least)))
	}
	return step{one, between(s.pause/2, s.pause*3/2), between(150*time.Millisecond, 600*time.Millisecond)}
}

// diary is what was done when, and how often it had an effect.
type diary struct {
	mu   sync.Mutex
	file *os.File
}

func (d *diary) note(begin, end int64, s step, r *replica, fired int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	where := ""
	if r != nil {
		where = " " + r.name
	}
	fmt.Fprintf(d.file, "%8.3f %8.3f %3d %s%s\n", time.Duration(begin).Seconds(), time.Duration(end).Seconds(), fired, s.name, where)
}

// stream is a schedule that goes on beside the others, for each replica when it hurts those.
type stream struct {
	pause    time.Duration // on average
	beside   int           // how many draw from it
	replicas bool
	all      []nemesis
}

// trouble hurts the world until ctx ends: each stream on its own, all at the same time.
func (w *world) trouble(ctx context.Context, seed uint64) {
	var all sync.WaitGroup
	run := func(s *schedule, r *replica) {
		all.Go(func() {
			for len(s.all) > 0 && ctx.Err() == nil {
				next := s.next()
				time.Sleep(next.pause)
				begin := w.history.now()
				n := next.hurt(w, r, next.last)
				w.fire(next.name, n)
				w.diary.note(begin, w.history.now(), next, r, n)
			}
		})
	}
	for i, one := range w.streams {
		s := newSchedule(seed, uint64(i+1), one.pause, one.all)
		if one.replicas {
			for _, r := range w.replicas {
				run(s, r)
			}
		}
		for range one.beside {
			run(s, nil)
		}
	}
	all.Wait()
}

// unfired are the nemeses that have had no effect yet.
func (w *world) unfired() (list []string) {
	fired := w.firings()
	for _, name := range w.nemeses() {
		if fired[name] == 0 {
			list = append(list, name)
		}
	}
	return list
}

// nemeses are the names of all that hurt this world.
func (w *world) nemeses() (names []string) {
	for _, s := range w.streams {
		for _, n := range s.all {
			names = append(names, n.name)
		}
	}
	names = append(names, ofClients()...)
	if w.cache != nil {
		names = append(names, replayedPoisoned)
	}
	return names
}
