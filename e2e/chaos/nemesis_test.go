package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
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

// ofReplicas hurt one of the replicas.
func ofReplicas() []nemesis {
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
	for _, point := range failpoints {
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

// ofServers hurt Postgres and Redis.
func ofServers() []nemesis {
	return []nemesis{
		{"freeze Postgres", func(w *world, _ *replica, d time.Duration) int { w.postgres.frozen(d); return 1 }},
		{"crash Postgres", func(w *world, _ *replica, d time.Duration) int {
			w.postgres.kill()
			time.Sleep(min(d, 300*time.Millisecond))
			return w.again(w.postgres)
		}},
		{"end all sessions of Postgres", func(w *world, _ *replica, _ time.Duration) int {
			var n int
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			_ = w.sql.QueryRowContext(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'eenmaal'").Scan(&n)
			return n
		}},
		{"freeze Redis", func(w *world, _ *replica, d time.Duration) int { w.redis.frozen(d); return 1 }},
		{"kill Redis", func(w *world, _ *replica, d time.Duration) int {
			w.redis.kill()
			time.Sleep(d)
			return w.again(w.redis)
		}},
		{"flush Redis", func(w *world, _ *replica, _ time.Duration) int {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			if w.cache.FlushAll(ctx).Err() != nil {
				return 0
			}
			return 1
		}},
	}
}

func (w *world) again(s *server) int {
	if err := s.start(); err != nil {
		w.violation("harness", "%v", err)
	}
	return 1
}

// ofLinks make trouble on one of the links. The fronts of both replicas are one in the schedule.
func ofLinks() (list []nemesis) {
	for _, name := range []string{"client-app", "app-postgres", "app-redis", "app-provider", "provider-app"} {
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

// ofClients are the nemeses that customers bring along.
func ofClients() (names []string) {
	names = []string{"twins on one key", "triplets on one key", "another payload under the key", "another consumer with the key",
		"two payments of one order", "replay with an empty cache"}
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

// trouble hurts the world until ctx ends: each replica, the servers and the links on their own, all at
// the same time.
func (w *world) trouble(ctx context.Context, seed uint64) {
	replicas := newSchedule(seed, 1, 600*time.Millisecond, ofReplicas())
	servers := newSchedule(seed, 2, 1200*time.Millisecond, ofServers())
	links := newSchedule(seed, 3, 600*time.Millisecond, ofLinks())
	var all sync.WaitGroup
	run := func(s *schedule, r *replica) {
		all.Go(func() {
			for ctx.Err() == nil {
				next := s.next()
				time.Sleep(next.pause)
				w.fire(next.name, next.hurt(w, r, next.last))
			}
		})
	}
	for _, r := range w.replicas {
		run(replicas, r)
	}
	run(servers, nil)
	run(links, nil)
	run(links, nil) // two at a time
	all.Wait()
}

// unfired are the nemeses that have had no effect yet.
func (w *world) unfired(names []string) (list []string) {
	fired := w.firings()
	for _, name := range names {
		if fired[name] == 0 {
			list = append(list, name)
		}
	}
	return list
}

func nemeses() (names []string) {
	for _, all := range [][]nemesis{ofReplicas(), ofServers(), ofLinks()} {
		for _, n := range all {
			names = append(names, n.name)
		}
	}
	return append(names, ofClients()...)
}
