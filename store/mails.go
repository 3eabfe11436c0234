package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
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
	Language  string
	CreatedAt time.Time
	SentAt    sql.NullTime
	DeadAt    sql.NullTime
}

func (r mailRow) mail() domain.Mail {
	return domain.Mail{ID: r.ID, MessageID: r.MessageID, Kind: r.Kind, About: r.About, To: r.Recipient,
		Subject: r.Subject, Text: r.Body, Language: r.Language, CreatedAt: r.CreatedAt.UTC(), SentAt: r.SentAt.Time.UTC(), DeadAt: r.DeadAt.Time.UTC()}
}

// mailColumns are those of a mail, and the language that it is written in: that of the order which it is
// about, or whose payment or change of a payment it is about. Each is named: a table may grow while it is read.
const mailColumns = `id, message_id, kind, about, recipient, subject, body, created_at, sent_at, dead_at, coalesce(
	(SELECT language FROM orders WHERE orders.id = mails.about),
	(SELECT language FROM orders JOIN payments ON payments.order_id = orders.id WHERE payments.id = mails.about),
	(SELECT language FROM orders JOIN payments ON payments.order_id = orders.id
		JOIN modifications ON modifications.payment_id = payments.id WHERE modifications.id = mails.about), '') AS language`

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
	err := db.gorm.WithContext(ctx).Table("mails").Select(mailColumns).Where("id = ?", id).Take(&row).Error
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
	err := db.gorm.WithContext(ctx).Table("mails").Select(mailColumns).Where(condition, args...).Order("created_at DESC, id").Limit(limit).Find(&rows).Error
	mails := make([]domain.Mail, len(rows))
	for i, r := range rows {
		mails[i] = r.mail()
	}
	return mails, err
}

// inMails are the conditions for the states of a mail. Each names what its index is made of.
var inMails = map[string]string{
	"":                         "1 = 1",
	string(domain.MailWaiting): "sent_at IS NULL AND dead_at IS NULL",
	string(domain.MailSent):    "sent_at IS NOT NULL",
	string(domain.MailGivenUp): "dead_at IS NOT NULL",
}

// ListMails reads a part of the mails, newest first. l.State is a domain.MailState; l.Text an address, or
// the number of an order that the mails are about.
func (db *DB) ListMails(ctx context.Context, l domain.Listing) (domain.Part[domain.Mail], error) {
	condition, known := inMails[l.State]
	if !known {
		return domain.Part[domain.Mail]{}, nil
	}
	query := db.gorm.WithContext(ctx).Table("mails").Select(mailColumns).Where(condition)
	switch {
	case strings.Contains(l.Text, "@"):
		query = query.Where("lower(recipient) = lower(?)", l.Text)
	case l.Text != "":
		things, err := db.ordersThings(ctx, l.Text)
		if err != nil || len(things) == 0 {
			return domain.Part[domain.Mail]{}, err
		}
		query = query.Where("about IN ?", things)
	}
	return listed(query, "id", l, mailRow.mail, func(r mailRow) string { return r.ID })
}

// MarkSent notes that a server accepted the mail. Should it have been given up, that is over.
func (db *DB) MarkSent(ctx context.Context, id string) error {
	tx := db.Begin()
	tx.queue(`UPDATE mails SET sent_at = ?, dead_at = NULL WHERE id = ? AND sent_at IS NULL`, db.Now(), id)
	tx.SettleFlag(domain.MailDead, id, "the mail server")
	return tx.Commit(ctx)
}

// MarkDead notes that no more tries to send the mail are to come, and calls for a person. One that was
// sent is left alone.
func (db *DB) MarkDead(ctx context.Context, id, note string) error {
	tx := db.Begin()
	tx.queue(`UPDATE mails SET dead_at = ? WHERE id = ? AND sent_at IS NULL`, db.Now(), id).orMissing(ErrStale)
	tx.FlagAnew(domain.MailDead, id, note)
	err := tx.Commit(ctx)
	if errors.Is(err, ErrStale) {
		return nil
	}
	return err
}

// ReviveMail queues that a mail which was given up is to be sent after all. ErrStale says that it is in
// another state.
func (tx *Tx) ReviveMail(id string) {
	tx.queue(`UPDATE mails SET dead_at = NULL WHERE id = ? AND dead_at IS NOT NULL AND sent_at IS NULL`, id).orMissing(ErrStale)
}
