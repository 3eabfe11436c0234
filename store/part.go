package store

import (
	"slices"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"example.com/eenmaal/domain"
)

// partOf reads one part of a list that is newest first by an id whose order is that of time. query has
// the table and the conditions; idOf gives a row's id. It seeks by the id's index, so that the last
// page costs what the first does. A cursor that is no id is Malformed.
func partOf[R any](query *gorm.DB, column string, cursor domain.Cursor, limit int, idOf func(R) string) (domain.Part[R], error) {
	at, than, order := seeking(cursor)
	if _, err := uuid.Parse(at); at != "" && (err != nil || len(at) != 36) {
		return domain.Part[R]{}, errCursor
	}
	if at != "" {
		query = query.Where(column+" "+than+" ?", at)
	}
	var rows []R
	if err := query.Order(column + order).Limit(limit + 1).Find(&rows).Error; err != nil {
		return domain.Part[R]{}, err
	}
	return cut(rows, cursor, limit, idOf), nil
}

// seeking is how a list that is newest first is read on from a cursor: from which place, empty for the
// newest, how what is read compares with it, and in which order each column is read.
func seeking(cursor domain.Cursor) (at, than, order string) {
	if cursor.After != "" {
		return cursor.After, ">", ""
	}
	return cursor.Before, "<", " DESC"
}

var errCursor = domain.Errorf(domain.Malformed, "cursor_malformed", "The cursor must be one of another page.")

// cut makes a part of rows that were read in the cursor's direction, one more than the part may have. idOf
// gives the cursor at a row.
func cut[R any](rows []R, cursor domain.Cursor, limit int, idOf func(R) string) domain.Part[R] {
	newer := cursor.After != ""
	more := len(rows) > limit
	rows = rows[:min(limit, len(rows))]
	if newer {
		slices.Reverse(rows)
	}
	part := domain.Part[R]{Items: rows}
	if len(rows) == 0 {
		return part
	}
	if newer || more {
		part.Older = idOf(rows[len(rows)-1])
	}
	if newer && more || !newer && cursor.Before != "" {
		part.Newer = idOf(rows[0])
	}
	return part
}

// inPart changes what a part holds.
func inPart[R, T any](part domain.Part[R], change func(R) T) domain.Part[T] {
	out := domain.Part[T]{Items: make([]T, len(part.Items)), Older: part.Older, Newer: part.Newer}
	for i, r := range part.Items {
		out.Items[i] = change(r)
	}
	return out
}
