package store

import "testing"

func TestPlaceholdersAreNumberedForPostgresAlone(t *testing.T) {
	t.Parallel()
	const query = "UPDATE t SET a = ?, b = b + ? WHERE c = ?"
	for range 2 { // the second time it is remembered
		if got := postgresDialect.placeholders(query); got != "UPDATE t SET a = $1, b = b + $2 WHERE c = $3" {
			t.Errorf("Postgres: %s", got)
		}
		if got := sqliteDialect.placeholders(query); got != query {
			t.Errorf("SQLite: %s", got)
		}
		if got := postgresDialect.placeholders("SELECT 1"); got != "SELECT 1" {
			t.Errorf("none: %s", got)
		}
	}
}

func TestNumberingAStatementAgainCostsNothing(t *testing.T) {
	const query = "INSERT INTO t VALUES (?, ?, ?, ?)"
	postgresDialect.placeholders(query)
	if got := testing.AllocsPerRun(100, func() { postgresDialect.placeholders(query) }); got > 1 {
		t.Errorf("%v allocations", got)
	}
}
