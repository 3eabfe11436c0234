package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"example.com/eenmaal/domain"
)

type keyRecordRow struct {
	Key         string
	ConsumerID  int64
	EndpointID  int16
	Consumer    sql.NullString
	Endpoint    string
	KeyText     sql.NullString
	State       int16
	Attempt     int64
	Status      int
	Resource    string
	RequestID   string
	Fingerprint []byte
	CreatedAt   int64
	DoneAt      int64
	LeaseLeft   int64
	LookAt      sql.NullInt64
	Looks       sql.NullInt64
	Steps       []byte
}

func (r keyRecordRow) record() (domain.KeyRecord, error) {
	id, err := uuid.Parse(r.Key)
	if err != nil {
		return domain.KeyRecord{}, err
	}
	k := domain.KeyRecord{
		Scope:    domain.Scope{Key: domain.KeyOfID(id, r.KeyText.String), Consumer: r.ConsumerID, Endpoint: r.EndpointID},
		Consumer: r.Consumer.String, Endpoint: r.Endpoint, State: domain.State(r.State), Attempt: r.Attempt, Status: r.Status,
		Resource: r.Resource, Request: r.RequestID, Print: hex.EncodeToString(r.Fingerprint[:min(6, len(r.Fingerprint))]),
		FirstSeen: momentOf(r.CreatedAt), DoneAt: momentOf(r.DoneAt), LookAt: momentOf(r.LookAt.Int64), Looks: int(r.Looks.Int64),
	}
	if k.State == domain.Running {
		k.LeaseLeft = time.Duration(max(r.LeaseLeft, 0)) * time.Microsecond
	}
	if len(r.Steps) > 0 {
		var steps map[string]json.RawMessage
		err = json.Unmarshal(r.Steps, &steps)
		k.Steps = slices.Sorted(maps.Keys(steps))
	}
	return k, err
}

// keyRecords begins a query of the key table, without what the client sent and was answered.
func (db *DB) keyRecords(ctx context.Context) *gorm.DB {
	return db.gorm.WithContext(ctx).Table("idempotency_keys AS k").Select("k.key, k.consumer_id, k.endpoint_id, k.key_text, k.state, k.attempt, k.status, k.request_id, k.fingerprint, " +
		"k.created_at, k.done_at, k.look_at, k.looks, k.steps, k.lease_until - " + db.dialect.micros + " AS lease_left, consumers.name AS consumer, endpoints.pattern AS endpoint, " +
		"CASE k.resource WHEN '' THEN " + strings.ReplaceAll(db.dialect.location, "header", "k.header") + " ELSE k.resource END AS resource").
		Joins("LEFT JOIN consumers ON consumers.id = k.consumer_id").
		Joins("JOIN endpoints ON endpoints.id = k.endpoint_id")
}

// KeyRecord reads the record of one key. A key that is nowhere recorded is NotFound.
func (db *DB) KeyRecord(ctx context.Context, s domain.Scope) (domain.KeyRecord, error) {
	var row keyRecordRow
	err := db.keyRecords(ctx).Where("k.key = ? AND k.consumer_id = ? AND k.endpoint_id = ?", keyID(s), s.Consumer, s.Endpoint).Take(&row).Error
	if err != nil {
		return domain.KeyRecord{}, notFound(err, "key_not_found", "Nothing is recorded for this key.")
	}
	return row.record()
}

// KeysPerPage is how many keys one page of the desk's list has.
const KeysPerPage = 50

// Where the keys are that carry a time, and those that carry none.
const (
	timedKeys   = "k.key < '" + firstOpaque + "'"
	untimedKeys = "k.key >= '" + firstOpaque + "'"
	firstOpaque = "ff000000-0000-0000-0000-000000000000"
)

// Keys reads a part of the keys, those made last first, by the time that they carry. It walks the key
// table's own order, day by day back, so a page costs the same wherever it is. What a search asks for may be
// rare: it looks through so many keys only, and then the part may be empty and still be followed by another.
func (db *DB) Keys(ctx context.Context, search domain.KeySearch, cursor domain.Cursor) (domain.Part[domain.KeyRecord], error) {
	var none domain.Part[domain.KeyRecord]
	text := strings.TrimSpace(search.Text)
	query, named, err := db.keysNamed(ctx, db.keyRecords(ctx), text)
	if err != nil {
		return none, err
	}
	rare := !named && text != ""
	switch search.State {
	case domain.KeysUnfinished:
		query, rare = query.Where("k.look_at IS NOT NULL AND k.state < 3"), false // an index holds them alone
	case domain.KeysFinished:
		query, rare = query.Where("k.state = 3"), !named
	case domain.KeysExpired:
		query, rare = query.Where("k.state = 4"), !named
	case domain.KeysUntimed:
		query = query.Where(untimedKeys)
	}
	among := timedKeys
	if search.State == domain.KeysUntimed {
		among = untimedKeys
	} else if !named && search.State != domain.KeysUnfinished {
		query = query.Where(timedKeys)
	}
	var rows domain.Part[keyRecordRow]
	if rare {
		rows, err = db.searchKeys(ctx, query, among, cursor)
	} else {
		rows, err = partOfKeys(query, cursor)
	}
	if err != nil {
		return none, err
	}
	part := domain.Part[domain.KeyRecord]{Items: make([]domain.KeyRecord, len(rows.Items)), Older: rows.Older, Newer: rows.Newer}
	for i, r := range rows.Items {
		if part.Items[i], err = r.record(); err != nil {
			return none, err
		}
	}
	return part, nil
}

// keysNamed narrows a query to what a person typed. named is true when it names keys.
func (db *DB) keysNamed(ctx context.Context, query *gorm.DB, text string) (q *gorm.DB, named bool, err error) {
	if text == "" {
		return query, false, nil
	}
	if strings.Contains(text, " /") {
		return query.Where("endpoints.pattern = ?", text), false, nil
	}
	var consumers []int64
	if err := db.gorm.WithContext(ctx).Table("consumers").Where("name = ?", text).Pluck("id", &consumers).Error; err != nil {
		return query, false, err
	}
	if len(consumers) > 0 {
		return query.Where("k.consumer_id IN ?", consumers), false, nil
	}
	first, last, begins := keysThatBegin(text)
	key, keyErr := domain.ParseKey(text)
	whole := uuid.UUID(key.ID()).String()
	switch {
	case begins && keyErr == nil:
		return query.Where("k.key = ? OR k.key BETWEEN ? AND ?", whole, first, last), true, nil
	case begins:
		return query.Where("k.key BETWEEN ? AND ?", first, last), true, nil
	case keyErr == nil:
		return query.Where("k.key = ?", whole), true, nil
	default:
		return query.Where("1 = 0"), true, nil
	}
}

// keysThatBegin gives the first and the last key that begin with a text, if a UUID can begin so.
func keysThatBegin(text string) (first, last string, ok bool) {
	const low, high = "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"
	text = strings.ToLower(text)
	if len(text) > len(low) {
		return "", "", false
	}
	first, last = text+low[len(text):], text+high[len(text):]
	_, err := uuid.Parse(first)
	return first, last, err == nil
}
