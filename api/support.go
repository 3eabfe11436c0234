package api

import (
	"context"
	"errors"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
)

// What the staff does at the desk and what has no key: the row itself says whether it was done, so
// doing it twice is doing it once. by is the name of who did it.

// SettleAttention notes that a person has dealt with a flag. Who did so first stays. A payment in doubt
// is settled by saying what became of it (SettleUnknown), or by the provider.
func (a *API) SettleAttention(ctx context.Context, id, by string) error {
	flag, err := a.db.Flagged(ctx, id)
	if err != nil || !flag.Open() {
		return err
	}
	if flag.Kind == domain.PaymentInDoubt {
		pay, err := a.db.Payment(ctx, flag.About)
		if err != nil {
			return err
		}
		if pay.Status == domain.PaymentUnknown {
			return domain.Errorf(domain.Refused, "payment_in_doubt", "The payment is in doubt. Say first whether it was charged.")
		}
	}
	err = a.db.SettleAttention(ctx, id, by)
	if domain.KindOf(err) == domain.NotFound {
		return nil // somebody was faster
	}
	return err
}

// AnswerMessage notes that a contact message is answered. Who did so first stays.
func (a *API) AnswerMessage(ctx context.Context, id, by string) error {
	if _, err := a.db.Message(ctx, id); err != nil {
		return err
	}
	return a.db.AnswerMessage(ctx, id, by)
}

// ResendMail has a mail that was given up sent after all, under the Message-ID that it always had. One
// that waits or was sent is left alone.
func (a *API) ResendMail(ctx context.Context, id, by string) error {
	id, err := parseID(id, "mail")
	if err != nil {
		return err
	}
	mail, err := a.db.Mail(ctx, id)
	if err != nil || mail.State() != domain.MailGivenUp {
		return err
	}
	return a.revive(ctx, func(tx *store.Tx) {
		tx.ReviveMail(id)
		tx.SettleFlag(domain.MailDead, id, by)
		a.jobs.Enqueue(tx, jobs.SendMail, id)
	})
}

// RetryEvent has an event that waits or was given up looked at anew, now. One that had its effect is
// left alone. One that could not be read is refused. Its job is one, however often this is asked for.
func (a *API) RetryEvent(ctx context.Context, id, by string) error {
	id, err := parseID(id, "event")
	if err != nil {
		return err
	}
	event, err := a.db.InboxEvent(ctx, id)
	if err != nil {
		return err
	}
	if !event.Readable() {
		return domain.Errorf(domain.Refused, "event_unreadable", "The event cannot be read, so trying it again changes nothing.")
	}
	if !event.Retryable() {
		return nil
	}
	return a.revive(ctx, func(tx *store.Tx) {
		tx.RetryInboxEvent(id)
		tx.SettleFlag(domain.PoisonEvent, id, by)
		a.jobs.Hurry(tx, jobs.ApplyEvent, id)
	})
}

// revive commits that something is tried anew, with its job. When it is not dead any more, somebody else
// has done so.
func (a *API) revive(ctx context.Context, fn func(tx *store.Tx)) error {
	tx := a.db.Begin()
	fn(tx)
	err := tx.Commit(ctx)
	if errors.Is(err, store.ErrStale) {
		return nil
	}
	return err
}
