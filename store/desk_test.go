package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestAFlagThatIsRaisedAnewIsOpenAgain: what can go wrong more than once calls more than once, and an
// open call is not made a second time.
func TestAFlagThatIsRaisedAnewIsOpenAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		clock := &storetest.Clock{}
		db := d.Open(t, clock.Now)
		anew := func(note string) domain.Attention {
			t.Helper()
			clock.Move(time.Minute)
			tx := db.Begin()
			tx.FlagAnew(domain.DeadDelivery, "a", note)
			must(t, tx.Commit(t.Context()))
			page, err := db.ListAttention(t.Context(), domain.Listing{Limit: 9})
			must(t, err)
			if len(page.Items) != 1 {
				t.Fatalf("%d are open", len(page.Items))
			}
			return page.Items[0]
		}
		first := anew("first")
		if again := anew("again"); again.Note != "first" || !again.CreatedAt.Equal(first.CreatedAt) {
			t.Errorf("an open flag became another: %+v", again)
		}
		must(t, db.SettleAttention(t.Context(), first.ID, "sanne"))
		settled, err := db.Flagged(t.Context(), first.ID)
		if err != nil || settled.Open() || settled.SettledBy != "sanne" {
			t.Errorf("settled: %+v %v", settled, err)
		}
		if again := anew("anew"); again.Note != "anew" || !again.Open() || again.SettledBy != "" || !again.CreatedAt.After(first.CreatedAt) {
			t.Errorf("not open again: %+v", again)
		}
		for _, id := range []string{"no id", uuid.NewString()} {
			if _, err := db.Flagged(t.Context(), id); domain.KindOf(err) != domain.NotFound {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}

// TestAMailIsDeadUntilItIsSentAfterAll: the states of a mail follow each other, and only a dead one is
// revived.
func TestAMailIsDeadUntilItIsSentAfterAll(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		id := uuid.NewString()
		revive := func() error {
			tx := db.Begin()
			tx.ReviveMail(id)
			return tx.Commit(t.Context())
		}
		state := func(want domain.MailState, flags int64) {
			t.Helper()
			mail, err := db.Mail(t.Context(), id)
			must(t, err)
			n, err := db.AttentionCount(t.Context())
			if err != nil || mail.State() != want || n != flags || mail.MessageID != id+"@shop" {
				t.Errorf("%s as %s with %d flags, want %s with %d; %v", mail.MessageID, mail.State(), n, want, flags, err)
			}
		}
		tx := db.Begin()
		tx.InsertMail(domain.Mail{ID: id, MessageID: id + "@shop", Kind: "order_paid", About: uuid.NewString(), To: "a@example.nl", CreatedAt: db.Now()})
		must(t, tx.Commit(t.Context()))
		state(domain.MailWaiting, 0)
		if err := revive(); !errors.Is(err, store.ErrStale) {
			t.Errorf("revived what lives: %v", err)
		}
		must(t, db.MarkDead(t.Context(), id, "not accepted"))
		state(domain.MailGivenUp, 1)
		must(t, revive())
		state(domain.MailWaiting, 1)
		must(t, db.MarkDead(t.Context(), id, "not accepted"))
		must(t, db.MarkSent(t.Context(), id))
		state(domain.MailSent, 0)
		must(t, db.MarkDead(t.Context(), id, "too late"))
		if err := revive(); !errors.Is(err, store.ErrStale) {
			t.Errorf("revived what was sent: %v", err)
		}
		state(domain.MailSent, 0)
	})
}

// TestAMessageIsAnsweredOnce: who did so first stays.
func TestAMessageIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		m := message(db)
		tx := db.Begin()
		tx.InsertMessage(m, scope(t))
		must(t, tx.Commit(t.Context()))
		must(t, db.AnswerMessage(t.Context(), m.ID, "sanne"))
		must(t, db.AnswerMessage(t.Context(), m.ID, "piet"))
		got, err := db.Message(t.Context(), m.ID)
		if err != nil || got.AnsweredBy != "sanne" || got.AnsweredAt.IsZero() || got.Text != m.Text {
			t.Errorf("%+v %v", got, err)
		}
		if _, err := db.Message(t.Context(), "no id"); domain.KindOf(err) != domain.NotFound {
			t.Errorf("no id: %v", err)
		}
	})
}
