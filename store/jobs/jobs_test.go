package jobs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/jobs"
	"example.com/eenmaal/store/storetest"
)

// outbox counts what was sent; the first fail sends go wrong.
type outbox struct {
	mu   sync.Mutex
	fail int
	sent []domain.Mail
}

func (o *outbox) Send(_ context.Context, m domain.Mail) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail > 0 {
		o.fail--
		return errors.New("the server is busy")
	}
	o.sent = append(o.sent, m)
	return nil
}

func (o *outbox) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.sent)
}

func TestAJobRunsAfterItsCommitAndNeverWithoutOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db, mails := d.Open(t, time.Now), &outbox{fail: 1}
		queue, err := jobs.New(t.Context(), jobs.Config{DB: db, ListenURL: d.URL, Mailer: mails})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(queue.Close)
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		kept, undone := aMail(db.Now()), aMail(db.Now())
		tx := db.Begin()
		tx.InsertMail(kept)
		queue.Enqueue(tx, jobs.SendMail, kept.ID)
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		tx = db.Begin()
		tx.InsertMail(undone)
		queue.Enqueue(tx, jobs.SendMail, undone.ID)
		tx.MarkPaid(uuid.NewString()) // there is no such order, which undoes the transaction
		if err := tx.Commit(t.Context()); err == nil {
			t.Fatal("the commit should have failed")
		}
		deadline := time.Now().Add(20 * time.Second)
		for mails.count() == 0 && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := queue.Stop(stop); err != nil {
			t.Fatal(err)
		}
		if mails.count() != 1 || mails.sent[0].ID != kept.ID {
			t.Fatalf("sent %d mails, want the one that was committed", mails.count())
		}
		got, err := db.Mail(t.Context(), kept.ID)
		if err != nil || got.SentAt.IsZero() {
			t.Errorf("the mail is not noted as sent: %v %v", got.SentAt, err)
		}
		if _, err := db.Mail(t.Context(), undone.ID); domain.KindOf(err) != domain.NotFound {
			t.Errorf("the undone mail exists: %v", err)
		}
	})
}

func aMail(now time.Time) domain.Mail {
	id := uuid.NewString()
	return domain.Mail{ID: id, MessageID: id + "@shop", Kind: "order_paid", About: uuid.NewString(), To: "a@example.nl",
		Subject: "Paid", Text: "Paid", CreatedAt: now}
}

// TestTheJobOfAKilledWorkerIsTakenOver: such a job stays marked as running by somebody.
func TestTheJobOfAKilledWorkerIsTakenOver(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db, mails := d.Open(t, time.Now), &outbox{}
		queue, err := jobs.New(t.Context(), jobs.Config{DB: db, ListenURL: d.URL, Mailer: mails})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(queue.Close)
		mail := aMail(db.Now())
		tx := db.Begin()
		tx.InsertMail(mail)
		queue.Enqueue(tx, jobs.SendMail, mail.ID)
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		ago := "now() - interval '2 minutes'"
		if !db.Postgres() {
			ago = "datetime('now', '-2 minutes')"
		}
		if _, err := db.SQL().ExecContext(t.Context(), "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = "+ago); err != nil {
			t.Fatal(err)
		}
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(60 * time.Second); mails.count() == 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("nobody did the job")
			}
		}
		stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := queue.Stop(stop); err != nil {
			t.Fatal(err)
		}
	})
}
