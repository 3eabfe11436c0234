package jobs

import (
	"context"
	"fmt"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store"
)

// mailTries is how often a mail is tried before it is given up, in about three weeks of growing pauses.
const mailTries = 25

// sendMail sends a mail unless an earlier run noted that it was sent. A crash between sending and
// noting sends it again, under the same Message-ID.
func sendMail(db *store.DB, mailer domain.Mailer) Handler {
	return Handler{Tries: mailTries, Work: func(ctx context.Context, id string, try int) error {
		mail, err := db.Mail(ctx, id)
		if err != nil {
			return err
		}
		if mailer == nil || !mail.SentAt.IsZero() {
			return nil
		}
		// Given up before the last try: who is killed in the middle of it notes nothing more.
		if try >= mailTries {
			if err := db.MarkDead(ctx, id, fmt.Sprintf("mail %s was not accepted in %d tries", mail.Kind, try)); err != nil {
				return err
			}
		}
		if err := mailer.Send(ctx, mail); err != nil {
			return fmt.Errorf("send mail %s: %w", mail.ID, err)
		}
		if err := fault.Point(ctx, "after_mail"); err != nil {
			return err
		}
		return db.MarkSent(ctx, mail.ID)
	}}
}
