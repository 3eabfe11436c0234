package main

import (
	"os"
	"time"
)

// noProvider is an address that nobody calls: no suite that is given it pays.
const noProvider = "http://127.0.0.1:9"

// orders compares new orders over HTTP with the same SQL from a bare client, and with what is often
// written instead: a Redis middleware around ten round trips.
func (b *bench) orders() error {
	g, err := b.postgresGround("orders")
	if err != nil {
		return err
	}
	defer g.close()
	var all children
	defer all.stop()
	shop, err := all.add(b.spawn("shop", append(g.database(), "-redis", b.services.redis.URL, "-provider", noProvider)...))
	if err != nil {
		return err
	}
	sample, err := takeSample(b.ctx, g, shop.address)
	if err != nil {
		return err
	}
	floor, err := newPipeline(b.ctx, g.url, sample)
	if err != nil {
		return err
	}
	defer floor.pool.Close()
	textbook, done, err := b.textbook(&all)
	if err != nil {
		return err
	}
	defer done()
	for _, c := range []int{1, 8, 32} {
		contenders := []contender{
			b.counted(g, b.calling("shop", shop, c, newOrder, expect(201, false))),
			b.counted(g, b.bare("floor", c, floor)),
		}
		if c == 8 {
			contenders = append(contenders, textbook(c))
		}
		if err := b.reportOrders(c, contenders); err != nil {
			return err
		}
	}
	return nil
}

// calling is a contender that is a server: c connections send it requests.
func (b *bench) calling(name string, server *child, c int, next func() []byte, check func(answer) error) contender {
	return contender{name, func(d time.Duration) (slice, error) {
		return b.measure(server.pid, c, d, func(int) (worker, error) {
			return dial(b.ctx, server.address, next, check)
		})
	}}
}

// bare is a contender inside this process: one worker, shared by c goroutines.
func (b *bench) bare(name string, c int, w worker) contender {
	return contender{name, func(d time.Duration) (slice, error) {
		return b.measure(os.Getpid(), c, d, func(int) (worker, error) { return w, nil })
	}}
}

func (b *bench) reportOrders(c int, contenders []contender) error {
	results, err := b.compare(contenders...)
	if err != nil {
		return err
	}
	shop, floor, textbook := results["shop"], results["floor"], results["textbook"]
	b.report.add(row{Suite: "orders", What: "new order / bare pgx pipeline", Clients: c, Value: ratio(shop, floor, slice.perSecond),
		Goal: atLeast(0.45), Ours: summary(shop), Theirs: summary(floor)})
	if floor[0].cpuPerOp() > 0 { // it can be read on this machine
		b.report.add(row{Suite: "orders", What: "CPU of a new order / of the pipeline", Clients: c, Value: ratio(shop, floor, slice.cpuPerOp),
			Goal: atMost(1.6)})
	}
	if textbook != nil {
		b.report.add(row{Suite: "orders", What: "new order / textbook (SETNX, gorm, 10 trips)", Clients: c,
			Value: ratio(shop, textbook, slice.perSecond), Goal: none, Ours: summary(shop), Theirs: summary(textbook)})
	}
	return nil
}

// textbook starts the usual way of doing it, on a database of its own because it keeps no keys there.
func (b *bench) textbook(all *children) (func(c int) contender, func(), error) {
	g, err := b.postgresGround("textbook")
	if err != nil {
		return nil, nil, err
	}
	server, err := all.add(b.spawn("textbook", append(g.database(), "-redis", b.services.redis.URL)...))
	if err != nil {
		g.close()
		return nil, nil, err
	}
	g.keyless = true
	return func(c int) contender {
		return b.counted(g, b.calling("textbook", server, c, newOrder, expect(201, false)))
	}, g.close, nil
}
