package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// Enough articles and consumers that nothing is hot, and so much stock that nothing sells out.
const (
	articles  = 10_000
	stockEach = 1_000_000_000
	consumers = 10
)

// ground is a database that is ready for orders, with a witness that looks at it from outside.
type ground struct {
	url, dir string // of Postgres, or the folder of SQLite
	witness  *sql.DB
	keyless  bool  // the shop on it keeps no keys in the database
	last     tally // when it was counted last
}

// tally is what the rows say.
type tally struct{ orders, keys, stock, sold int }

// postgresGround makes a fresh database in the cluster.
func (b *bench) postgresGround(name string) (*ground, error) {
	url, err := b.services.newDatabase(b.ctx, name)
	if err != nil {
		return nil, err
	}
	g := &ground{url: url}
	return g, g.prepare(b.ctx, "pgx", url)
}

// sqliteGround makes a fresh SQLite file.
func (b *bench) sqliteGround(name string) (*ground, error) {
	g := &ground{dir: filepath.Join(b.dir, name)}
	return g, g.prepare(b.ctx, "sqlite", sqliteAddress(g.dir))
}

// sqliteAddress opens the file as the shop does: WAL, FULL, immediate transactions.
func sqliteAddress(dir string) string {
	return "file:" + filepath.Join(dir, "eenmaal.db") + "?_txlock=immediate&_timezone=UTC" +
		"&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)"
}

func (g *ground) prepare(ctx context.Context, driver, address string) error {
	db, err := store.Open(ctx, store.Config{URL: g.url, Dir: g.dir})
	if err != nil {
		return err
	}
	defer db.Close()
	products := make([]domain.Product, articles)
	for i := range products {
		products[i] = domain.Product{SKU: skuOf(i), Name: fmt.Sprintf("Article number %d", i), Price: domain.EUR(int64(100 + i)), Stock: stockEach}
	}
	secrets := map[string]string{}
	for i := range consumers {
		secrets[fmt.Sprintf("consumer %d", i)] = secretOf(i)
	}
	if err := db.Seed(ctx, products, secrets); err != nil {
		return fmt.Errorf("fill the catalogue: %w", err)
	}
	if g.witness, err = sql.Open(driver, address); err != nil {
		return err
	}
	if err := g.settle(ctx); err != nil {
		return err
	}
	g.last, err = g.look(ctx)
	return err
}

// settle does now what Postgres would do by itself in the middle of the first slices.
func (g *ground) settle(ctx context.Context) error {
	if g.url == "" {
		return nil
	}
	for _, statement := range []string{"VACUUM ANALYZE", "CHECKPOINT"} {
		if _, err := g.witness.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func skuOf(i int) string    { return fmt.Sprintf("article-%05d", i) }
func secretOf(i int) string { return fmt.Sprintf("bench-secret-%03d", i) }

// database is how a child is told of the ground.
func (g *ground) database() []string { return []string{"-database", g.url, "-dir", g.dir} }

func (g *ground) close() { _ = g.witness.Close() }

// look counts rows from outside the code under test.
func (g *ground) look(ctx context.Context) (t tally, err error) {
	err = g.witness.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM orders),
		(SELECT count(*) FROM idempotency_keys k JOIN endpoints e ON e.id = k.endpoint_id
			WHERE e.pattern = 'POST /v1/orders' AND k.state = 3 AND k.status = 201),
		(SELECT CAST(sum(stock) AS bigint) FROM products),
		(SELECT CAST(coalesce(sum(quantity), 0) AS bigint) FROM order_lines)`).Scan(&t.orders, &t.keys, &t.stock, &t.sold)
	return t, err
}

var errWitness = errors.New("the rows do not agree with the answers")

// count checks after a slice that the rows agree with what was answered: so many new orders, each
// with one finished key, and everything that left the stock is in an order.
func (g *ground) count(ctx context.Context, added int) error {
	now, err := g.look(ctx)
	if err != nil {
		return err
	}
	orders, keys := now.orders-g.last.orders, now.keys-g.last.keys
	sold, gone := now.sold-g.last.sold, g.last.stock-now.stock
	if orders != added || sold != gone || keys != added && !g.keyless {
		return fmt.Errorf("%w: %d answers; %d new orders, %d newly finished keys, %d sold, %d gone from the stock",
			errWitness, added, orders, keys, sold, gone)
	}
	g.last = now
	return nil
}

// counted lets a contender place orders on the ground and counts them after every slice.
func (b *bench) counted(g *ground, c contender) contender {
	run := c.run
	c.run = func(d time.Duration) (slice, error) {
		s, err := run(d)
		if err == nil {
			err = g.count(b.ctx, s.ops)
		}
		return s, err
	}
	return c
}

// newKey is a key as a client makes it.
func newKey() string { return uuid.Must(uuid.NewV7()).String() }

// someSKUs draws different articles.
func someSKUs(n int) []string {
	list, first := make([]string, n), rand.IntN(articles)
	for i := range list {
		list[i] = skuOf((first + 997*i) % articles)
	}
	return list
}
