package simulated

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"example.com/eenmaal/domain"
)

// entry is one line of the ledger: the charge that everybody sees, and what only the provider knows.
type entry struct {
	charge
	manual    bool
	pageURL   string // of the hosted page, when there is one
	returnURL string
	pageToken string
}

const entryColumns = `id, reference, idempotency_key, amount, currency, status, captured, voided, refunded, version,
	manual, redirect_url, return_url, page_token, created_at, updated_at`

func scanEntry(row interface{ Scan(...any) error }) (entry, error) {
	var e entry
	var made, changed int64
	err := row.Scan(&e.ID, &e.Reference, &e.IdempotencyKey, &e.Amount, &e.Currency, &e.Status, &e.Captured, &e.Voided,
		&e.Refunded, &e.Version, &e.manual, &e.pageURL, &e.returnURL, &e.pageToken, &made, &changed)
	e.CreatedAt, e.UpdatedAt = time.UnixMilli(made).UTC(), time.UnixMilli(changed).UTC()
	if e.is(domain.ChargePending) {
		e.RedirectURL = e.pageURL
	}
	return e, err
}

func insertEntry(ctx context.Context, tx *sql.Tx, e entry) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO charges (`+entryColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.ID, e.Reference, e.IdempotencyKey, e.Amount, e.Currency, e.Status, e.Captured, e.Voided,
		e.Refunded, e.Version, e.manual, e.pageURL, e.returnURL, e.pageToken, e.CreatedAt.UnixMilli(), e.UpdatedAt.UnixMilli())
	return err
}

// entry gives one line. found is false when there is none.
func (l *ledger) entry(ctx context.Context, id string) (e entry, found bool, err error) {
	e, err = scanEntry(l.db.QueryRowContext(ctx, `SELECT `+entryColumns+` FROM charges WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return entry{}, false, nil
	}
	return e, err == nil, err
}

// charges lists by reference and key, oldest first; an empty filter matches everything.
func (l *ledger) charges(ctx context.Context, reference, key string) ([]charge, error) {
	where, args := chargesWhere(reference, key)
	return l.list(ctx, where+" ORDER BY seq", args...)
}

// list reads the charges of a condition and what follows it. The list is never nil.
func (l *ledger) list(ctx context.Context, where string, args ...any) ([]charge, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT `+entryColumns+` FROM charges WHERE `+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err below tells what matters
	list := []charge{}
	for rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, e.charge)
	}
	return list, rows.Err()
}

// chargesWhere names only the columns that are asked for, so that each query can use its index.
func chargesWhere(reference, key string) (where string, args []any) {
	where = "true"
	if reference != "" {
		where, args = where+" AND reference = ?", append(args, reference)
	}
	if key != "" {
		where, args = where+" AND idempotency_key = ?", append(args, key)
	}
	return where, args
}

// settle ends the wait of a pending charge. settled is false, and nothing is written, when it had
// ended before.
func settle(ctx context.Context, tx *sql.Tx, id string, outcome domain.ChargeStatus, at time.Time) (e entry, settled bool, err error) {
	return changed(tx.QueryRowContext(ctx, `
		UPDATE charges SET version = version + 1, updated_at = ?3, status = ?2, captured = CASE ?2 WHEN 'succeeded' THEN amount ELSE 0 END
		WHERE id = ?1 AND status = 'pending' RETURNING `+entryColumns, id, outcome, at.UnixMilli()))
}

// change takes a capture, void or refund out of what the charge has left for it. done is false, and
// nothing is written, when that is less than amount. A void takes all that was not captured.
func change(ctx context.Context, tx *sql.Tx, kind domain.ModificationKind, id string, amount int64, at time.Time) (e entry, done bool, err error) {
	return changed(tx.QueryRowContext(ctx, changes[kind]+entryColumns, id, amount, at.UnixMilli()))
}

// changes are conditional updates: whoever comes second finds the condition false.
var changes = map[domain.ModificationKind]string{
	domain.Capture: `
		UPDATE charges SET version = version + 1, updated_at = ?3, captured = captured + ?2, status = 'succeeded'
		WHERE id = ?1 AND status IN ('authorized', 'succeeded') AND captured + voided + ?2 <= amount RETURNING `,
	domain.Void: `
		UPDATE charges SET version = version + 1, updated_at = ?3, voided = amount - captured,
			status = CASE captured WHEN 0 THEN 'voided' ELSE status END
		WHERE id = ?1 AND status IN ('authorized', 'succeeded') AND captured + voided < amount RETURNING `,
	domain.Refund: `
		UPDATE charges SET version = version + 1, updated_at = ?3, refunded = refunded + ?2
		WHERE id = ?1 AND status = 'succeeded' AND refunded + ?2 <= captured RETURNING `,
}

func changed(row *sql.Row) (entry, bool, error) {
	e, err := scanEntry(row)
	if errors.Is(err, sql.ErrNoRows) {
		return entry{}, false, nil
	}
	return e, err == nil, err
}

// overdue lists the charges that have been pending since before.
func (l *ledger) overdue(ctx context.Context, before time.Time) (ids []string, err error) {
	rows, err := l.db.QueryContext(ctx, `SELECT id FROM charges WHERE status = 'pending' AND created_at <= ?`, before.UnixMilli())
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err below tells what matters
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
