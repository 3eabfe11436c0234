package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// statement is one piece of SQL with its values.
type statement struct {
	query string
	args  []any
}

// sample is an order that the shop has made, taken from the tables. The floor writes copies of it, so
// that it stores the same bytes as the shop by the same statements, whatever columns the shop has.
type sample struct {
	postgres   bool
	key, order statement // insert every column, with the sample's values
	columns    map[string]int
	queries    [2]string // insert a line, take from the stock
}

// takeSample makes one order through the shop and reads its rows back.
func takeSample(ctx context.Context, g *ground, address string) (*sample, error) {
	c, err := dial(ctx, address, newOrder, expect(201, false))
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.do(); err != nil {
		return nil, fmt.Errorf("the order to copy: %w", err)
	}
	if err := g.count(ctx, 1); err != nil {
		return nil, err
	}
	s := &sample{postgres: g.url != "", columns: map[string]int{}}
	if s.key, err = s.row(ctx, g.witness, "idempotency_keys"); err != nil {
		return nil, err
	}
	if s.order, err = s.row(ctx, g.witness, "orders"); err != nil {
		return nil, err
	}
	s.queries = [2]string{
		s.placeholders(`INSERT INTO order_lines (order_id, position, sku, name, quantity, unit_price)
			VALUES (?, ?, ?, ?, ?, (SELECT price FROM products WHERE sku = ? AND price = ?))`),
		s.placeholders(`UPDATE products SET stock = stock - ? WHERE sku = ?`),
	}
	return s, nil
}

// row reads the one row of a table and gives the statement that writes it again.
func (s *sample) row(ctx context.Context, db *sql.DB, table string) (statement, error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 1")
	if err != nil {
		return statement{}, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		return statement{}, errors.Join(fmt.Errorf("%s has no row to copy", table), err, rows.Err())
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
		s.columns[table+"."+names[i]] = i
	}
	if err := rows.Scan(into...); err != nil {
		return statement{}, err
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")
	return statement{s.placeholders("INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (" + marks + ")"), values}, rows.Err()
}

func (s *sample) placeholders(query string) string {
	for n := 1; s.postgres && strings.Contains(query, "?"); n++ {
		query = strings.Replace(query, "?", fmt.Sprintf("$%d", n), 1)
	}
	return query
}

// copied gives a row's statement with some values of its own.
func (s *sample) copied(table string, row statement, own map[string]any) statement {
	args := slices.Clone(row.args)
	for name, value := range own {
		args[s.columns[table+"."+name]] = value
	}
	return statement{row.query, args}
}

// statements of one new order: key with its answer, order, lines, and the stock last.
func (s *sample) statements() []statement {
	key, id, skus := newKey(), newKey(), someSKUs(linesPerOrder)
	number := "EM-" + strings.ToUpper(uuid.NewString()[:13])
	list := []statement{
		s.copied("idempotency_keys", s.key, map[string]any{"key": key}),
		s.copied("orders", s.order, map[string]any{"id": id, "key": key, "number": number}),
	}
	for i, sku := range skus {
		price := priceOf(sku)
		list = append(list, statement{s.queries[0], []any{id, i, sku, "Article number 12345", int64(1), sku, price}})
	}
	slices.Sort(skus)
	for _, sku := range skus {
		list = append(list, statement{s.queries[1], []any{int64(1), sku}})
	}
	return list
}

func priceOf(sku string) int64 {
	var i int64
	_, _ = fmt.Sscanf(sku, "article-%d", &i) // made by skuOf
	return 100 + i
}

// pipeline is the floor on Postgres: a bare pgx client that sends all statements of an order in one
// round trip and one implicit transaction.
type pipeline struct {
	ctx    context.Context
	pool   *pgxpool.Pool
	sample *sample
}

// poolSize is that of the shop.
const poolSize = 16

func newPipeline(ctx context.Context, url string, s *sample) (*pipeline, error) {
	conf, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	conf.MaxConns, conf.MinConns = poolSize, poolSize
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	return &pipeline{ctx, pool, s}, err
}

func (p *pipeline) close() {}

func (p *pipeline) do() error {
	batch := &pgx.Batch{}
	for _, s := range p.sample.statements() {
		batch.Queue(s.query, s.args...)
	}
	ctx, cancel := context.WithTimeout(p.ctx, exchangeTimeout)
	defer cancel()
	return p.pool.SendBatch(ctx, batch).Close()
}

// loop is the floor on SQLite: database/sql in a loop, one transaction per order.
type loop struct {
	ctx    context.Context
	db     *sql.DB
	sample *sample
}

func (l *loop) close() {}

func (l *loop) do() error {
	tx, err := l.db.BeginTx(l.ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo after the commit
	for _, s := range l.sample.statements() {
		if _, err := tx.ExecContext(l.ctx, s.query, s.args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
