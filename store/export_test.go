package store

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// SweepStatement is one of the statements with which a sweep reads or changes the key table.
type SweepStatement struct {
	Query string
	Args  []any
}

// SweepStatements are those of a sweep by the database's clock, for the first endpoint.
func SweepStatements(db *DB) []SweepStatement {
	s := &sweep{db: db, now: db.Now()}
	e := sweptEndpoint{id: 1, ttl: 48 * 3600e9, tombstone: 30 * 24 * 3600e9}
	to, body := s.limit(e), []byte{}
	from := firstKeyOf(keyTime(to).Add(-600e9))
	list := []SweepStatement{
		{`SELECT key FROM idempotency_keys ORDER BY key LIMIT 1`, nil},
		{endOfBatch, []any{from, to, e.id, sweepBatch - 1}},
		{db.dialect.wipe() + walked, []any{body, s.due(e), e.id, from, to}},
		{leave, []any{1, 1, e.id, from, to}},
		{db.dialect.wipe() + straggler, []any{body, s.due(e), e.id, from, 1}},
		{settled, []any{from, 1, e.id, from, 1, e.id}},
		{nextOpaque, []any{3, e.id, 0, s.due(e), sweepBatch}},
		{db.dialect.wipe() + completed, []any{body, s.due(e), e.id, s.due(e) - 600e6, s.due(e)}},
		{deleteOpaque + completed, []any{e.id, s.due(e) - 600e6, s.due(e)}},
	}
	if !db.dialect.postgres {
		list = append(list, SweepStatement{deleteDays, []any{from, sweepBatch}})
	}
	for i := range list {
		list[i].Query = db.dialect.placeholders(list[i].Query)
	}
	return list
}

// UnfinishedStatements look for unfinished keys of the first two endpoints.
func UnfinishedStatements(db *DB) []SweepStatement {
	look := strings.ReplaceAll(strings.ReplaceAll(selectUnfinished, "NOW_MICROS", db.dialect.micros), "IN ?", "IN (1, 2)")
	list := []SweepStatement{{look, []any{1, 1, 20, 1, 1, 1, 20, 20}}, {oldestUnfinished, []any{12}}}
	for i := range list {
		list[i].Query = db.dialect.placeholders(list[i].Query)
	}
	return list
}

// UnpaidStatement looks for orders that were not paid in time.
func UnpaidStatement(db *DB, before any) SweepStatement {
	return SweepStatement{db.dialect.placeholders(unpaidOrders), []any{before, 50}}
}

// Explained gives the database's plan of every query that gorm makes while read runs.
func Explained(ctx context.Context, db *DB, read func(*DB)) (plans []string) {
	heard := &listener{Interface: logger.Discard}
	read(&DB{sql: db.sql, gorm: db.gorm.Session(&gorm.Session{Logger: heard}), dialect: db.dialect, now: db.now, log: db.log, writing: db.writing})
	for _, query := range heard.queries {
		plans = append(plans, db.plan(ctx, query))
	}
	return plans
}

func (db *DB) plan(ctx context.Context, query string) string {
	explain := "EXPLAIN QUERY PLAN "
	if db.dialect.postgres {
		explain = "EXPLAIN "
	}
	rows, err := db.sql.QueryContext(ctx, explain+query)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = rows.Close() }()
	var b strings.Builder
	for rows.Next() {
		var line string
		into := []any{&line}
		if !db.dialect.postgres {
			var id, parent, unused int
			into = []any{&id, &parent, &unused, &line}
		}
		if err := rows.Scan(into...); err != nil {
			return err.Error()
		}
		b.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		return err.Error()
	}
	return b.String()
}

// listener hears gorm's queries, with their values in them.
type listener struct {
	logger.Interface
	queries []string
}

func (l *listener) LogMode(logger.LogLevel) logger.Interface { return l }

func (l *listener) Trace(_ context.Context, _ time.Time, query func() (string, int64), _ error) {
	text, _ := query()
	l.queries = append(l.queries, text)
}

// SearchWindow is how many rows one part of a search looks through.
const SearchWindow = searchWindow

// KeysWindow is how many keys one query of a search looks through.
const KeysWindow = keysWindow
