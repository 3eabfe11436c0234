// Package storetest gives every test a fresh migrated database, on SQLite and, when one is given, on
// Postgres.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver for making databases

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/throwaway"
)

// PostgresURL is the server on which tests make their databases; empty when there is none.
func PostgresURL() string { return os.Getenv("TEST_POSTGRES_URL") }

// Clock is a settable clock. The zero value is the real one.
type Clock struct{ offset atomic.Int64 }

// Now is the time of the clock.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// Move turns the clock by d.
func (c *Clock) Move(d time.Duration) { c.offset.Add(int64(d)) }

// Database is one to open, as often as a test has processes.
type Database struct {
	Name string
	URL  string // empty for SQLite
	Dir  string
	Pool int // connections; the default when zero
}

// Open opens the database; it is closed at the end of the test.
func (d Database) Open(t testing.TB, now func() time.Time) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: d.URL, Dir: d.Dir, Pool: d.Pool, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Each runs a test on SQLite and on Postgres, as parallel subtests. Without TEST_POSTGRES_URL the
// second is skipped and says so.
func Each(t *testing.T, test func(t *testing.T, d Database)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
	t.Run("Postgres", func(t *testing.T) {
		t.Parallel()
		test(t, Postgres(t))
	})
}

// RedisURL is the Redis that tests may share, never flush. Without TEST_REDIS_URL the test is skipped.
// Clients are told to be patient with it: a busy machine must not look like a broken Redis.
func RedisURL(t testing.TB) string {
	t.Helper()
	url := os.Getenv("TEST_REDIS_URL")
	if url == "" {
		skip(t, "TEST_REDIS_URL is empty; make test starts a Redis")
	}
	return url + "?read_timeout=20s"
}

// OwnPostgres starts an empty Postgres that the test may kill.
func OwnPostgres(t testing.TB, o throwaway.Options) *throwaway.Server {
	t.Helper()
	return own(t, o, throwaway.Postgres)
}

// OwnRedis starts a Redis that the test may kill, freeze and flush.
func OwnRedis(t testing.TB) *throwaway.Server {
	t.Helper()
	return own(t, throwaway.Options{}, throwaway.Redis)
}

// OwnRedisCluster starts a Redis Cluster of three servers that the test may kill, freeze and flush.
func OwnRedisCluster(t testing.TB) *throwaway.Cluster {
	t.Helper()
	return own(t, throwaway.Options{}, throwaway.RedisCluster)
}

func own[S interface{ Stop() }](t testing.TB, o throwaway.Options, start func(string, throwaway.Options) (S, error)) S {
	t.Helper()
	server, err := start("", o)
	if errors.Is(err, throwaway.ErrNotInstalled) {
		skip(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return server
}

// skip skips the test and says why, unless nothing may be skipped.
func skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("EENMAAL_TEST_ALL") != "" {
		t.Fatal(why + "; EENMAAL_TEST_ALL says that nothing may be skipped")
	}
	t.Skip(why)
}

// Seeded opens the database with the demo catalogue and the consumers alpha and beta.
func Seeded(t testing.TB, d Database, now func() time.Time) *store.DB {
	t.Helper()
	db := d.Open(t, now)
	if err := db.Seed(t.Context(), domain.DemoCatalogue(), map[string]string{"alpha": "demo-alpha", "beta": "demo-beta"}); err != nil {
		t.Fatal(err)
	}
	return db
}

var (
	made     atomic.Int64
	template = sync.OnceValues(makeTemplate)
)

// SQLite makes an empty migrated file, copied from one that was migrated once per test binary.
func SQLite(t testing.TB) Database {
	t.Helper()
	file, err := migratedFile()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, sqliteFile), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return Database{Name: "SQLite", Dir: dir}
}

const sqliteFile = "eenmaal.db"

var migratedFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "eenmaal-template")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	db, err := store.Open(context.Background(), store.Config{Dir: dir})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil { // moves the write-ahead log into the file
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, sqliteFile))
})

// Postgres makes an empty migrated database, copied from one that was migrated once per test binary.
func Postgres(t testing.TB) Database {
	t.Helper()
	if PostgresURL() == "" {
		skip(t, "TEST_POSTGRES_URL is empty; make test starts a Postgres")
	}
	source, err := template()
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), made.Add(1))
	if err := execute("CREATE DATABASE " + name + " TEMPLATE " + source); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execute("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Log(err)
		}
	})
	return Database{Name: "Postgres", URL: urlOf(name)}
}

func makeTemplate() (string, error) {
	name := fmt.Sprintf("template_%d", os.Getpid())
	if err := execute("CREATE DATABASE " + name); err != nil {
		return "", err
	}
	db, err := store.Open(context.Background(), store.Config{URL: urlOf(name)})
	if err != nil {
		return "", err
	}
	return name, db.Close()
}

// creating lets one test at a time copy the template, which must not be in use meanwhile.
var creating sync.Mutex

func execute(statement string) error {
	creating.Lock()
	defer creating.Unlock()
	db, err := sql.Open("pgx", PostgresURL())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err = db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", strings.Fields(statement)[0], err)
	}
	return nil
}

func urlOf(database string) string {
	u, err := url.Parse(PostgresURL())
	if err != nil {
		return ""
	}
	u.Path = "/" + database
	return u.String()
}
