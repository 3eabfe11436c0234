package api_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// TestASecondClickAtTheDeskChangesNothing: flags, messages and mails keep who was first, and a mail is
// sent again once, under the Message-ID that it had.
func TestASecondClickAtTheDeskChangesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		order, _ := s.newOrder()
		wantStatus(t, "pay", s.pay(newKey(), order, "tok_ok"), 201)
		wantStatus(t, "contact", s.do(call{path: "/v1/contact-messages", key: newKey(), body: contactBody}), 201)
		mail, message := s.texts("SELECT id FROM mails")[0], s.texts("SELECT id FROM messages")[0]
		messageID := s.texts("SELECT message_id FROM mails")[0]
		must(t, s.ResendMail(t.Context(), mail, "sanne")) // it lives
		jobsOf := func() int { return s.count("SELECT count(*) FROM river_job WHERE kind = 'send_mail'") }
		if jobsOf() != 1 {
			t.Fatalf("%d jobs for a mail that waits", jobsOf())
		}
		must(t, s.db.MarkDead(t.Context(), mail, "not accepted"))
		tx := s.db.Begin()
		tx.Flag("paid_in_vain", "x", "to look at")
		must(t, tx.Commit(t.Context()))
		var flag string
		for _, a := range must2(s.db.Attention(t.Context()))(t) {
			if a.Kind == "paid_in_vain" {
				flag = a.ID
			}
		}
		for _, who := range []string{"sanne", "piet"} {
			must(t, s.ResendMail(t.Context(), mail, who))
			must(t, s.AnswerMessage(t.Context(), message, who))
			must(t, s.SettleAttention(t.Context(), flag, who))
		}
		if got := s.texts("SELECT answered_by FROM messages UNION ALL SELECT settled_by FROM attention"); len(got) != 3 || got[0] != "sanne" || got[1] != "sanne" || got[2] != "sanne" {
			t.Errorf("done by %v", got)
		}
		if jobsOf() != 2 || s.texts("SELECT message_id FROM mails")[0] != messageID || s.count("SELECT count(*) FROM mails WHERE dead_at IS NOT NULL") != 0 {
			t.Errorf("%d jobs; Message-ID %v", jobsOf(), s.texts("SELECT message_id FROM mails"))
		}
		for _, id := range []string{uuid.NewString(), "no id", "' OR 1=1"} {
			for what, err := range map[string]error{"settle": s.SettleAttention(t.Context(), id, "sanne"), "answer": s.AnswerMessage(t.Context(), id, "sanne"),
				"resend": s.ResendMail(t.Context(), id, "sanne"), "retry": s.RetryEvent(t.Context(), id, "sanne")} {
				if domain.KindOf(err) != domain.NotFound {
					t.Errorf("%s %q: %v", what, id, err)
				}
			}
		}
	})
}

func must2[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T { t.Helper(); must(t, err); return v }
}

// TestAnEventIsTriedAgainOnRequest: a poison one, once what it is about is right, has its effect once,
// however often it is asked for; one that still does not fit calls for a person anew.
func TestAnEventIsTriedAgainOnRequest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		_, number, payment := s.atBank()
		e := s.news("charge.succeeded", number, approved(2))
		s.exec("UPDATE payments SET amount = amount + 1")
		wantStatus(t, "delivery", s.deliver(e), 200)
		if got := s.settled(e); got != "poison" {
			t.Fatalf("the event is %s", got)
		}
		id := s.texts("SELECT id FROM inbox")[0]
		open := func() int {
			return s.count("SELECT count(*) FROM attention WHERE kind = 'event_poison' AND settled_at IS NULL")
		}
		tries := s.count("SELECT tries FROM inbox")
		must(t, s.RetryEvent(t.Context(), id, "sanne"))
		s.until("it is poison again", func() bool {
			return s.count("SELECT tries FROM inbox") > tries && s.texts("SELECT state FROM inbox")[0] == "poison"
		})
		if open() != 1 {
			t.Errorf("%d calls for what failed again", open())
		}
		s.exec("UPDATE payments SET amount = amount - 1")
		for range 3 {
			must(t, s.RetryEvent(t.Context(), id, "sanne"))
		}
		if got := s.settled(e); got != "applied" {
			t.Errorf("the event is %s", got)
		}
		s.untilWorkIsDone()
		must(t, s.RetryEvent(t.Context(), id, "sanne")) // it had its effect
		s.untilWorkIsDone()
		s.paidByEvents(payment)
		if open() != 0 || s.texts("SELECT state FROM inbox")[0] != "applied" {
			t.Errorf("%d calls are open; the event is %v", open(), s.texts("SELECT state FROM inbox"))
		}
		s.exec("UPDATE inbox SET state = 'poison', event = ''")
		if err := s.RetryEvent(t.Context(), id, "sanne"); domain.KindOf(err) != domain.Refused {
			t.Errorf("an unreadable one: %v", err)
		}
	})
}

// TestAnEventThatWaitsHasOneJob: asked for again and again, its job does not wait any longer, and no other one
// comes beside it.
func TestAnEventThatWaitsHasOneJob(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		_, number, _ := s.atBank()
		s.exec("UPDATE payments SET provider_key = provider_key || 'x'")
		wantStatus(t, "delivery", s.deliver(s.news("charge.succeeded", number, approved(2))), 200)
		waits := func() bool {
			return s.texts("SELECT state FROM inbox")[0] == "parked" && s.count("SELECT count(*) FROM river_job WHERE kind = 'apply_event' AND state = 'retryable'") == 1
		}
		s.until("the event waits", waits)
		id := s.texts("SELECT id FROM inbox")[0]
		for range 3 {
			tries := s.count("SELECT tries FROM inbox")
			must(t, s.RetryEvent(t.Context(), id, "sanne"))
			must(t, s.RetryEvent(t.Context(), id, "sanne"))
			s.until("the event was looked at anew and waits", func() bool { return s.count("SELECT tries FROM inbox") > tries && waits() })
		}
		if n := s.count("SELECT count(*) FROM river_job WHERE kind = 'apply_event'"); n != 1 {
			t.Errorf("%d jobs", n)
		}
	})
}

// TestAPaymentInDoubtIsNotClickedAway: its flag goes when somebody says that it was not charged.
func TestAPaymentInDoubtIsNotClickedAway(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan), withRegistry(noMemory))
		s.stopped(&f, "before_charge")
		s.clock.Move(20 * time.Hour)
		s.later(2 * time.Hour)
		s.complete()
		open := must2(s.db.Attention(t.Context()))(t)
		if len(open) != 1 || open[0].Kind != domain.PaymentInDoubt {
			t.Fatalf("flags: %+v", open)
		}
		if err := s.SettleAttention(t.Context(), open[0].ID, "sanne"); domain.KindOf(err) != domain.Refused {
			t.Errorf("clicked away: %v", err)
		}
		must(t, s.SettleUnknown(t.Context(), open[0].About, api.NotCharged, "sanne"))
		must(t, s.SettleAttention(t.Context(), open[0].ID, "piet"))
		if got := s.texts("SELECT settled_by FROM attention"); len(got) != 1 || got[0] != "sanne" {
			t.Errorf("settled by %v", got)
		}
	})
}
