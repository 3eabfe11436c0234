package store

import "context"

// Instance tells this database from all others: it was made at random with the tables. What is kept
// elsewhere and belongs to this database carries it.
func (db *DB) Instance() string { return db.instance }

func (db *DB) readInstance(ctx context.Context) error {
	return db.sql.QueryRowContext(ctx, "SELECT id FROM instance").Scan(&db.instance)
}
