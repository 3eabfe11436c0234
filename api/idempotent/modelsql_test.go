package idempotent_test

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// The model looks at the database by plain SQL, as a witness from outside.

func (w *world) exec(rt *rapid.T, statement string) {
	if _, err := w.db.SQL().ExecContext(context.Background(), statement); err != nil {
		rt.Fatal(err)
	}
}

func (w *world) count(rt *rapid.T, query string) (n int) {
	if err := w.db.SQL().QueryRowContext(context.Background(), query).Scan(&n); err != nil {
		rt.Fatal(err)
	}
	return n
}

// micros is the database's clock.
func (w *world) micros() string {
	if w.db.Postgres() {
		return "(extract(epoch from clock_timestamp()) * 1000000)::bigint"
	}
	return "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
}

// where names the row of a key.
func (w *world) where(p place) string {
	return fmt.Sprintf("key = '%s' AND consumer_id = %d AND endpoint_id = (SELECT id FROM endpoints WHERE pattern = 'POST /%s')",
		uuid.UUID(p.key.ID()), p.consumer, p.op)
}

// fromDatabase reads an answer that was committed and never sent.
func (w *world) fromDatabase(rt *rapid.T, p place, body string) *record {
	r := &record{body: body, done: true}
	var at int64
	var answer []byte
	query := "SELECT done_at, status, body FROM idempotency_keys WHERE state = 3 AND " + w.where(p)
	if err := w.db.SQL().QueryRowContext(context.Background(), query).Scan(&at, &r.status, &answer); err != nil {
		rt.Fatal(err)
	}
	r.at, r.answer = time.UnixMicro(at).UTC(), string(answer)
	return r
}
