package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
)

// unfinishedRow is what a run needs that goes on without its client.
type unfinishedRow struct {
	Key         string
	ConsumerID  int64
	EndpointID  int16
	KeyText     sql.NullString
	CreatedAt   int64
	State       int16
	Attempt     int64
	RequestID   string
	Fingerprint []byte
	Fields      []byte
	Input       []byte
	Steps       []byte
	Looks       int
}

func (r unfinishedRow) unfinished() (domain.Unfinished, error) {
	id, err := uuid.Parse(r.Key)
	return domain.Unfinished{
		Scope: domain.Scope{Key: domain.KeyOfID(id, r.KeyText.String), Consumer: r.ConsumerID, Endpoint: r.EndpointID},
		Claim: domain.Claim{
			State: domain.State(r.State), Attempt: r.Attempt, Steps: r.Steps, Looks: r.Looks, Request: r.RequestID,
			Fingerprint: domain.Fingerprint{Sum: [32]byte(r.Fingerprint), Fields: r.Fields},
			FirstSeen:   time.UnixMicro(r.CreatedAt).UTC(),
		},
		Input: r.Input,
	}, err
}

// selectUnfinished finds the keys whose time to be looked at has come. A time that lies further ahead
// than it can was written by a clock that has since been corrected, and has come too. The state is asked
// for as well: an older release finishes a key without taking it off this list.
//
// Nor does an older release put a key on the list. Those it has claimed are found by their command, and
// are on the list once they have been taken over. They come first, or a long list would keep them out.
var selectUnfinished = `SELECT * FROM (SELECT ` + unfinishedColumns + ` FROM idempotency_keys
	WHERE look_at IS NULL AND input IS NOT NULL AND endpoint_id IN ?
	AND (lease_until <= NOW_MICROS - CAST(? AS bigint) OR lease_until > NOW_MICROS + CAST(? AS bigint))
	AND state IN (1, 2)
	ORDER BY lease_until LIMIT ?) AS unlisted
	UNION ALL
	SELECT * FROM (SELECT ` + unfinishedColumns + ` FROM idempotency_keys
	WHERE look_at IS NOT NULL AND endpoint_id IN ?
	AND (look_at <= NOW_MICROS OR look_at > NOW_MICROS + CASE state WHEN 1 THEN CAST(? AS bigint) ELSE CAST(? AS bigint) END)
	AND (state = 2 OR (state = 1 AND (lease_until <= NOW_MICROS OR lease_until > NOW_MICROS + ?)))
	ORDER BY look_at LIMIT ?) AS listed LIMIT ?`

const unfinishedColumns = `key, consumer_id, endpoint_id, key_text, created_at, state, attempt, request_id, fingerprint, fields,
	input, steps, coalesce(looks, 0) AS looks`

// Unfinished reads keys of these endpoints whose runs stopped, and whose time to be looked at has come
// by the database's clock: at most limit of them, those that wait longest. It locks nothing: whoever
// goes on with one has to take it over first.
func (db *DB) Unfinished(ctx context.Context, endpoints []int16, limit int) ([]domain.Unfinished, error) {
	var rows []unfinishedRow
	query := strings.ReplaceAll(selectUnfinished, "NOW_MICROS", db.dialect.micros)
	longest := domain.MaxLease.Microseconds()
	err := db.gorm.WithContext(ctx).Raw(query,
		endpoints, domain.LookAfterLease.Microseconds(), longest, limit,
		endpoints, lookAfter(domain.MaxLease), domain.MaxLookPause.Microseconds(), longest, limit, limit).Scan(&rows).Error
	if err != nil {
		return nil, err
	}
	list := make([]domain.Unfinished, len(rows))
	for i, r := range rows {
		if list[i], err = r.unfinished(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// OldestUnfinished is the age of the oldest key that has no final answer and for which nobody has been
// called yet. It is zero when there is none.
func (db *DB) OldestUnfinished(ctx context.Context) (time.Duration, error) {
	var first sql.NullInt64
	err := db.sql.QueryRowContext(ctx, db.dialect.placeholders(oldestUnfinished), domain.MaxLooks).Scan(&first)
	if err != nil || !first.Valid {
		return 0, err
	}
	return max(db.Now().Sub(time.UnixMicro(first.Int64)), 0), nil
}

const oldestUnfinished = `SELECT min(created_at) FROM idempotency_keys WHERE look_at IS NOT NULL AND state < 3 AND looks < ?`
