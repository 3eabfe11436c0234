package store

import (
	"context"
	"strings"

	"gorm.io/gorm"

	"example.com/eenmaal/domain"
)

// listed reads one part of a list as what it is to the domain.
func listed[R, T any](query *gorm.DB, column string, l domain.Listing, change func(R) T, idOf func(R) string) (domain.Part[T], error) {
	part, err := partOf(query, column, l.Cursor, l.Limit, idOf)
	return inPart(part, change), err
}

// searchWindow is how many rows are looked through for a text in one part. What is older is looked
// through by the next one, so that no search reads a whole table at once.
const searchWindow = 5000

// searched gives the query that looks for a text in a column of the newest rows before a cursor, and the
// id of the last row that it looks at, which is empty when it looks at all that is left.
func searched(all *gorm.DB, l domain.Listing, id, column string) (query *gorm.DB, last string, err error) {
	window := all
	if l.Before != "" {
		window = all.Where(id+" < ?", l.Before)
	}
	var edge []string
	if err := window.Order(id+" DESC").Offset(searchWindow-1).Limit(1).Pluck(id, &edge).Error; err != nil {
		return nil, "", err
	}
	query = all.Where("lower("+column+`) LIKE lower(?) ESCAPE '\'`, "%"+likeText(l.Text)+"%")
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
