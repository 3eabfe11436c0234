package store

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
)

const keyConstraint = "idempotency_keys_pkey"

var (
	// ErrKeyTaken: the key's row exists already; somebody else made it.
	ErrKeyTaken = errors.New("the key is taken")
	// ErrKeySpent: the key's row is gone, but what was made with it is still there.
	ErrKeySpent = errors.New("the key has been used")
	// ErrLeaseLost: a newer attempt has taken the key over; this one may write no more.
	ErrLeaseLost = errors.New("the lease on the key was lost")
)

// keyRow is a row of idempotency_keys. Times are microseconds; zero is never.
type keyRow struct {
	createdAt, leaseLeft, doneAt int64
	state                        int16
	status                       int
	attempt                      int64
	requestID                    string
	fingerprint, fields          []byte
	header                       string
	body                         []byte
	resource                     string
	steps                        []byte
	looks                        int
}

const selectKey = `SELECT created_at, lease_until - (NOW_MICROS), done_at, state, status, attempt, request_id, fingerprint,
	fields, header, body, resource, steps, coalesce(looks, 0) FROM idempotency_keys WHERE key = ? AND consumer_id = ? AND endpoint_id = ?`

var (
	selectKeyPostgres = strings.Replace(selectKey, "NOW_MICROS", postgresDialect.micros, 1)
	selectKeySQLite   = strings.Replace(selectKey, "NOW_MICROS", sqliteDialect.micros, 1)
)

// Claim reads the record of a key. found is false when the key was never used in this scope. Every
// replay that is nowhere else comes here, so the row is scanned without gorm's reflection.
func (db *DB) Claim(ctx context.Context, s domain.Scope) (claim domain.Claim, found bool, err error) {
	query := selectKeySQLite
	if db.dialect.postgres {
		query = selectKeyPostgres
	}
	var r keyRow
	err = db.sql.QueryRowContext(ctx, db.dialect.placeholders(query), keyID(s), s.Consumer, s.Endpoint).Scan(
		&r.createdAt, &r.leaseLeft, &r.doneAt, &r.state, &r.status, &r.attempt, &r.requestID, &r.fingerprint,
		&r.fields, &r.header, &r.body, &r.resource, &r.steps, &r.looks)
	if errors.Is(err, sql.ErrNoRows) {
		return domain.Claim{}, false, nil
	}
	if err != nil {
		return domain.Claim{}, false, err
	}
	return r.claim(), true, nil
}

func (r keyRow) claim() domain.Claim {
	c := domain.Claim{
		State: domain.State(r.state), Attempt: r.attempt, Resource: r.resource, Steps: r.steps,
		LeaseLeft:   time.Duration(r.leaseLeft) * time.Microsecond,
		Fingerprint: domain.Fingerprint{Sum: [32]byte(r.fingerprint), Fields: r.fields},
		FirstSeen:   time.UnixMicro(r.createdAt).UTC(), Request: r.requestID, Looks: r.looks,
	}
	if r.doneAt != 0 {
		c.Answer = domain.Answer{
			Status: r.status, Header: parseHeader(r.header), Body: r.body,
			Request: r.requestID, At: time.UnixMicro(r.doneAt).UTC(),
		}
	}
	return c
}

// Spent reports whether something in the table was made with this key: then a request that would
// otherwise be refused is a late retry of the one that made it. table is the name of a table that
// keeps the keys of its rows.
func (db *DB) Spent(ctx context.Context, table string, s domain.Scope) (bool, error) {
	var n int64
	err := db.gorm.WithContext(ctx).Table(table).Where("key = ? AND consumer_id = ?", keyID(s), s.Consumer).Limit(1).Count(&n).Error
	return n > 0, err
}

// KeyText reads the text of a key that carries no time, whose id alone says too little. It is empty when
// there is none.
func (db *DB) KeyText(ctx context.Context, s domain.Scope) (string, error) {
	var text sql.NullString
	err := db.sql.QueryRowContext(ctx, db.dialect.placeholders(selectKeyText), keyID(s), s.Consumer, s.Endpoint).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return text.String, err
}

