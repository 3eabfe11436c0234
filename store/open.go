// Package store is all of the shop's SQL, on Postgres and on SQLite, behind three types: DB reads,
// Tx collects the writes of one transaction, and Answers is the Redis copy of finished answers.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/libtnb/sqlite"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Config says which database to open. The zero value of every field but one has a default: give
// URL (postgres://...) or Dir (where the SQLite file is).
type Config struct {
	URL  string
	Dir  string
	Pool int              // connections; 16 when zero (8 for SQLite)
	Now  func() time.Time // time.Now when nil
	Log  *slog.Logger     // discards when nil
}

// DB reads, and makes the Tx that write. It is safe for concurrent use.
type DB struct {
	sql     *sql.DB
	gorm    *gorm.DB
	dialect dialect
	now     func() time.Time
	log     *slog.Logger
	writing chan struct{} // SQLite has one writer; queueing here is cheaper than busy-waiting there
	prices  priceList

	instance string
}

// Open connects and migrates. The caller closes the DB.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	db := &DB{now: cfg.Now, log: cfg.Log, writing: make(chan struct{}, 1)}
	var err error
	if cfg.URL == "" {
		err = db.openSQLite(cfg)
	} else {
		err = db.openPostgres(cfg)
	}
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := db.migrate(ctx, cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate database: %w", err), db.Close())
	}
	if err := db.readInstance(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("read instance: %w", err), db.Close())
	}
	return db, nil
}

// openPostgres limits what one stuck session can hold up: a lock or a statement that waits too long
// gives an error, which the engine retries or reports, and an abandoned transaction is ended.
func (db *DB) openPostgres(cfg Config) error {
	conf, err := postgresConfig(cfg.URL)
	if err != nil {
		return err
	}
	db.dialect = postgresDialect
	db.sql = stdlib.OpenDB(*conf)
	db.pool(cfg.Pool, 16)
	return db.openGorm(postgres.New(postgres.Config{Conn: db.sql}))
}

func postgresConfig(url string) (*pgx.ConnConfig, error) {
	conf, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("DATABASE_URL cannot be parsed") // the parser's own text may quote the password
	}
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = 2 * time.Second
	}
	for name, value := range map[string]string{
		"application_name": "eenmaal", "timezone": "UTC", "lock_timeout": "1s",
		"statement_timeout": "3s", "idle_in_transaction_session_timeout": "5s",
	} {
		if _, set := conf.RuntimeParams[name]; !set {
			conf.RuntimeParams[name] = value
		}
	}
	return conf, nil
}

// openSQLite is the only place that names the SQLite driver. Immediate transactions take the write
// lock at their start, so none fails half-way for having read first; FULL keeps an answered order
// through a power cut.
func (db *DB) openSQLite(cfg Config) error {
	if err := os.MkdirAll(cfg.Dir, 0o750); err != nil {
		return err
	}
	dsn := "file:" + filepath.Join(cfg.Dir, "eenmaal.db") + "?_txlock=immediate&_timezone=UTC" +
		"&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)"
	db.dialect = sqliteDialect
	if err := db.openGorm(sqlite.Open(dsn)); err != nil {
		return err
	}
	var err error
	db.sql, err = db.gorm.DB()
	db.pool(cfg.Pool, 8)
	return err
}

func (db *DB) pool(n, otherwise int) {
	if n == 0 {
		n = otherwise
	}
	db.sql.SetMaxOpenConns(n)
	db.sql.SetMaxIdleConns(n)
	db.sql.SetConnMaxLifetime(time.Hour)
}

// openGorm leaves statement caching to pgx: gorm's own prepares again in every transaction. It names the
// columns it reads: Postgres refuses to go on with a prepared "SELECT *" when another release has added one.
func (db *DB) openGorm(d gorm.Dialector) (err error) {
	db.gorm, err = gorm.Open(d, &gorm.Config{
		SkipDefaultTransaction: true, PrepareStmt: false, QueryFields: true, DisableAutomaticPing: true,
		Logger: logger.Discard, NowFunc: db.Now,
	})
	return err
}

// Close ends all connections.
func (db *DB) Close() error {
	if db.sql == nil {
		return nil
	}
	return db.sql.Close()
}

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error { return db.sql.PingContext(ctx) }

// Now is the one clock: UTC, in the microseconds that both databases keep.
func (db *DB) Now() time.Time { return db.now().UTC().Truncate(time.Microsecond) }

// SQL is the connection pool, for what brings its own SQL (the job queue, metrics).
func (db *DB) SQL() *sql.DB { return db.sql }

// Postgres reports which of the two databases this is.
func (db *DB) Postgres() bool { return db.dialect.postgres }

// String names the database for a person, without credentials.
func (db *DB) String() string {
	if db.dialect.postgres {
		return "Postgres"
	}
	return "SQLite"
}

// dialect is where the two databases differ.
type dialect struct {
	postgres bool
	micros   string // SQL for the database's clock in microseconds
	location string // SQL for the Location in a key row's header
	share    string // SQL that keeps a row that was read from being changed; SQLite has one writer
}

var (
	postgresDialect = dialect{
		postgres: true,
		micros:   "(extract(epoch from clock_timestamp()) * 1000000)::bigint",
		location: `split_part(split_part(chr(10) || header, chr(10) || 'Location: ', 2), chr(10), 1)`,
		share:    " FOR SHARE",
	}
	sqliteDialect = dialect{
		micros: "CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
		location: `CASE instr(char(10) || header, char(10) || 'Location: ') WHEN 0 THEN '' ELSE
			substr(header, instr(char(10) || header, char(10) || 'Location: ') + 10,
			instr(substr(header, instr(char(10) || header, char(10) || 'Location: ') + 10), char(10)) - 1) END`,
	}
)

// placeholders writes a statement's question marks the way the database wants them. Statements are
// constants that hold no other question mark, so the translations of all of them are kept.
func (d dialect) placeholders(query string) string {
	if !d.postgres {
		return query
	}
	if known, ok := numbered.Load(query); ok {
		return known.(string)
	}
	text := number(query)
	numbered.Store(query, text)
	return text
}

var numbered sync.Map // statement with question marks -> with $1, $2, ...

func number(query string) string {
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(query, "?") {
		if n > 0 {
			fmt.Fprintf(&b, "$%d", n)
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}
