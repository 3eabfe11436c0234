package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"example.com/eenmaal/domain/fault"
)

// Tx is the only way to write. Its methods read at once and queue their writes; Commit sends all
// queued writes as one transaction.
//
// What was read may have changed by then, so a decision is secured by the writes themselves: by a
// constraint of the table, or by a write that must find its row. A violated one undoes everything
// and gives the error that was queued with it.
//
// On Postgres the writes leave in one round trip, and without a transaction block when neither a
// job nor a must-find write is among them. On SQLite they run one by one under the write lock.
type Tx struct {
	db     *DB
	writes []write
	jobs   []any
	insert func(ctx context.Context, block *sql.Tx, jobs []any) error
	failed error
}

type write struct {
	query      string
	args       []any
	violations map[string]error // constraint name -> what its violation means
	missing    error            // when set, the write must change exactly one row
	changed    *int64           // when set, is told how many rows the write changed
}

// Begin makes an empty Tx. Nothing is open until Commit.
func (db *DB) Begin() *Tx { return &Tx{db: db} }

// Now is the database's clock of record.
func (tx *Tx) Now() time.Time { return tx.db.Now() }

func (tx *Tx) queue(query string, args ...any) *write {
	tx.writes = append(tx.writes, write{query: query, args: args})
	return &tx.writes[len(tx.writes)-1]
}

// queueFirst puts a write before all others, for the claim that must be decided first.
func (tx *Tx) queueFirst(query string, args ...any) *write {
	tx.writes = append([]write{{query: query, args: args}}, tx.writes...)
	return &tx.writes[0]
}

// or says what a violation of the named constraint means.
func (w *write) or(constraint string, meaning error) *write {
	if w.violations == nil {
		w.violations = map[string]error{}
	}
	w.violations[constraint] = meaning
	return w
}

// orMissing makes the write one that must change exactly one row.
func (w *write) orMissing(meaning error) *write {
	w.missing = meaning
	return w
}

// counting tells n how many rows the write changed.
func (w *write) counting(n *int64) *write {
	w.changed = n
	return w
}

// checked judges a write that the database has done by the number of rows that it changed.
func (w write) checked(rows int64) error {
	if w.changed != nil {
		*w.changed = rows
	}
	if w.missing != nil && rows != 1 {
		return w.missing
	}
	return nil
}

// Enqueue adds a job to the transaction: it runs after the commit, or never. insert puts all jobs of
// the transaction into its queue at once.
func (tx *Tx) Enqueue(job any, insert func(ctx context.Context, block *sql.Tx, jobs []any) error) {
	tx.jobs, tx.insert = append(tx.jobs, job), insert
}

// Fail lets the commit fail, for what queues writes and cannot.
func (tx *Tx) Fail(err error) { tx.failed = errors.Join(tx.failed, err) }

// Commit tries again after what undoes everything and blames nobody: a deadlock, a serialization failure,
// a session that an operator ended.
const commitTries = 4

// ErrCommitUnknown says that the connection was lost on the way: the transaction may or may not have
// been committed. Only reading back tells.
var ErrCommitUnknown = errors.New("the outcome of the commit is unknown")

// ErrBusy says that a lock or the database could not be had in time. Nothing was written.
var ErrBusy = errors.New("the database is busy")

// Commit sends the queued writes as one transaction. On an error nothing was written, except for
// ErrCommitUnknown.
func (tx *Tx) Commit(ctx context.Context) error {
	if tx.failed != nil {
		return tx.failed
	}
	if err := fault.Point(ctx, "before_commit"); err != nil {
		return err
	}
	if err := tx.commitUnblamed(ctx); err != nil {
		return err
	}
	return lostOnTheWay(fault.Point(ctx, "after_commit"))
}

// commitUnblamed repeats a commit that failed through nobody's fault.
func (tx *Tx) commitUnblamed(ctx context.Context) error {
	for try := 1; ; try++ {
		err := tx.commitOnce(ctx)
		if !isTransient(err) {
			return err
		}
		if try == commitTries {
			return fmt.Errorf("%w: %w", ErrBusy, err)
		}
		pause := rand.N(20 * time.Millisecond << try)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (tx *Tx) commitOnce(ctx context.Context) error {
	if !tx.db.dialect.postgres {
		return tx.commitSQLite(ctx)
	}
	conn, err := tx.db.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // gives the connection back to the pool
	if !tx.needsBlock() {
		return sendBatch(ctx, conn, tx.writes)
	}
	block, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = block.Rollback() }() // nothing to undo after the commit
	if err := sendBatch(ctx, conn, tx.writes); err != nil {
		return err
	}
	return tx.finishBlock(ctx, block)
}

// needsBlock reports whether something has to be looked at between the writes and their commit.
func (tx *Tx) needsBlock() bool {
	for _, w := range tx.writes {
		if w.missing != nil {
			return true
		}
	}
	return len(tx.jobs) > 0
}

// sendBatch sends the writes in one pipeline: one round trip, and outside a block one transaction.
func sendBatch(ctx context.Context, conn *sql.Conn, writes []write) error {
	return conn.Raw(func(driver any) error {
		batch := &pgx.Batch{}
		for _, w := range writes {
			batch.Queue(postgresDialect.placeholders(w.query), w.args...)
		}
		results := driver.(*stdlib.Conn).Conn().SendBatch(ctx, batch)
		for _, w := range writes {
			tag, err := results.Exec()
			if err == nil {
				err = w.checked(tag.RowsAffected())
			} else {
				err = w.meaning(err)
			}
			if err != nil {
				_ = results.Close() // reads the rest and repeats the same error
				return err
			}
		}
		return lostOnTheWay(results.Close())
	})
}

func (tx *Tx) commitSQLite(ctx context.Context) error {
	select {
	case tx.db.writing <- struct{}{}:
		defer func() { <-tx.db.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	block, err := tx.db.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = block.Rollback() }() // nothing to undo after the commit
	for _, w := range tx.writes {
		result, err := block.ExecContext(ctx, w.query, w.args...)
		if err != nil {
			return w.meaning(err)
		}
		rows, _ := result.RowsAffected() // this driver always knows
		if err := w.checked(rows); err != nil {
			return err
		}
	}
	return tx.finishBlock(ctx, block)
}

func (tx *Tx) finishBlock(ctx context.Context, block *sql.Tx) error {
	if len(tx.jobs) > 0 {
		if err := tx.insert(ctx, block, tx.jobs); err != nil {
			return fmt.Errorf("enqueue jobs: %w", err)
		}
	}
	return lostOnTheWay(block.Commit())
}
