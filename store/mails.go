package store

import (
	"context"
	"database/sql"
	"time"

	"example.com/eenmaal/domain"
)

type mailRow struct {
	ID        string
	MessageID string
	Kind      string
	About     string
	Recipient string
	Subject   string
	Body      string
	CreatedAt time.Time
	SentAt    sql.NullTime
}

func (r mailRow) mail() domain.Mail {
	return domain.Mail{ID: r.ID, MessageID: r.MessageID, Kind: r.Kind, About: r.About, To: r.Recipient,
		Subject: r.Subject, Text: r.Body, CreatedAt: r.CreatedAt.UTC(), SentAt: r.SentAt.Time}
}

// InsertMail queues a mail to be kept; sending it is a job's work. A second mail of one kind about
// one thing is not made.
func (tx *Tx) InsertMail(m domain.Mail) {
	tx.queue(`INSERT INTO mails (id, message_id, kind, about, recipient, subject, body, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (about, kind) DO NOTHING`,
		m.ID, m.MessageID, m.Kind, m.About, m.To, m.Subject, m.Text, m.CreatedAt)
}

// Mail reads one mail by its id.
func (db *DB) Mail(ctx context.Context, id string) (domain.Mail, error) {
	var row mailRow
	err := db.gorm.WithContext(ctx).Table("mails").Where("id = ?", id).Take(&row).Error
	return row.mail(), notFound(err, "mail_not_found", "There is no such mail.")
}

// Mails reads the newest mails.
func (db *DB) Mails(ctx context.Context, limit int) ([]domain.Mail, error) {
	return db.mailsWhere(ctx, limit, "1 = 1")
}

// MailsAbout reads the mails about one thing, such as an order's id.
func (db *DB) MailsAbout(ctx context.Context, id string) ([]domain.Mail, error) {
	return db.mailsWhere(ctx, 100, "about = ?", id)
}

func (db *DB) mailsWhere(ctx context.Context, limit int, condition string, args ...any) ([]domain.Mail, error) {
	var rows []mailRow
	err := db.gorm.WithContext(ctx).Table("mails").Where(condition, args...).Order("created_at DESC, id").Limit(limit).Find(&rows).Error
	mails := make([]domain.Mail, len(rows))
	for i, r := range rows {
		mails[i] = r.mail()
	}
	return mails, err
}

// MarkSent notes that a server accepted the mail.
func (db *DB) MarkSent(ctx context.Context, id string) error {
	tx := db.Begin()
	tx.queue(`UPDATE mails SET sent_at = ? WHERE id = ? AND sent_at IS NULL`, db.Now(), id)
	return tx.Commit(ctx)
}
