package store

import (
	"context"
	"time"

	"example.com/eenmaal/domain"
)

type messageRow struct {
	ID        string
	Reference string
	Name      string
	Email     string
	Message   string
	CreatedAt time.Time
}

// MessageOf reads the newest contact message that a browser flow sent, if it sent one.
func (db *DB) MessageOf(ctx context.Context, consumer int64) (domain.Message, bool, error) {
	var rows []messageRow
	err := db.gorm.WithContext(ctx).Table("messages").Where("consumer_id = ? AND consumer_id < 0", consumer).
		Order("created_at DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return domain.Message{}, false, err
	}
	r := rows[0]
	return domain.Message{ID: r.ID, Reference: r.Reference, Name: r.Name, Email: r.Email, Text: r.Message, CreatedAt: r.CreatedAt.UTC()}, true, nil
}

// InsertMessage queues a new contact message. A reference that another message has gives ErrStale.
func (tx *Tx) InsertMessage(m domain.Message, s domain.Scope) {
	tx.queue(`INSERT INTO messages (id, reference, name, email, message, consumer_id, key, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		m.ID, m.Reference, m.Name, m.Email, m.Text, s.Consumer, keyID(s), m.CreatedAt).
		or("messages_once_per_key", ErrKeySpent).or("messages_reference_key", ErrStale)
}
