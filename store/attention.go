package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
)

type attentionRow struct {
	ID        string
	Kind      string
	About     string
	Note      string
	CreatedAt time.Time
	SettledAt sql.NullTime
	SettledBy string
}

func (r attentionRow) attention() domain.Attention {
	return domain.Attention{ID: r.ID, Kind: r.Kind, About: r.About, Note: r.Note, CreatedAt: r.CreatedAt.UTC(),
		SettledAt: r.SettledAt.Time.UTC(), SettledBy: r.SettledBy}
}

// Attention reads what nobody has settled yet, oldest first.
func (db *DB) Attention(ctx context.Context) ([]domain.Attention, error) {
	var rows []attentionRow
	err := db.gorm.WithContext(ctx).Table("attention").Where("settled_at IS NULL").Order("created_at, id").Find(&rows).Error
	list := make([]domain.Attention, len(rows))
	for i, r := range rows {
		list[i] = r.attention()
	}
	return list, err
}

// ListAttention reads a part of the flags in a state, newest first: the open ones, or those that are
// settled.
func (db *DB) ListAttention(ctx context.Context, l domain.Listing) (domain.Part[domain.Attention], error) {
	query := db.gorm.WithContext(ctx).Table("attention").Where("settled_at IS NULL")
	if l.State == domain.FlagSettled {
		query = db.gorm.WithContext(ctx).Table("attention").Where("settled_at IS NOT NULL")
	}
	return listed(query, "id", l, attentionRow.attention, func(r attentionRow) string { return r.ID })
}

// Flagged reads one flag by its id, settled or not.
func (db *DB) Flagged(ctx context.Context, id string) (domain.Attention, error) {
	if _, err := uuid.Parse(id); err != nil {
		return domain.Attention{}, errNoAttention
	}
	var row attentionRow
	err := db.gorm.WithContext(ctx).Table("attention").Where("id = ?", id).Take(&row).Error
	return row.attention(), notFound(err, "attention_not_found", "There is no such flag.")
}

// FlagsAbout reads the flags about one thing, open or settled, oldest first.
func (db *DB) FlagsAbout(ctx context.Context, about string) ([]domain.Attention, error) {
	var rows []attentionRow
	err := db.gorm.WithContext(ctx).Table("attention").Where("about = ? AND kind IN ?", about, domain.AttentionKinds()).Order("id").Find(&rows).Error
	list := make([]domain.Attention, len(rows))
	for i, r := range rows {
		list[i] = r.attention()
	}
	return list, err
}

// Unsettled counts the things of a kind that a person still has to look at, of those that are asked for.
func (db *DB) Unsettled(ctx context.Context, kind string, about []string) (int, error) {
	var n int64
	err := db.gorm.WithContext(ctx).Table("attention").Where("settled_at IS NULL AND kind = ? AND about IN ?", kind, about).Count(&n).Error
	return int(n), err
}

// Flag queues a call for a person. What is flagged already stays as it is.
func (tx *Tx) Flag(kind, about, note string) {
	tx.queue(`INSERT INTO attention (id, kind, about, note, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (kind, about) DO NOTHING`,
		uuid.Must(uuid.NewV7()).String(), kind, about, note, tx.Now())
}

// FlagAnew queues a call for a person about something that may go wrong more than once: a flag that was
// settled is open again, with the note and the time of now. An open one stays as it is.
func (tx *Tx) FlagAnew(kind, about, note string) {
	tx.queue(`INSERT INTO attention (id, kind, about, note, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (kind, about) DO UPDATE
		SET note = excluded.note, created_at = excluded.created_at, settled_at = NULL, settled_by = '' WHERE attention.settled_at IS NOT NULL`,
		uuid.Must(uuid.NewV7()).String(), kind, about, note, tx.Now())
}

// AttentionCount counts what nobody has settled yet.
func (db *DB) AttentionCount(ctx context.Context) (n int64, err error) {
	err = db.gorm.WithContext(ctx).Table("attention").Where("settled_at IS NULL").Count(&n).Error
	return n, err
}

// SettleAttention notes who has settled a flag. One that is settled already, or unknown, is NotFound.
func (db *DB) SettleAttention(ctx context.Context, id, by string) error {
	if _, err := uuid.Parse(id); err != nil {
		return errNoAttention
	}
	tx := db.Begin()
	tx.queue(`UPDATE attention SET settled_at = ?, settled_by = ? WHERE id = ? AND settled_at IS NULL`, tx.Now(), by, id).
		orMissing(errNoAttention)
	return tx.Commit(ctx)
}

var errNoAttention = domain.Errorf(domain.NotFound, "attention_not_found", "Nothing open has this id.")

// SettleFlag queues settling the flag of a kind about one thing, if there is an open one.
func (tx *Tx) SettleFlag(kind, about, by string) {
	tx.queue(`UPDATE attention SET settled_at = ?, settled_by = ? WHERE kind = ? AND about = ? AND settled_at IS NULL`,
		tx.Now(), by, kind, about)
}
