package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"example.com/eenmaal/domain"
)

// meaning gives the error queued for the constraint that err violates; an error that is no verdict
// of the server leaves the outcome unknown.
func (w write) meaning(err error) error {
	for name, meaning := range w.violations {
		if violates(err, name) {
			return meaning
		}
	}
	return lostOnTheWay(err)
}

// uniqueColumns translates unique constraints to the columns by which SQLite reports them.
var uniqueColumns = map[string]string{
	"idempotency_keys_pkey":          "idempotency_keys.key, idempotency_keys.consumer_id, idempotency_keys.endpoint_id",
	"orders_number_key":              "orders.number",
	"messages_reference_key":         "messages.reference",
	"orders_once_per_key":            "orders.key, orders.consumer_id",
	"payments_once_per_key":          "payments.key, payments.consumer_id",
	"payments_one_live_per_order":    "payments.order_id",
	"messages_once_per_key":          "messages.key, messages.consumer_id",
	"modifications_once_per_key":     "modifications.key, modifications.consumer_id, modifications.kind",
	"modifications_provider_key_key": "modifications.provider_key",
	"payments_by_provider_key":       "payments.provider_key",
	"address_changes_once_per_key":   "address_changes.key, address_changes.consumer_id",
	"cancellations_order_id_key":     "cancellations.order_id",
	"inbox_once_per_event":           "inbox.provider, inbox.event_id",

	"webhook_endpoints_once_per_key": "webhook_endpoints.key, webhook_endpoints.consumer_id",
	"webhook_endpoints_one_per_slot": "webhook_endpoints.consumer_id, webhook_endpoints.slot",
	"webhook_endpoints_one_per_url":  "webhook_endpoints.consumer_id, webhook_endpoints.url",
}

func violates(err error, constraint string) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		// On a partitioned table the violated index is the partition's: its name starts with the
		// partition's own. A not-null violation names the column instead.
		return pg.ConstraintName == constraint ||
			pg.Code == "23505" && constraint == keyConstraint && strings.HasPrefix(pg.TableName, "idempotency_keys") ||
			pg.Code == "23502" && pg.TableName+"."+pg.ColumnName == constraint
	}
	lite, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	name := constraint
	if columns, unique := uniqueColumns[constraint]; unique {
		name = columns
	}
	switch lite.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
		sqlite3.SQLITE_CONSTRAINT_CHECK, sqlite3.SQLITE_CONSTRAINT_NOTNULL:
		return strings.Contains(lite.Error(), "failed: "+name+" ") || strings.HasSuffix(lite.Error(), "failed: "+name)
	default:
		return false
	}
}

// isTransient reports errors that undid everything and may pass: serialization failure, deadlock,
// lock timeout, a session or a server that was shut down, a busy SQLite file.
func isTransient(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pg.Code {
		case "40001", "40P01", "55P03", "57P01", "57P02", "57P03":
			return true
		}
		return false
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return lite.Code()&0xff == sqlite3.SQLITE_BUSY
	}
	return false
}

// lostOnTheWay marks an error of a commit for which the server gave no verdict.
func lostOnTheWay(err error) error {
	if err == nil {
		return nil
	}
	if _, verdict := errors.AsType[*pgconn.PgError](err); verdict {
		return err
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok && lite.Code()&0xff != sqlite3.SQLITE_IOERR {
		return err // a file that could not be written tells nothing: the commit may be in it when it is read again
	}
	return fmt.Errorf("%w: %w", ErrCommitUnknown, err)
}

// notFound turns gorm's word for an absent row into ours.
func notFound(err error, code, message string) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return domain.Errorf(domain.NotFound, code, "%s", message)
	}
	return err
}

// IsDown reports whether err means that the database could not be reached, did not answer in time or had
// no room left, as opposed to a request it refused.
func IsDown(err error) bool {
	if errors.Is(err, ErrBusy) || errors.Is(err, context.DeadlineExceeded) || isTransient(err) {
		return true
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(pg.Code, "57P") || strings.HasPrefix(pg.Code, "08") || strings.HasPrefix(pg.Code, "53") || pg.Code == "57014"
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return slices.Contains([]int{sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}, lite.Code()&0xff)
	}
	if _, refused := errors.AsType[*pgconn.ConnectError](err); refused {
		return true
	}
	return isBroken(err) || isClosed(err)
}

// isClosed reports what a request sees that outlives the shutdown. The library does not export this error.
func isClosed(err error) bool {
	return err != nil && strings.Contains(err.Error(), "sql: database is closed")
}

// isBroken reports a connection that broke, in use or just before: what its first user sees of a server
// that went away, before anybody tries to connect again.
func isBroken(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone)
}
