package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Fairness: so many hammer one key while so few place orders with keys of their own.
const (
	hammerers = 50
	others    = 4
)

// fairness compares how long orders take while nothing else happens with how long they take while
// one key of a slow payment is hammered.
func (b *bench) fairness() error {
	g, err := b.postgresGround("fairness")
	if err != nil {
		return err
	}
	defer g.close()
	var all children
	defer all.stop()
	provider, err := all.add(b.spawn("provider", "-dir", b.dir, "-slow", (b.slice / 2).String()))
	if err != nil {
		return err
	}
	shop, err := all.add(b.spawn("shop", append(g.database(), "-provider", provider.url())...))
	if err != nil {
		return err
	}
	quiet := b.calling("quiet", shop, others, newOrder, expect(201, false))
	busy := contender{"busy", func(d time.Duration) (slice, error) {
		h, err := startHammer(b.ctx, shop.address)
		if err != nil {
			return slice{}, err
		}
		s, err := quiet.run(d)
		waves, hammerErr := h.stop()
		if err = errors.Join(err, hammerErr); err != nil {
			return s, err
		}
		return s, g.count(b.ctx, s.ops+waves)
	}}
	results, err := b.compare(b.counted(g, quiet), busy)
	if err != nil {
		return err
	}
	b.report.add(row{Suite: "fairness", What: "p50 of others while one key is hammered by 50 / quiet", Clients: others,
		Value: ratio(results["busy"], results["quiet"], slice.p50), Goal: atMost(1.2),
		Ours: summary(results["busy"]), Theirs: summary(results["quiet"])})
	return nil
}

// hammer sends waves: an order, and then its payment fifty times at once with one key.
type hammer struct {
	clients []*client
	ended   chan struct{}
	done    atomic.Bool
	waves   int
	err     error
}

func startHammer(ctx context.Context, address string) (*hammer, error) {
	h := &hammer{ended: make(chan struct{})}
	for range hammerers {
		c, err := dial(ctx, address, nil, nil)
		if err != nil {
			return nil, err
		}
		h.clients = append(h.clients, c)
	}
	go func() {
		defer close(h.ended)
		for h.err == nil && !h.done.Load() {
			if h.err = h.wave(); h.err == nil {
				h.waves++
			}
		}
	}()
	return h, nil
}

// stop lets the last wave end and tells how many there were.
func (h *hammer) stop() (waves int, err error) {
	h.done.Store(true)
	<-h.ended
	for _, c := range h.clients {
		c.close()
	}
	return h.waves, h.err
}

// wave expects one payment and the same answer for all.
func (h *hammer) wave() error {
	body, err := payBody(h.clients[0], 0, "tok_slow")
	if err != nil {
		return err
	}
	request := post("/v1/payments", newKey(), body, 0, false)
	answers, errs := make([]answer, hammerers), make([]error, hammerers)
	var all sync.WaitGroup
	for i, c := range h.clients {
		all.Go(func() { answers[i], errs[i] = c.exchange(request) })
	}
	all.Wait()
	first := 0
	for _, got := range answers {
		if got.status != 201 || !bytes.Equal(got.body, answers[0].body) {
			return errors.Join(append(errs, fmt.Errorf("%w: hammered: %d %.200s", errWitness, got.status, got.body))...)
		}
		if !got.replayed {
			first++
		}
	}
	if first != 1 {
		return fmt.Errorf("%w: %d of %d answers say that they paid", errWitness, first, hammerers)
	}
	return nil
}

// payBody places an order and gives the body that pays it.
func payBody(c *client, consumer int, token string) (string, error) {
	got, err := c.exchange(post("/v1/orders", newKey(), orderBody(someSKUs(1)), consumer, false))
	if err == nil {
		err = expect(201, false)(got)
	}
	var order struct{ ID string }
	if err == nil {
		err = json.Unmarshal(got.body, &order)
	}
	return `{"order_id":"` + order.ID + `","method":{"type":"card","token":"` + token + `"}}`, err
}
