package store

import (
	"context"
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

func (r attentionRow) attention() domain.Attention {
	return domain.Attention{ID: r.ID, Kind: r.Kind, About: r.About, Note: r.Note, CreatedAt: r.CreatedAt.UTC()}
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
