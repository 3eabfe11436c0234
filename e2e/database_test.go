package e2e

import (
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// database is where a test's shop keeps its data, and how the test looks into it.
type database struct {
	dir string // DATA_DIR
	url string // DATABASE_URL; empty means SQLite in dir
}

func (db database) name() string {
	if db.url == "" {
		return "SQLite"
	}
	return "Postgres"
}

// eachDatabase runs a test on both databases, side by side with other tests.
func eachDatabase(t *testing.T, test func(t *testing.T, db database)) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, database{dir: t.TempDir()})
	})
	t.Run("Postgres", func(t *testing.T) {
		t.Parallel()
		test(t, database{dir: t.TempDir(), url: newPostgres(t)})
	})
}

// newPostgres makes an empty database that is gone after the test.
func newPostgres(t *testing.T) string {
	t.Helper()
	return copyPostgres(t, "template1")
}

// copyPostgres makes a database like another, to which nobody may be connected.
func copyPostgres(t *testing.T, template string) string {
	t.Helper()
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" {
		if everything {
			t.Fatal("TEST_POSTGRES_URL is empty")
		}
		t.Skip("NOT TESTED ON POSTGRES: TEST_POSTGRES_URL is empty; go run ./cmd/withservices -- go test ./e2e sets it")
	}
	name := "e2e_" + strings.ToLower(rand.Text()[:12])
	admin, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil { //nolint:noctx // after the test
			t.Error(err)
		}
		_ = admin.Close()
	})
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	address.Path = "/" + name
	return address.String()
}

// open connects a witness.
func (d database) open(t *testing.T) *sql.DB {
	t.Helper()
	driver, source := "pgx", d.url
	if d.url == "" {
		driver, source = "sqlite", "file:"+filepath.ToSlash(filepath.Join(d.dir, "eenmaal.db"))+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
