package store_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/eenmaal/store/storetest"
)

// TestBothDialectsHaveTheSameColumns keeps the two folders of migrations alike. Tables of the
// libraries and the partitions of the key table are not ours to compare.
func TestBothDialectsHaveTheSameColumns(t *testing.T) {
	t.Parallel()
	lite := columns(t, storetest.Database{Dir: t.TempDir()},
		`SELECT m.name || '.' || p.name, CASE WHEN p."notnull" OR p.pk THEN 'NOT NULL' ELSE 'NULL' END
		FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'`)
	pg := columns(t, storetest.Postgres(t),
		`SELECT table_name || '.' || column_name, CASE is_nullable WHEN 'NO' THEN 'NOT NULL' ELSE 'NULL' END
		FROM information_schema.columns WHERE table_schema = 'public'`)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(pg)), func(c string) bool { return strings.HasPrefix(c, "idempotency_keys.") }) {
		t.Fatal("the comparison sees nothing")
	}
	for column, null := range pg {
		if lite[column] != null {
			t.Errorf("%s is %s on Postgres and %q on SQLite", column, null, lite[column])
		}
		delete(lite, column)
	}
	for column := range lite {
		t.Errorf("%s is on SQLite alone", column)
	}
}

func columns(t *testing.T, d storetest.Database, query string) map[string]string {
	t.Helper()
	rows, err := d.Open(t, nil).SQL().QueryContext(t.Context(), query)
	must(t, err)
	defer func() { _ = rows.Close() }()
	found := map[string]string{}
	for rows.Next() {
		var name, null string
		must(t, rows.Scan(&name, &null))
		if !strings.HasPrefix(name, "goose_") && !strings.HasPrefix(name, "river_") && !strings.HasPrefix(name, "sqlite_") &&
			!strings.HasPrefix(name, "idempotency_keys_") {
			found[name] = null
		}
	}
	must(t, rows.Err())
	return found
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestOpeningTwiceChangesNothing: replicas that start together migrate once, and a restart not at all.
func TestOpeningTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		for range 3 {
			db := storetest.Seeded(t, d, nil)
			products, err := db.Products(t.Context())
			must(t, err)
			if len(products) != 8 || products[0].SKU != "mug" {
				t.Fatalf("catalogue: %v", products)
			}
		}
	})
}
