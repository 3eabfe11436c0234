package store

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"example.com/eenmaal/domain"
)

// newestFirst reads one page of a query's rows by their id, newest first. Ids are made in the order of
// time, so that every page is read from an index where the page before it ended.
func newestFirst[Row, T any](query *gorm.DB, l domain.Listing, id string, convert func(Row) T, idOf func(T) string) (domain.Listed[T], error) {
	query, err := before(query, l, id)
	if err != nil {
		return domain.Listed[T]{}, err
	}
	var rows []Row
	if err := query.Order(id + " DESC").Limit(l.Limit + 1).Find(&rows).Error; err != nil {
		return domain.Listed[T]{}, err
	}
	page := domain.Listed[T]{Rows: make([]T, 0, len(rows))}
	for _, r := range rows[:min(l.Limit, len(rows))] {
		page.Rows = append(page.Rows, convert(r))
	}
	if len(rows) > l.Limit && l.Limit > 0 {
		page.Older = idOf(page.Rows[l.Limit-1])
	}
	return page, nil
}

// before lets the query begin where the page before ended.
func before(query *gorm.DB, l domain.Listing, id string) (*gorm.DB, error) {
	if l.Before == "" {
		return query, nil
	}
	cursor, err := uuid.Parse(l.Before)
	if err != nil {
		return nil, domain.Errorf(domain.Malformed, "cursor_malformed", "The cursor must be that of another page.")
	}
	return query.Where(id+" < ?", cursor.String()), nil
}

// searchWindow is how many rows are looked through for a text in one page. What is older is looked
// through by the next one, so that no search reads a whole table at once.
const searchWindow = 5000

// searched gives the query that looks for l.Text in a column of its newest rows, and the id of the last
// row that it looks at, which is empty when it looks at all that is left.
func searched(all *gorm.DB, l domain.Listing, id, column string) (query *gorm.DB, last string, err error) {
	window, err := before(all, l, id)
	if err != nil {
		return nil, "", err
	}
	var edge []string
	err = window.Session(&gorm.Session{}).Order(id+" DESC").Offset(searchWindow-1).Limit(1).Pluck(id, &edge).Error
	if err != nil {
		return nil, "", err
	}
	query = all.Session(&gorm.Session{}).Where("lower("+column+`) LIKE lower(?) ESCAPE '\'`, "%"+likeText(l.Text)+"%")
	if len(edge) > 0 {
		return query.Where(id+" >= ?", edge[0]), edge[0], nil
	}
	return query, "", nil
}

// likeText writes a text for LIKE so that it stands for itself.
func likeText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// ordersThings gives the ids of an order, its payments and their changes, for the number that people
// see. There are none when there is no such order.
func (db *DB) ordersThings(ctx context.Context, number string) (ids []string, err error) {
	err = db.gorm.WithContext(ctx).Raw(`WITH o AS (SELECT id FROM orders WHERE number = ?),
		p AS (SELECT payments.id FROM payments JOIN o ON payments.order_id = o.id)
		SELECT id FROM o UNION ALL SELECT id FROM p
		UNION ALL SELECT modifications.id FROM modifications JOIN p ON modifications.payment_id = p.id`, strings.ToUpper(number)).Find(&ids).Error
	return ids, err
}
