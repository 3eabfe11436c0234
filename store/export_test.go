package store

import "strings"

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
	list := []SweepStatement{{look, []any{1, 1, 1, 20}}, {oldestUnfinished, []any{12}}}
	for i := range list {
		list[i].Query = db.dialect.placeholders(list[i].Query)
	}
	return list
}

// UnpaidStatement looks for orders that were not paid in time.
func UnpaidStatement(db *DB, before any) SweepStatement {
	return SweepStatement{db.dialect.placeholders(unpaidOrders), []any{before, 50}}
}