const selectKeyText = `SELECT key_text FROM idempotency_keys WHERE key = ? AND consumer_id = ? AND endpoint_id = ?`

// NewKey is what is known of a key when it is claimed.
type NewKey struct {
	Scope       domain.Scope
	Fingerprint domain.Fingerprint
	Request     string // id of the claiming request
	Input       []byte // the command, for finishing it without its client; nil when one commit does it all
}

const insertKey = `INSERT INTO idempotency_keys (key, consumer_id, endpoint_id, created_at, lease_until, done_at,
	state, status, attempt, request_id, fingerprint, fields, header, body, resource, input, steps, key_text, look_at, looks)
	VALUES (?, ?, ?, ?, `

// ClaimDone queues the claim and its final answer as one row, before all other writes: the
// transaction is the whole operation. A key that is taken gives ErrKeyTaken.
func (tx *Tx) ClaimDone(k NewKey, a domain.Answer, resource string) {
	at := a.At.UnixMicro()
	tx.queueFirst(insertKey+`0, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, NULL, NULL, ?, NULL, NULL)`,
		keyID(k.Scope), k.Scope.Consumer, k.Scope.Endpoint, at, at,
		int16(domain.Done), a.Status, k.Request, k.Fingerprint.Sum[:], k.Fingerprint.Fields,
		formatHeader(a.Header), a.Body, resource, opaque(k.Scope)).or(keyConstraint, ErrKeyTaken)
}

// ClaimRunning queues the claim of an operation that goes on after this transaction, before all
// other writes. The lease runs from now by the database's clock.
func (tx *Tx) ClaimRunning(k NewKey, lease time.Duration, steps []byte) {
	micros := tx.db.dialect.micros
	tx.queueFirst(insertKey+micros+` + ?, 0, ?, 0, 1, ?, ?, ?, '', ?, '', ?, ?, ?, `+micros+` + ?, 0)`,
		keyID(k.Scope), k.Scope.Consumer, k.Scope.Endpoint, tx.Now().UnixMicro(), lease.Microseconds(),
		int16(domain.Running), k.Request, k.Fingerprint.Sum[:], k.Fingerprint.Fields, []byte{},
		k.Input, steps, opaque(k.Scope), lookAfter(lease)).or(keyConstraint, ErrKeyTaken)
}

// Every later write of an attempt carries its number: an attempt that was taken over changes nothing.
const fence = ` WHERE key = ? AND consumer_id = ? AND endpoint_id = ? AND attempt = ? AND state = 1`

// RecordSteps queues what the attempt's finished steps gave and renews its lease.
func (tx *Tx) RecordSteps(s domain.Scope, attempt int64, lease time.Duration, steps []byte) {
	micros := tx.db.dialect.micros
	tx.queueFirst(`UPDATE idempotency_keys SET steps = ?, lease_until = `+micros+` + ?, look_at = `+micros+` + ?`+fence,
		steps, lease.Microseconds(), lookAfter(lease), keyID(s), s.Consumer, s.Endpoint, attempt).orMissing(ErrLeaseLost)
}

// Finish queues the final answer. The command and the steps are no longer needed and are wiped.
func (tx *Tx) Finish(s domain.Scope, attempt int64, a domain.Answer, resource string) {
	tx.queueFirst(`UPDATE idempotency_keys SET state = 3, lease_until = 0, done_at = ?, status = ?, request_id = ?,
		header = ?, body = ?, resource = ?, input = NULL, steps = NULL, look_at = NULL, looks = NULL`+fence,
		a.At.UnixMicro(), a.Status, a.Request, formatHeader(a.Header), a.Body, resource,
		keyID(s), s.Consumer, s.Endpoint, attempt).orMissing(ErrLeaseLost)
}

