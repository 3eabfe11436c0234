package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// lastDay is where days begin that must stay: a key of an earlier one was completed at the latest one
// TTL after it was made, and replayed at the latest one TTL later. A day that EnsurePartitions makes
// stays too.
func (s *sweep) lastDay() time.Time {
	day := dayOf(s.now.Add(-2*s.longest - sweepSlack))
	if made := dayOf(s.now).AddDate(0, 0, -partitionsBehind); made.Before(day) {
		return made
	}
	return day
}

// days deletes whole days of keys. On SQLite, which has no partitions, it deletes their rows.
func (s *sweep) days(ctx context.Context) error {
	if !s.db.dialect.postgres {
		return s.deleteDays(ctx)
	}
	names, err := s.db.partitions(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		day, err := time.Parse("20060102", strings.TrimPrefix(name, partitionPrefix))
		if err != nil || !day.Before(s.lastDay()) {
			continue // the opaque keys, or a day that stays
		}
		dropped, err := s.dropDay(ctx, day)
		if err != nil {
			return err
		}
		if dropped {
			s.did.DaysDropped++
		} else {
			s.did.DaysKept++
		}
	}
	return nil
}

func (s *sweep) deleteDays(ctx context.Context) error {
	for n := int64(sweepBatch); n == sweepBatch; s.did.TombstonesDeleted += n {
		tx := s.db.Begin()
		tx.queue(deleteDays, firstKeyOf(s.lastDay()), sweepBatch).counting(&n)
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Stragglers come first in this order and stay, so there are few of them to pass.
const deleteDays = `DELETE FROM idempotency_keys WHERE rowid IN
	(SELECT rowid FROM idempotency_keys WHERE key < ? AND state = 4 ORDER BY key LIMIT ?)`

// dropDay drops a partition in which all keys are tombstones. Whoever claims a key meanwhile waits for
// the lock behind it, so it gives up soon and leaves the day to the next sweep.
func (s *sweep) dropDay(ctx context.Context, day time.Time) (dropped bool, err error) {
	_, straggles, err := s.db.oneKey(ctx, `SELECT key FROM key_stragglers WHERE key >= ? AND key < ? LIMIT 1`,
		firstKeyOf(day), firstKeyOf(day.AddDate(0, 0, 1)))
	if err != nil || straggles {
		return false, err
	}
	tx, err := s.db.sql.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo after the commit
	for _, statement := range []string{"SET LOCAL lock_timeout = '100ms'", "DROP TABLE IF EXISTS " + partitionName(day)} {
		if _, err := tx.ExecContext(ctx, statement); isLockTimeout(err) {
			return false, nil
		} else if err != nil {
			return false, fmt.Errorf("drop a day of keys: %w", err)
		}
	}
	return true, tx.Commit()
}

func isLockTimeout(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "55P03"
}
