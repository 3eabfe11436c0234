package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"example.com/eenmaal/domain"
)

type messageRow struct {
	ID        string
	Reference string
	Name      string
	Email     string
	Message   string
	CreatedAt time.Time

	AnsweredAt sql.NullTime
	AnsweredBy string
}

func (r messageRow) message() domain.Message {
	return domain.Message{ID: r.ID, Reference: r.Reference, Name: r.Name, Email: r.Email, Text: r.Message, CreatedAt: r.CreatedAt.UTC(),
		AnsweredAt: r.AnsweredAt.Time.UTC(), AnsweredBy: r.AnsweredBy}
}

// MessageOf reads the newest contact message that a browser flow sent, if it sent one.
func (db *DB) MessageOf(ctx context.Context, consumer int64) (domain.Message, bool, error) {
	var rows []messageRow
	err := db.gorm.WithContext(ctx).Table("messages").Where("consumer_id = ? AND consumer_id < 0", consumer).
		Order("created_at DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return domain.Message{}, false, err
	}
	return rows[0].message(), true, nil
}

// InsertMessage queues a new contact message. A reference that another message has gives ErrStale.
func (tx *Tx) InsertMessage(m domain.Message, s domain.Scope) {
	tx.queue(`INSERT INTO messages (id, reference, name, email, message, consumer_id, key, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		m.ID, m.Reference, m.Name, m.Email, m.Text, s.Consumer, keyID(s), m.CreatedAt).
		or("messages_once_per_key", ErrKeySpent).or("messages_reference_key", ErrStale)
}

// Message reads one contact message by its id.
func (db *DB) Message(ctx context.Context, id string) (domain.Message, error) {
	var row messageRow
	err := error(gorm.ErrRecordNotFound)
	if _, malformed := uuid.Parse(id); malformed == nil {
		err = db.gorm.WithContext(ctx).Table("messages").Where("id = ?", id).Take(&row).Error
	}
	return row.message(), notFound(err, "message_not_found", "There is no such message.")
}

// inMessages are the conditions for the states of a message. Each names what its index is made of.
var inMessages = map[string]string{
	"":                     "1 = 1",
	domain.MessageOpen:     "answered_at IS NULL",
	domain.MessageAnswered: "answered_at IS NOT NULL",
}

// ListMessages reads a part of the contact messages, newest first. l.Text is a reference, an address, or
// words that the message holds. For words, a page looks through a number of messages only, so it may have
// few rows or none and still be followed by an older one.
func (db *DB) ListMessages(ctx context.Context, l domain.Listing) (domain.Part[domain.Message], error) {
	condition, known := inMessages[l.State]
	if !known {
		return domain.Part[domain.Message]{}, nil
	}
	query := db.gorm.WithContext(ctx).Table("messages").Where(condition)
	switch {
	case l.Text == "":
	case isReference(l.Text):
		query = query.Where("reference = ?", strings.ToUpper(l.Text))
	case strings.Contains(l.Text, "@") && !strings.Contains(l.Text, " "):
		query = query.Where("lower(email) = lower(?)", l.Text)
	default:
		return db.searchMessages(query, l)
	}
	return listed(query, "id", l, messageRow.message, func(r messageRow) string { return r.ID })
}

// searchMessages looks for words, from the newest message on. The way back is the browser's.
func (db *DB) searchMessages(query *gorm.DB, l domain.Listing) (domain.Part[domain.Message], error) {
	l.After = ""
	if _, err := uuid.Parse(l.Before); l.Before != "" && err != nil {
		return domain.Part[domain.Message]{}, domain.Errorf(domain.Malformed, "cursor_malformed", "The cursor must be one of another page.")
	}
	found, last, err := searched(query.Session(&gorm.Session{}), l, "id", "message")
	if err != nil {
		return domain.Part[domain.Message]{}, err
	}
	part, err := listed(found, "id", l, messageRow.message, func(r messageRow) string { return r.ID })
	if part.Newer = ""; part.Older == "" {
		part.Older = last
	}
	return part, err
}

// isReference reports whether a text is what the sender of a message may quote.
func isReference(s string) bool {
	return len(s) > 2 && strings.EqualFold(s[:2], "C-") && !strings.Contains(s, " ")
}

// AnswerMessage notes who of the staff has answered a message. Who did so first stays.
func (db *DB) AnswerMessage(ctx context.Context, id, by string) error {
	tx := db.Begin()
	tx.queue(`UPDATE messages SET answered_at = ?, answered_by = ? WHERE id = ? AND answered_at IS NULL`, tx.Now(), by, id)
	return tx.Commit(ctx)
}
