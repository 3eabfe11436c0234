package main

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
)

// A storm is one order sent by so many at one moment, over two replicas that share a database. Lanes
// are storms that rage side by side.
const (
	stormClients = 4
	stormLanes   = 4
)

// storms counts what duplicates make: two replicas get each key several times at once.
func (b *bench) storms() error {
	g, err := b.postgresGround("storm")
	if err != nil {
		return err
	}
	defer g.close()
	var all children
	defer all.stop()
	var replicas []*child
	for range 2 {
		shop, err := all.add(b.spawn("shop", append(g.database(), "-redis", b.services.redis.URL, "-provider", noProvider)...))
		if err != nil {
			return err
		}
		replicas = append(replicas, shop)
	}
	errs := make([]error, stormLanes)
	var lanes sync.WaitGroup
	for i := range errs {
		lanes.Go(func() { errs[i] = b.stormLane(replicas, b.plan.storms/stormLanes) })
	}
	lanes.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	storms := b.plan.storms / stormLanes * stormLanes
	if err := g.count(b.ctx, storms); err != nil {
		return err
	}
	now, err := g.look(b.ctx)
	if err != nil {
		return err
	}
	b.report.add(row{Suite: "storm", What: fmt.Sprintf("orders per key, %d keys sent %d times at once to two replicas", storms, stormClients),
		Clients: stormLanes * stormClients, Value: tripleOf([]float64{float64(now.orders) / float64(storms)}), Goal: exactly(1)})
	return nil
}

func (b *bench) stormLane(replicas []*child, storms int) error {
	var clients []*client
	for i := range stormClients {
		c, err := dial(b.ctx, replicas[i%len(replicas)].address, nil, nil)
		if err != nil {
			return err
		}
		defer c.close()
		clients = append(clients, c)
	}
	for range storms {
		if err := storm(clients); err != nil {
			return err
		}
	}
	return b.ctx.Err()
}

// storm expects the same answer for all, and one that made it.
func storm(clients []*client) error {
	request := newOrder()
	answers, errs := make([]answer, len(clients)), make([]error, len(clients))
	var all sync.WaitGroup
	for i, c := range clients {
		all.Go(func() { answers[i], errs[i] = c.exchange(request) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	first := 0
	for _, got := range answers {
		if got.status != 201 || !bytes.Equal(got.body, answers[0].body) {
			return fmt.Errorf("%w: in a storm: %d %.200s", errWitness, got.status, got.body)
		}
		if !got.replayed {
			first++
		}
	}
	if first != 1 {
		return fmt.Errorf("%w: %d of %d answers say that they ordered", errWitness, first, len(clients))
	}
	return nil
}
