package jobs_test

import (
	"context"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/jobs"
	"example.com/eenmaal/store/storetest"
)

// TestAMailThatNobodyTakesIsDeadAndCallsAPerson, and one that is taken at the last try is neither.
func TestAMailThatNobodyTakesIsDeadAndCallsAPerson(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		for _, fails := range []int{0, 1} {
			db, mails := d.Open(t, time.Now), &outbox{fail: fails}
			queue, err := jobs.New(t.Context(), jobs.Config{DB: db, ListenURL: d.URL, Mailer: mails})
			must(t, err)
			t.Cleanup(queue.Close)
			mail := aMail(db.Now())
			tx := db.Begin()
			tx.InsertMail(mail)
			queue.Enqueue(tx, jobs.SendMail, mail.ID)
			must(t, tx.Commit(t.Context()))
			_, err = db.SQL().ExecContext(t.Context(), "UPDATE river_job SET attempt = max_attempts - 1 WHERE state = 'available'")
			must(t, err)
			must(t, queue.Start(t.Context()))
			ended := func() bool {
				counts, err := queue.Counts(t.Context())
				must(t, err)
				return counts.Waiting+counts.Running == 0
			}
			for end := time.Now().Add(30 * time.Second); !ended(); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the job does not end")
				}
			}
			stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			must(t, queue.Stop(stop))
			got, err := db.Mail(t.Context(), mail.ID)
			must(t, err)
			open, err := db.AttentionCount(t.Context())
			must(t, err)
			want := map[int]domain.MailState{0: domain.MailSent, 1: domain.MailGivenUp}[fails]
			if got.State() != want || open != int64(fails) || mails.count() != 1-fails {
				t.Errorf("%d fails: the mail is %s, %d flags, %d sent", fails, got.State(), open, mails.count())
			}
		}
	})
}
