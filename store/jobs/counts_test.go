package jobs_test

import (
	"context"
	"testing"
	"time"

	"example.com/eenmaal/store/jobs"
	"example.com/eenmaal/store/storetest"
)

// TestTheOldestJobOfAKindIsToldUntilItIsDone: it is how far the outbox and the inbox are behind.
func TestTheOldestJobOfAKindIsToldUntilItIsDone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db, mails := d.Open(t, time.Now), &outbox{}
		queue, err := jobs.New(t.Context(), jobs.Config{DB: db, ListenURL: d.URL, Mailer: mails})
		must(t, err)
		t.Cleanup(queue.Close)
		oldest := func(kind jobs.Kind) time.Duration {
			t.Helper()
			counts, err := queue.Counts(t.Context())
			must(t, err)
			age, told := counts.Oldest[string(kind)]
			if !told {
				t.Errorf("nothing is told of %s", kind)
			}
			return age
		}
		for range 2 {
			mail := aMail(db.Now())
			tx := db.Begin()
			tx.InsertMail(mail)
			queue.Enqueue(tx, jobs.SendMail, mail.ID)
			must(t, tx.Commit(t.Context()))
		}
		ago := "now() - interval '1 hour'"
		if !db.Postgres() {
			ago = "datetime('now', '-1 hour')"
		}
		_, err = db.SQL().ExecContext(t.Context(), "UPDATE river_job SET created_at = "+ago+" WHERE id = (SELECT min(id) FROM river_job)")
		must(t, err)
		if got := oldest(jobs.SendMail); got < time.Hour-time.Second || got > time.Hour+5*time.Minute {
			t.Errorf("the oldest mail is %s old, want an hour", got)
		}
		if got := oldest(jobs.ApplyEvent); got != 0 {
			t.Errorf("the oldest event is %s old, but there is none", got)
		}
		must(t, queue.Start(t.Context()))
		for deadline := time.Now().Add(30 * time.Second); oldest(jobs.SendMail) != 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the mails are sent, and still told as waiting")
			}
		}
		stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		must(t, queue.Stop(stop))
	})
}