// TakeOver queues making the caller the holder of a key whose last attempt stopped. ErrLeaseLost says
// that somebody else was faster. looks is how often the key has been looked at without its client, this
// time included; it is looked at again after pause, or when the lease must have ended.
func (tx *Tx) TakeOver(s domain.Scope, attempt int64, lease time.Duration, looks int, pause time.Duration) {
	micros := tx.db.dialect.micros
	tx.queueFirst(`UPDATE idempotency_keys SET attempt = attempt + 1, state = 1, lease_until = `+micros+` + ?,
		look_at = `+micros+` + ?, looks = ?
		WHERE key = ? AND consumer_id = ? AND endpoint_id = ? AND attempt = ? AND (state = 2 OR
			(state = 1 AND (lease_until <= `+micros+` OR lease_until > `+micros+` + ?)))`,
		lease.Microseconds(), max(lookAfter(lease), pause.Microseconds()), looks, keyID(s), s.Consumer, s.Endpoint, attempt,
		domain.MaxLease.Microseconds()).orMissing(ErrLeaseLost)
}

// Release queues giving an unfinished key back, so that the next retry need not wait for the lease to
// end. It stays bound to its request and keeps its finished steps. Without a retry it is looked at
// after pause.
func (tx *Tx) Release(s domain.Scope, attempt int64, pause time.Duration) {
	tx.queue(`UPDATE idempotency_keys SET state = 2, lease_until = 0, look_at = `+tx.db.dialect.micros+` + ?`+fence,
		pause.Microseconds(), keyID(s), s.Consumer, s.Endpoint, attempt)
}

// ReleaseUnknown gives a key back that a request may have claimed without hearing of it. It touches no
// other request's claim, so it does nothing for one without an id. Without a retry the key is looked
// at after pause.
func (db *DB) ReleaseUnknown(ctx context.Context, s domain.Scope, request string, pause time.Duration) error {
	if request == "" {
		return nil
	}
	tx := db.Begin()
	tx.queue(`UPDATE idempotency_keys SET state = 2, lease_until = 0, look_at = `+db.dialect.micros+` + ?`+fence+` AND request_id = ?`,
		pause.Microseconds(), keyID(s), s.Consumer, s.Endpoint, 1, request)
	return tx.Commit(ctx)
}

// lookAfter is when a key is looked at that nobody has finished or given back within its lease.
func lookAfter(lease time.Duration) int64 { return (lease + domain.LookAfterLease).Microseconds() }

// Endpoints gives the lasting number of every pattern, making those that are new.
func (db *DB) Endpoints(ctx context.Context, patterns []string) (map[string]int16, error) {
	numbers, err := db.endpoints(ctx)
	if err != nil {
		return nil, err
	}
	tx := db.Begin()
	for _, p := range patterns {
		if _, known := numbers[p]; !known {
			tx.queue(`INSERT INTO endpoints (pattern) VALUES (?) ON CONFLICT DO NOTHING`, p)
		}
	}
	if len(tx.writes) == 0 {
		return numbers, nil
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return db.endpoints(ctx)
}

func (db *DB) endpoints(ctx context.Context) (map[string]int16, error) {
	var rows []struct {
		ID      int16
		Pattern string
	}
	if err := db.gorm.WithContext(ctx).Table("endpoints").Find(&rows).Error; err != nil {
		return nil, err
	}
	numbers := make(map[string]int16, len(rows))
	for _, r := range rows {
		numbers[r.Pattern] = r.ID
	}
	return numbers, nil
}

func keyID(s domain.Scope) string { return uuid.UUID(s.Key.ID()).String() }

// opaque is the key's text where its id does not already show it.
func opaque(s domain.Scope) any {
	if _, shown := s.Key.Time(); shown {
		return nil
	}
	return s.Key.String()
}

// formatHeader writes header lines in a fixed order.
func formatHeader(h http.Header) string {
	var b strings.Builder
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range h[name] {
			b.WriteString(name + ": " + value + "\n")
		}
	}
	return b.String()
}

func parseHeader(s string) http.Header {
	h := http.Header{}
	for line := range strings.Lines(s) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok {
			h[textproto.CanonicalMIMEHeaderKey(name)] = append(h[textproto.CanonicalMIMEHeaderKey(name)], value)
		}
	}
	return h
}
