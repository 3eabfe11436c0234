package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// ledger is what Postgres has counted so far.
type ledger struct {
	writes int64 // transactions that wrote something
	syncs  int64 // of the write-ahead log
	bytes  int64 // of the write-ahead log
}

// readLedger waits until the shop's sessions are gone, because a session tells its counts when it
// ends. Transactions are counted by their numbers: one that only reads is given none.
func (g *ground) readLedger(ctx context.Context) (ledger, error) {
	var l ledger
	for range 500 {
		var open int
		err := g.witness.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'eenmaal'),
			pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_wal_insert_lsn() - '0/0',
			(SELECT wal_sync FROM pg_stat_wal)`).Scan(&open, &l.writes, &l.bytes, &l.syncs)
		if err != nil || open == 0 {
			return l, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return l, context.DeadlineExceeded
}

// autovacuum turns the cluster's own vacuuming on or off.
func (g *ground) autovacuum(ctx context.Context, to string) error {
	if _, err := g.witness.ExecContext(ctx, "ALTER SYSTEM SET autovacuum = "+to); err != nil {
		return err
	}
	_, err := g.witness.ExecContext(ctx, "SELECT pg_reload_conf()")
	return err
}

// commits counts what one order and one payment cost Postgres. How many fsyncs the orders of 32
// clients share depends on how slow the disk is, so the bare pipeline's are shown beside ours.
func (b *bench) commits() error {
	g, err := b.postgresGround("commits")
	if err != nil {
		return err
	}
	defer g.close()
	// Vacuuming writes too, whenever and wherever it likes.
	if err := g.autovacuum(b.ctx, "off"); err != nil {
		return err
	}
	defer func() { _ = g.autovacuum(b.ctx, "on") }() // the cluster is about to be thrown away
	provider, err := b.spawn("provider", "-dir", b.dir)
	if err != nil {
		return err
	}
	defer provider.stop()
	sample, err := b.sampleOf(g)
	if err != nil {
		return err
	}
	order := b.throughShop(g, provider, 32, func(address string) (worker, error) {
		return dial(b.ctx, address, newOrder, expect(201, false))
	})
	pay := b.throughShop(g, provider, 8, func(address string) (worker, error) {
		c, err := dial(b.ctx, address, nil, nil)
		return orderAndPay{c}, err
	})
	floor := func() (slice, error) { return b.throughPipeline(g, sample, 32) }
	costs := map[string][]cost{}
	for round := range b.rounds/2 + 2 {
		for _, side := range []struct {
			name string
			run  func() (slice, error)
		}{{"order", order}, {"payment", pay}, {"floor", floor}} {
			one, err := b.costOf(g, side.run)
			if err != nil {
				return fmt.Errorf("%s: %w", side.name, err)
			}
			if round > 0 { // the first one writes every page for the first time after a checkpoint
				costs[side.name] = append(costs[side.name], one)
			}
		}
	}
	b.reportCosts(costs)
	return nil
}

func (b *bench) reportCosts(costs map[string][]cost) {
	of := func(side string, value func(cost) float64) triple {
		var values []float64
		for _, c := range costs[side] {
			values = append(values, value(c))
		}
		return tripleOf(values)
	}
	syncs, kb := func(c cost) float64 { return c.syncs }, func(c cost) float64 { return c.kb }
	for _, r := range []row{
		{What: "commits per order", Clients: 32, Value: of("order", func(c cost) float64 { return c.writes }), Goal: exactly(1)},
		// Each payment came with an order, which has one commit of its own.
		{What: "commits per payment", Clients: 8, Value: of("payment", func(c cost) float64 { return c.writes - 1 }), Goal: exactly(2)},
		{What: "fsyncs of the log per order", Clients: 32, Value: of("order", syncs), Goal: atMost(0.15), Theirs: "bare pipeline: " + of("floor", syncs).String()},
		{What: "KB of the log per order", Clients: 32, Value: of("order", kb), Goal: atMost(2.8), Theirs: "bare pipeline: " + of("floor", kb).String()},
	} {
		r.Suite = "commits"
		b.report.add(r)
	}
}

// cost is what one operation cost Postgres: writing transactions, fsyncs and KB of the log.
type cost struct{ writes, syncs, kb float64 }

// costOf reads the ledger before and after a run that opens and closes its own connections.
func (b *bench) costOf(g *ground, run func() (slice, error)) (cost, error) {
	before, err := g.readLedger(b.ctx)
	if err != nil {
		return cost{}, err
	}
	s, err := run()
	if err != nil {
		return cost{}, err
	}
	after, err := g.readLedger(b.ctx)
	if err != nil {
		return cost{}, err
	}
	n := float64(s.ops)
	return cost{float64(after.writes-before.writes) / n, float64(after.syncs-before.syncs) / n, float64(after.bytes-before.bytes) / n / 1000},
		g.count(b.ctx, s.ops)
}

// sampleOf starts a shop only for an order to copy.
func (b *bench) sampleOf(g *ground) (*sample, error) {
	shop, err := b.spawn("shop", append(g.database(), "-provider", noProvider)...)
	if err != nil {
		return nil, err
	}
	defer shop.stop()
	return takeSample(b.ctx, g, shop.address)
}

// throughShop runs a shop for one slice.
func (b *bench) throughShop(g *ground, provider *child, c int, start func(address string) (worker, error)) func() (slice, error) {
	return func() (slice, error) {
		shop, err := b.spawn("shop", append(g.database(), "-provider", provider.url())...)
		if err != nil {
			return slice{}, err
		}
		defer shop.stop()
		return b.measure(shop.pid, c, b.slice, func(int) (worker, error) { return start(shop.address) })
	}
}

// throughPipeline runs the floor for one slice, under the shop's name so that the ledger waits for it.
func (b *bench) throughPipeline(g *ground, s *sample, c int) (slice, error) {
	floor, err := newPipeline(b.ctx, g.url+"&application_name=eenmaal", s)
	if err != nil {
		return slice{}, err
	}
	defer floor.pool.Close()
	return b.measure(os.Getpid(), c, b.slice, func(int) (worker, error) { return floor, nil })
}

// orderAndPay places an order and pays it.
type orderAndPay struct{ *client }

func (w orderAndPay) do() error {
	consumer := rand.IntN(consumers)
	body, err := payBody(w.client, consumer, "tok_ok")
	if err != nil {
		return err
	}
	got, err := w.exchange(post("/v1/payments", newKey(), body, consumer, false))
	if err != nil {
		return err
	}
	return expect(201, false)(got)
}
