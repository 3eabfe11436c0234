package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

const day = 24 * time.Hour

// attic is a database of keys whose clock a test moves.
type attic struct {
	t     *testing.T
	db    *store.DB
	clock *storetest.Clock
	// numbers of the endpoints that have a rule; a third one has none
	messages, payments, other int16
}

var sweepRules = []store.SweepRule{
	{Endpoint: "POST /messages", TTL: 2 * day, Tombstone: 30 * day},
	{Endpoint: "POST /payments", TTL: 7 * day, Tombstone: 400 * day},
}

func newAttic(t *testing.T, d storetest.Database) *attic {
	t.Helper()
	a := &attic{t: t, clock: &storetest.Clock{}}
	a.db = d.Open(t, a.clock.Now)
	numbers, err := a.db.Endpoints(t.Context(), []string{"POST /messages", "POST /payments", "POST /others"})
	must(t, err)
	a.messages, a.payments, a.other = numbers["POST /messages"], numbers["POST /payments"], numbers["POST /others"]
	return a
}

// pass moves the clock and does what the periodic jobs do.
func (a *attic) pass(d time.Duration) store.Swept {
	a.t.Helper()
	a.clock.Move(d)
	swept, err := a.db.Sweep(a.t.Context(), sweepRules)
	must(a.t, err)
	must(a.t, a.db.EnsurePartitions(a.t.Context()))
	return swept
}

// keyAt makes a key that was made some time ago.
func (a *attic) keyAt(age time.Duration) string {
	id := uuid.Must(uuid.NewV7())
	ms := a.db.Now().Add(-age).UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id.String()
}

func (a *attic) scope(key string, endpoint int16) domain.Scope {
	a.t.Helper()
	k, err := domain.ParseKey(key)
	must(a.t, err)
	return domain.Scope{Key: k, Consumer: 1, Endpoint: endpoint}
}

// The marker stands for everything personal in an answer or in a command.
const marker = "Sanne de Vries"

func (a *attic) answer() domain.Answer {
	return domain.Answer{Status: 201, Body: []byte(`{"name":"` + marker + `"}`), Request: "request", At: a.db.Now(),
		Header: map[string][]string{"Content-Location": {"/wrong"}, "Location": {"/v1/things/7"}, "X-Name": {marker}}}
}

func (a *attic) commit(queue func(tx *store.Tx)) {
	a.t.Helper()
	tx := a.db.Begin()
	queue(tx)
	must(a.t, tx.Commit(a.t.Context()))
}

// done keeps a finished key, made in one commit or in two.
func (a *attic) done(s domain.Scope, phased bool) {
	a.t.Helper()
	if !phased {
		a.commit(func(tx *store.Tx) { tx.ClaimDone(newKeyOf(s), a.answer(), "") })
		return
	}
	a.unfinished(s)
	a.commit(func(tx *store.Tx) { tx.Finish(s, 1, a.answer(), "") })
}

func (a *attic) unfinished(s domain.Scope) {
	a.t.Helper()
	key := newKeyOf(s)
	key.Input = []byte(marker)
	a.commit(func(tx *store.Tx) { tx.ClaimRunning(key, 30*time.Second, []byte(marker)) })
}

func (a *attic) claim(s domain.Scope) domain.Claim {
	a.t.Helper()
	claim, found, err := a.db.Claim(a.t.Context(), s)
	must(a.t, err)
	if !found {
		a.t.Fatalf("the record of %s is gone", s.Key)
	}
	return claim
}

func (a *attic) has(s domain.Scope) bool {
	a.t.Helper()
	_, found, err := a.db.Claim(a.t.Context(), s)
	must(a.t, err)
	return found
}

// content is everything in the key table, as text.
func (a *attic) content() string {
	a.t.Helper()
	rows, err := a.db.SQL().QueryContext(a.t.Context(), "SELECT * FROM idempotency_keys")
	must(a.t, err)
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	must(a.t, err)
	var all strings.Builder
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		must(a.t, rows.Scan(into...))
		for _, v := range values {
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			fmt.Fprintln(&all, v)
		}
	}
	must(a.t, rows.Err())
	return all.String()
}

func (a *attic) exec(statement string) {
	a.t.Helper()
	_, err := a.db.SQL().ExecContext(a.t.Context(), statement)
	must(a.t, err)
}

// fill makes n finished keys of an endpoint, spread over a stretch of time from now on. attempt
// numbers them.
func (a *attic) fill(n int, endpoint int16, over time.Duration) {
	a.t.Helper()
	from, step := a.db.Now().UnixMilli(), over.Milliseconds()/int64(n)
	ms := fmt.Sprintf("(%d + i * %d)", from, step)
	numbers, key := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)`,
		fmt.Sprintf("printf('%%08x-%%04x-7000-8000-%%012x', %s >> 16, %s & 65535, i)", ms, ms)
	if a.db.Postgres() {
		numbers = `WITH n(i) AS (SELECT g::bigint FROM generate_series(1, %d) g)`
		key = fmt.Sprintf("(lpad(to_hex(%s), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid", ms)
	}
	a.exec(fmt.Sprintf(`INSERT INTO idempotency_keys (key, consumer_id, endpoint_id, created_at, lease_until, done_at, state, status,
		attempt, request_id, fingerprint, fields, header, body, resource) `+numbers+`
		SELECT %s, 1, %d, %s * 1000, 0, %s * 1000, 3, 201, i, 'request', '', '', '%s', '', '' FROM n`,
		n, key, endpoint, ms, ms, "Location: /v1/things/7\n"+strings.Repeat("X-Fill: 1\n", 30)))
}

// opaqueCopy selects every row under a key that tells no time.
func (a *attic) opaqueCopy() string {
	key := "'ff' || substr(key, 3)"
	if a.db.Postgres() {
		key = "('ff' || substr(key::text, 3))::uuid"
	}
	return key + `, consumer_id, created_at, lease_until, done_at, endpoint_id, state, status, attempt, request_id, fingerprint,
		fields, header, body, resource, input, steps, key_text, look_at, looks`
}
