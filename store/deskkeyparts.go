package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"example.com/eenmaal/domain"
)

// keyPlace is a place in the key table's own order.
type keyPlace struct {
	Key        string
	ConsumerID int64
	EndpointID int64
}

func (p keyPlace) String() string { return fmt.Sprintf("%s_%d_%d", p.Key, p.ConsumerID, p.EndpointID) }

func parseKeyPlace(text string) (keyPlace, error) {
	parts := strings.Split(text, "_")
	if len(parts) == 3 {
		id, err1 := uuid.Parse(parts[0])
		consumer, err2 := strconv.ParseInt(parts[1], 10, 64)
		endpoint, err3 := strconv.ParseInt(parts[2], 10, 16)
		if err1 == nil && err2 == nil && err3 == nil {
			return keyPlace{id.String(), consumer, endpoint}, nil
		}
	}
	return keyPlace{}, errCursor
}

// compared narrows a query to the keys on one side of a place. The first condition chooses the days, the
// second the row.
func (p keyPlace) compared(query *gorm.DB, than string) *gorm.DB {
	return query.Where("k.key "+than[:1]+"= ? AND (k.key, k.consumer_id, k.endpoint_id) "+than+" (?, ?, ?)", p.Key, p.Key, p.ConsumerID, p.EndpointID)
}

// pastKey puts a query into the cursor's direction, from the cursor on.
func pastKey(query *gorm.DB, cursor domain.Cursor) (*gorm.DB, error) {
	at, than, order := seeking(cursor)
	query = query.Order("k.key" + order + ", k.consumer_id" + order + ", k.endpoint_id" + order)
	if at == "" {
		return query, nil
	}
	place, err := parseKeyPlace(at)
	if err != nil {
		return nil, err
	}
	return place.compared(query, than), nil
}

// partOfKeys reads one part of a query. Its cursors are places.
func partOfKeys(query *gorm.DB, cursor domain.Cursor) (domain.Part[keyRecordRow], error) {
	rows, err := keysPast(query, cursor, KeysPerPage+1)
	return cutKeys(rows, cursor), err
}

func keysPast(query *gorm.DB, cursor domain.Cursor, limit int) (rows []keyRecordRow, err error) {
	query, err = pastKey(query, cursor)
	if err != nil {
		return nil, err
	}
	err = query.Limit(limit).Find(&rows).Error
	return rows, err
}

func cutKeys(rows []keyRecordRow, cursor domain.Cursor) domain.Part[keyRecordRow] {
	return cut(rows, cursor, KeysPerPage, func(r keyRecordRow) string {
		return keyPlace{r.Key, r.ConsumerID, int64(r.EndpointID)}.String()
	})
}

// A search looks through so many keys with one query, and begins no other one after so long: however large
// the table and however rare what is looked for, it stays far below the time that a statement may take.
const (
	keysWindow = 50_000
	keysLook   = time.Second
)

// searchKeys looks for what may be rare among some keys, until a part is full or it has looked long enough.
// Then the part ends where it stopped looking.
func (db *DB) searchKeys(ctx context.Context, query *gorm.DB, among string, cursor domain.Cursor) (part domain.Part[keyRecordRow], err error) {
	query = query.Session(&gorm.Session{})
	var rows []keyRecordRow
	var edge keyPlace
	from, newer, upTo, more := cursor, cursor.After != "", ">=", true
	if newer {
		upTo = "<="
	}
	for begin := time.Now(); more && len(rows) <= KeysPerPage && time.Since(begin) < keysLook; {
		if edge, more, err = db.keysEdge(ctx, among, from); err != nil {
			return part, err
		}
		window := query
		if more {
			window = edge.compared(query, upTo)
		}
		found, err := keysPast(window, from, KeysPerPage+1-len(rows))
		if err != nil {
			return part, err
		}
		rows = append(rows, found...)
		if from = (domain.Cursor{Before: edge.String()}); newer {
			from = domain.Cursor{After: edge.String()}
		}
	}
	part = cutKeys(rows, cursor)
	switch stopped := more && len(rows) <= KeysPerPage; {
	case stopped && newer:
		part.Newer = edge.String()
	case stopped:
		part.Older = edge.String()
	}
	return part, nil
}

// keysEdge gives the last key that a search from a cursor looks at. There is none when it looks at all that
// are left.
func (db *DB) keysEdge(ctx context.Context, among string, cursor domain.Cursor) (edge keyPlace, more bool, err error) {
	query, err := pastKey(db.gorm.WithContext(ctx).Table("idempotency_keys AS k").Select("k.key, k.consumer_id, k.endpoint_id").Where(among), cursor)
	if err != nil {
		return edge, false, err
	}
	var found []keyPlace
	err = query.Offset(keysWindow - 1).Limit(1).Find(&found).Error
	if err != nil || len(found) == 0 {
		return edge, false, err
	}
	return found[0], true, nil
}
