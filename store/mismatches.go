package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"example.com/eenmaal/domain"
)

type mismatchRow struct {
	ID           int64
	ConsumerID   int64
	EndpointID   int16
	Consumer     string
	Endpoint     string
	Key          string
	KeyShort     string
	Sum          []byte
	Fields       string
	FirstRequest string
	FirstSeen    int64
	RequestID    string
	FirstAt      int64
	LastAt       int64
	Times        int64
	ExplainedBy  string
	ExplainedAt  int64
	Note         string
}

func (r mismatchRow) mismatch() (domain.KeyMismatch, error) {
	id, err := uuid.Parse(r.Key)
	m := domain.KeyMismatch{
		ID: r.ID, Scope: domain.Scope{Key: domain.KeyOfID(id, ""), Consumer: r.ConsumerID, Endpoint: r.EndpointID},
		Consumer: r.Consumer, Endpoint: r.Endpoint, Key: r.KeyShort, Sum: [32]byte(r.Sum), Fields: strings.Fields(r.Fields),
		FirstRequest: r.FirstRequest, FirstSeen: momentOf(r.FirstSeen), Request: r.RequestID,
		FirstAt: momentOf(r.FirstAt), LastAt: momentOf(r.LastAt), Times: r.Times,
		ExplainedBy: r.ExplainedBy, ExplainedAt: momentOf(r.ExplainedAt), Note: r.Note,
	}
	return m, err
}

// momentOf gives the time of a column in which zero is never.
func momentOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// RecordMismatch keeps a mismatch. One that came before is counted: m's first time, request and reason
// stay those of the first.
func (db *DB) RecordMismatch(ctx context.Context, m domain.KeyMismatch) error {
	tx := db.Begin()
	tx.queue(`INSERT INTO mismatches (consumer_id, endpoint_id, key, key_short, sum, fields, first_request, first_seen,
			request_id, first_at, last_at, times)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
		ON CONFLICT (key, consumer_id, endpoint_id, sum) DO UPDATE SET
			times = mismatches.times + 1, last_at = excluded.last_at, request_id = excluded.request_id`,
		m.Scope.Consumer, m.Scope.Endpoint, keyID(m.Scope), m.Key, m.Sum[:], strings.Join(m.Fields, " "), m.FirstRequest,
		microsOf(m.FirstSeen), m.Request, microsOf(m.LastAt), microsOf(m.LastAt))
	return tx.Commit(ctx)
}

const mismatchColumns = "mismatches.id, consumer_id, endpoint_id, key, key_short, sum, fields, first_request, first_seen, request_id, first_at, last_at, times, " +
	"explained_by, explained_at, note, COALESCE(consumers.name, '') AS consumer, endpoints.pattern AS endpoint"

// mismatches begins a query of the mismatches.
func (db *DB) mismatches(ctx context.Context) *gorm.DB {
	return db.gorm.WithContext(ctx).Table("mismatches").Select(mismatchColumns).
		Joins("LEFT JOIN consumers ON consumers.id = mismatches.consumer_id").
		Joins("JOIN endpoints ON endpoints.id = mismatches.endpoint_id")
}

func mismatchesIn(query *gorm.DB) (list []domain.KeyMismatch, err error) {
	var rows []mismatchRow
	if err := query.Find(&rows).Error; err != nil {
		return nil, err
	}
	list = make([]domain.KeyMismatch, len(rows))
	for i, r := range rows {
		if list[i], err = r.mismatch(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Mismatch reads one mismatch.
func (db *DB) Mismatch(ctx context.Context, id int64) (domain.KeyMismatch, error) {
	list, err := mismatchesIn(db.mismatches(ctx).Where("mismatches.id = ?", id))
	if err == nil && len(list) == 0 {
		err = errNoMismatch
	}
	if err != nil {
		return domain.KeyMismatch{}, err
	}
	return list[0], nil
}

var errNoMismatch = domain.Errorf(domain.NotFound, "mismatch_not_found", "There is no such mismatch.")

// mismatchesOfKey is how many mismatches of one key are shown.
const mismatchesOfKey = 50

// MismatchesOf reads the newest mismatches of a key, the newest first.
func (db *DB) MismatchesOf(ctx context.Context, s domain.Scope) ([]domain.KeyMismatch, error) {
	return mismatchesIn(db.mismatches(ctx).Where("key = ? AND consumer_id = ? AND endpoint_id = ?", keyID(s), s.Consumer, s.Endpoint).
		Order("last_at DESC, mismatches.id DESC").Limit(mismatchesOfKey))
}

// inMismatches are the conditions for the states of a mismatch. Each names what its index is made of.
var inMismatches = map[string]string{
	"":                       "explained_at = 0",
	domain.MismatchExplained: "explained_at <> 0",
}

// ListMismatches reads a part of the mismatches, those first that came last: the ones that nobody has
// explained, or those in l.State. It seeks by the time and the id, so that the last page costs what the
// first does.
func (db *DB) ListMismatches(ctx context.Context, l domain.Listing) (part domain.Part[domain.KeyMismatch], err error) {
	condition, known := inMismatches[l.State]
	if !known {
		return part, nil
	}
	query, err := beside(db.mismatches(ctx).Where(condition), l.Cursor)
	if err != nil {
		return part, err
	}
	list, err := mismatchesIn(query.Limit(l.Limit + 1))
	return cut(list, l.Cursor, l.Limit, func(m domain.KeyMismatch) string {
		return strconv.FormatInt(microsOf(m.LastAt), 10) + "_" + strconv.FormatInt(m.ID, 10)
	}), err
}

// beside narrows a query to what is on the cursor's side, in its direction.
func beside(query *gorm.DB, cursor domain.Cursor) (*gorm.DB, error) {
	at, than, order := seeking(cursor)
	query = query.Order("last_at" + order + ", mismatches.id" + order)
	if at == "" {
		return query, nil
	}
	micros, id, _ := strings.Cut(at, "_")
	last, err1 := strconv.ParseInt(micros, 10, 64)
	number, err2 := strconv.ParseInt(id, 10, 64)
	if err1 != nil || err2 != nil {
		return nil, errCursor
	}
	return query.Where("(last_at, mismatches.id) "+than+" (?, ?)", last, number), nil
}

// ExplainMismatch notes who found out what had happened, and what. The first explanation stays: another
// one changes nothing.
func (db *DB) ExplainMismatch(ctx context.Context, id int64, by, note string) error {
	var changed int64
	tx := db.Begin()
	tx.queue(`UPDATE mismatches SET explained_by = ?, explained_at = ?, note = ? WHERE id = ? AND explained_at = 0`,
		by, db.Now().UnixMicro(), note, id).counting(&changed)
	err := tx.Commit(ctx)
	if err == nil && changed == 0 {
		_, err = db.Mismatch(ctx, id)
	}
	return err
}
