package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// linesPerReplay makes an answer of about 1 KB, the size that the bare handler reads.
const linesPerReplay = 7

// repeated is one order that was placed, and what it was answered.
type repeated struct {
	request []byte
	answer  []byte
}

// replay compares repeats of finished orders, answered from memory, Redis or Postgres, with a bare
// handler that reads 1 KB from Redis. The clients say that they repeat, as clients do.
func (b *bench) replay() error {
	g, err := b.postgresGround("replay")
	if err != nil {
		return err
	}
	defer g.close()
	var all children
	defer all.stop()
	servers := map[string]*child{}
	base := slices.Clip(append(g.database(), "-provider", noProvider)) // so that appending to it copies
	for name, args := range map[string][]string{
		"memory":   append(base, "-redis", b.services.redis.URL),
		"Redis":    append(base, "-redis", b.services.redis.URL, "-cache", "-1"),
		"Postgres": append(base, "-cache", "-1"),
	} {
		if servers[name], err = all.add(b.spawn("shop", args...)); err != nil {
			return err
		}
	}
	bare, err := all.add(b.spawn("bare", "-redis", b.services.redis.URL))
	if err != nil {
		return err
	}
	before, err := b.redisSize()
	if err != nil {
		return err
	}
	orders, err := b.placeOrders(servers["memory"].address, replayed)
	if err != nil {
		return err
	}
	if err := g.count(b.ctx, replayed); err != nil {
		return err
	}
	if err := b.filled(before + replayed); err != nil {
		return err
	}
	for _, c := range []int{1, 8, 32} {
		if err := b.replayAt(c, servers, bare, orders); err != nil {
			return err
		}
		if err := g.count(b.ctx, 0); err != nil {
			return err
		}
	}
	return nil
}

// placeOrders places n orders and gives their repeats.
func (b *bench) placeOrders(address string, n int) ([]repeated, error) {
	c, err := dial(b.ctx, address, nil, nil)
	if err != nil {
		return nil, err
	}
	defer c.close()
	list := make([]repeated, n)
	for i := range list {
		key, body, who := newKey(), orderBody(someSKUs(linesPerReplay)), i%consumers
		got, err := c.exchange(post("/v1/orders", key, body, who, false))
		if err == nil {
			err = expect(201, false)(got)
		}
		if err != nil {
			return nil, err
		}
		list[i] = repeated{post("/v1/orders", key, body, who, true), bytes.Clone(got.body)}
	}
	return list, nil
}

var errNotFilled = errors.New("finished answers were not copied to Redis")

// filled waits until Redis holds n entries: answers are copied after they were sent.
func (b *bench) filled(n int64) error {
	for range 300 {
		if have, err := b.redisSize(); err != nil || have >= n {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errNotFilled
}

func (b *bench) redisSize() (int64, error) {
	options, err := redis.ParseURL(b.services.redis.URL)
	if err != nil {
		return 0, err
	}
	client := redis.NewClient(options)
	defer client.Close()
	return client.DBSize(b.ctx).Result()
}

func (b *bench) replayAt(c int, servers map[string]*child, bare *child, orders []repeated) error {
	contenders := []contender{b.calling("bare", bare, c, func() []byte { return get("/" + bareName(rand.IntN(replayed))) }, expect(200, false))}
	for name, server := range servers {
		contenders = append(contenders, b.repeating(name, server, c, orders))
	}
	results, err := b.compare(contenders...)
	if err != nil {
		return err
	}
	for _, name := range []string{"memory", "Redis", "Postgres"} {
		want := map[string]float64{"memory": 1.5, "Redis": 0.85, "Postgres": 0.55}[name]
		b.report.add(row{Suite: "replay", What: "from " + name + " / gin + Redis GET", Clients: c,
			Value: ratio(results[name], results["bare"], slice.perSecond), Goal: atLeast(want),
			Ours: summary(results[name]), Theirs: summary(results["bare"])})
	}
	return nil
}

// repeating is a contender that repeats orders and compares every answer with the first one.
func (b *bench) repeating(name string, server *child, c int, orders []repeated) contender {
	return contender{name, func(d time.Duration) (slice, error) {
		return b.measure(server.pid, c, d, func(int) (worker, error) {
			var current repeated
			next := func() []byte { current = orders[rand.IntN(len(orders))]; return current.request }
			return dial(b.ctx, server.address, next, func(got answer) error {
				if !bytes.Equal(got.body, current.answer) {
					return fmt.Errorf("%w: the repeat is another answer: %.200s", errWitness, got.body)
				}
				return expect(201, true)(got)
			})
		})
	}}
}
