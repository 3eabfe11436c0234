package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"example.com/eenmaal/migrations"
)

// riverVersion is the schema of the job queue that this release runs with. Raising it belongs to
// raising the library, as a new numbered migration.
const riverVersion = 2

// migrate brings the schema up to date, once, however many replicas start together: on Postgres
// under a session lock, on SQLite because one process owns the file.
func (db *DB) migrate(ctx context.Context, cfg Config) error {
	dialect, folder := goose.DialectSQLite3, "sqlite"
	options := []goose.ProviderOption{
		goose.WithDisableGlobalRegistry(true), goose.WithSlog(slog.New(slog.DiscardHandler)),
		goose.WithGoMigrations(goose.NewGoMigration(riverVersion, &goose.GoFunc{RunDB: db.migrateJobs}, nil)),
	}
	if db.dialect.postgres {
		dialect, folder = goose.DialectPostgres, "postgres"
	}
	files, err := fs.Sub(migrations.Files, folder)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, db.sql, files, options...)
	if err != nil {
		return err
	}
	if pending, err := provider.HasPending(ctx); err != nil || pending {
		if err := db.migrateUp(ctx, cfg, dialect, files, options); err != nil {
			return err
		}
	}
	return patiently(ctx, func() error { return db.EnsurePartitions(ctx) })
}

func (db *DB) migrateUp(ctx context.Context, cfg Config, dialect goose.Dialect, files fs.FS, options []goose.ProviderOption) error {
	pool := db.sql
	if db.dialect.postgres {
		var err error
		if pool, err = migrationPool(cfg); err != nil {
			return err
		}
		defer func() { _ = pool.Close() }() // nothing is pending
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
		if err != nil {
			return err
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(dialect, pool, files, options...)
	if err != nil {
		return err
	}
	return patiently(ctx, func() error {
		_, err := provider.Up(ctx)
		return err
	})
}

// migrationLock is how long a change of the tables waits for its lock. Whoever comes later waits behind
// it, so it gives up soon, lets the shop pass, and tries again.
const (
	migrationLock  = "300ms"
	migrationTries = 60
	migrationPause = 500 * time.Millisecond
)

// migrationPool has connections on which a step that has its lock may take as long as it needs.
func migrationPool(cfg Config) (*sql.DB, error) {
	conf, err := postgresConfig(cfg.URL)
	if err != nil {
		return nil, err
	}
	conf.RuntimeParams["lock_timeout"], conf.RuntimeParams["statement_timeout"] = migrationLock, "0"
	return stdlib.OpenDB(*conf), nil
}

// patiently repeats a change that could not have its locks in time.
func patiently(ctx context.Context, change func() error) error {
	for try := 1; ; try++ {
		err := change()
		if !isTransient(err) || try == migrationTries {
			return err
		}
		select {
		case <-time.After(migrationPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (db *DB) migrateJobs(ctx context.Context, pool *sql.DB) error {
	migrator, err := rivermigrate.New(db.JobDriver(), nil)
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// JobDriver is the job queue's view of this database.
func (db *DB) JobDriver() riverdriver.Driver[*sql.Tx] {
	if db.dialect.postgres {
		return riverdatabasesql.New(db.sql)
	}
	return riversqlite.New(db.sql)
}

// Days of key partitions that exist around today: a key may be used for a week after it was made,
// and partitions are made a week ahead so that a job that fails for days harms nobody.
const (
	partitionsBehind = 9
	partitionsAhead  = 7
)

// EnsurePartitions makes the days of the key table that are missing around today. It may run in
// several replicas at once.
func (db *DB) EnsurePartitions(ctx context.Context) error {
	if !db.dialect.postgres {
		return nil
	}
	missing, err := db.missingPartitions(ctx)
	if err != nil || len(missing) == 0 {
		return err
	}
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo after the commit
	for _, statement := range []string{"SET LOCAL lock_timeout = '" + migrationLock + "'", "SELECT pg_advisory_xact_lock(20261130)"} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	for _, day := range missing {
		if _, err := tx.ExecContext(ctx, partitionDDL(day)); err != nil {
			return fmt.Errorf("make key partition: %w", err)
		}
	}
	return tx.Commit()
}

// partitions lists the parts of the key table by name.
func (db *DB) partitions(ctx context.Context) (names []string, err error) {
	err = db.gorm.WithContext(ctx).
		Raw("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'idempotency_keys'::regclass").
		Scan(&names).Error
	return names, err
}

func (db *DB) missingPartitions(ctx context.Context) ([]time.Time, error) {
	names, err := db.partitions(ctx)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, name := range names {
		have[name] = true
	}
	var missing []time.Time
	today := db.Now().Truncate(24 * time.Hour)
	for d := -partitionsBehind; d <= partitionsAhead; d++ {
		if day := today.AddDate(0, 0, d); !have[partitionName(day)] {
			missing = append(missing, day)
		}
	}
	return missing, nil
}

const partitionPrefix = "idempotency_keys_"

func partitionName(day time.Time) string { return partitionPrefix + day.Format("20060102") }

func partitionDDL(day time.Time) string {
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s PARTITION OF idempotency_keys FOR VALUES FROM ('%s') TO ('%s')",
		partitionName(day), firstKeyOf(day), firstKeyOf(day.AddDate(0, 0, 1)))
}

// firstKeyOf is the smallest UUIDv7-shaped value of a moment: its first 48 bits are milliseconds.
func firstKeyOf(t time.Time) string {
	ms := t.UnixMilli()
	return fmt.Sprintf("%08x-%04x-0000-0000-000000000000", ms>>16, ms&0xffff)
}
