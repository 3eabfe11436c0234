package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// old is long enough for nothing to be under way any more.
const old = 20 * time.Minute

// reconcile compares the books as the periodic job does, and wants so many differences to be left.
func (s *shop) reconcile(differences int) domain.Reconciliation {
	s.t.Helper()
	did, err := s.Reconcile(s.t.Context(), domain.RecentReconciliation(s.db.Now()))
	must(s.t, err)
	if did.Differences != differences {
		s.t.Errorf("%+v, want %d differences", did, differences)
	}
	if got := s.metric("reconcile_difference", "recent"); got != float64(differences) {
		s.t.Errorf("reconcile_difference is %v, want %d", got, differences)
	}
	return did
}

// flagged wants exactly these flags, "kind about" each.
func (s *shop) flagged(want ...string) {
	s.t.Helper()
	got := s.texts("SELECT kind || ' ' || about FROM attention ORDER BY kind, about")
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("flagged: %v, want %v", got, want)
	}
}

// TestAPaymentWhoseNewsIsLostIsMadeUpFor: the provider of these tests sends no events.
func TestAPaymentWhoseNewsIsLostIsMadeUpFor(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		order, number, payment := s.atBank()
		s.approveAtProvider(s.rawCharge(number))
		if did := s.reconcile(0); did.Compared != 0 {
			t.Errorf("%+v, want the youngest ten minutes left alone", did)
		}
		if got := s.do(call{method: "GET", path: "/v1/payments/" + payment}).field(t, "status"); got != "pending" {
			t.Errorf("the payment is %s", got)
		}
		s.clock.Move(old)
		if did := s.reconcile(0); did.Compared != 1 || did.Repaired != 1 {
			t.Errorf("%+v, want the payment repaired", did)
		}
		s.paidOnce(order, number)
		if did := s.reconcile(0); did.Compared != 1 || did.Repaired != 0 {
			t.Errorf("again: %+v, want nothing to repair", did)
		}
		s.paidOnce(order, number)
		s.flagged()
	})
}

// TestALostAnswerIsMadeUpForWithoutTheClient who never came back. If it does after all, it gets the answer.
func TestALostAnswerIsMadeUpForWithoutTheClient(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d, withProvider(newSlowProvider(t, time.Second)), withAttempt(300*time.Millisecond))
		order, number := s.newOrder()
		payment := call{path: "/v1/payments", key: newKey(), body: payBody(order, simulated.TokenSlow)}
		refusal(t, "the only try", s.do(payment), 503, "outcome_unknown")
		s.until("the provider has charged", func() bool { return len(s.charges(number)) == 1 })
		s.clock.Move(old)
		if did := s.reconcile(0); did.Repaired != 1 {
			t.Errorf("%+v, want the payment repaired", did)
		}
		s.paidOnce(order, number)
		wantStatus(t, "a late retry", s.untilFinal(payment), 201)
		s.paidOnce(order, number)
		s.reconcile(0)
		s.flagged()
	})
}

// TestAChargeThatIsNotOursIsFlaggedAndNotGivenBack: one under no key of ours, and a second one under a key
// that the provider had forgotten.
func TestAChargeThatIsNotOursIsFlaggedAndNotGivenBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		_, provider := startProvider(t, simulated.ServerConfig{KeyTTL: time.Nanosecond})
		s := newShop(t, d, withProvider(provider))
		_, number := s.newPayment("automatic")
		key, _ := s.rawCharge(number)["idempotency_key"].(string)
		s.chargeDirectly(key, number)
		s.chargeDirectly(newKey(), "EM-ELSE-WHERE")
		second, unknown := s.charges(number)[1].ID, s.charges("EM-ELSE-WHERE")[0].ID
		s.clock.Move(old)
		for range 2 {
			s.reconcile(2)
		}
		if got := s.count("SELECT count(*) FROM attention WHERE kind = 'reconcile_unknown_charge' AND about IN (?, ?)", second, unknown); got != 2 {
			t.Errorf("flags: got %d", got)
		}
		if got := s.count("SELECT count(*) FROM attention"); got != 2 {
			t.Errorf("%d flags, want 2", got)
		}
		for _, c := range append(s.charges(number), s.charges("EM-ELSE-WHERE")...) {
			if c.Refunded.Amount != 0 || c.Captured.Amount != 4195 {
				t.Errorf("charge %+v was changed", c)
			}
		}
		s.exec("UPDATE attention SET settled_at = created_at")
		s.reconcile(0) // a person has settled them
	})
}

// chargeDirectly charges a card behind the shop's back.
func (s *shop) chargeDirectly(key, reference string) {
	s.t.Helper()
	body := `{"reference":"` + reference + `","amount":4195,"currency":"EUR","token":"tok_ok"}`
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.provider+"/psp/v1/charges", strings.NewReader(body))
	must(s.t, err)
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	must(s.t, err)
	must(s.t, resp.Body.Close())
	if resp.StatusCode != http.StatusCreated {
		s.t.Fatalf("charge: %s", resp.Status)
	}
}

// TestWhatHearingDoesNotMendIsFlagged, and is level again when it is mended.
func TestWhatHearingDoesNotMendIsFlagged(t *testing.T) {
	t.Parallel()
	for _, wrong := range []struct{ kind, spoil, mend string }{
		{"reconcile_amount", "UPDATE payments SET amount = amount + 1", "UPDATE payments SET amount = amount - 1"},
		{"reconcile_state", "UPDATE payments SET status = 'refunded', refunded = captured", "UPDATE payments SET status = 'paid', refunded = 0"},
	} {
		t.Run(wrong.kind, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, d storetest.Database) {
				s := newShop(t, d)
				payment, number := s.newPayment("automatic")
				s.clock.Move(old)
				s.reconcile(0)
				s.exec(wrong.spoil)
				s.reconcile(1)
				s.reconcile(1)
				s.flagged(wrong.kind + " " + payment)
				if c := s.charges(number)[0]; c.Refunded.Amount != 0 {
					t.Error("money was given back")
				}
				s.exec(wrong.mend)
				s.reconcile(0)
			})
		})
	}
}

// TestAPaymentThatTheProviderDoesNotKnowIsFlagged: here the shop is told to ask another provider.
func TestAPaymentThatTheProviderDoesNotKnowIsFlagged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		before := newShop(t, d)
		payment, _ := before.newPayment("automatic")
		before.atBank()                                                  // claims nothing
		before.pay(newKey(), firstOf(before.newOrder()), "tok_declined") // nor does this
		s := newShop(t, d)
		s.clock.Move(old)
		s.reconcile(1)
		s.reconcile(1)
		s.flagged("reconcile_missing_charge " + payment)
	})
}

func firstOf(id, _ string) string { return id }

// TestAChargeThatChangedAMomentAgoIsNotMissing: its change is too young for the list, and the payment old
// enough to be looked for in it.
func TestAChargeThatChangedAMomentAgoIsNotMissing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		clock := &storetest.Clock{}
		_, provider := startProvider(t, simulated.ServerConfig{Now: clock.Now})
		s := newShop(t, d, withProvider(provider))
		s.work()
		payment, _ := s.newPayment("automatic")
		s.clock.Move(old)
		clock.Move(old)
		wantStatus(t, "refund", s.change(payment, "refunds", "{}"), 202)
		s.until("it is given back", func() bool {
			return s.do(call{method: "GET", path: "/v1/payments/" + payment}).field(t, "status") == "refunded"
		})
		if did := s.reconcile(0); did.Compared != 1 {
			t.Errorf("%+v, want the charge asked for by its id", did)
		}
		s.flagged()
	})
}

// TestEveryPageOfTheBooksIsRead, with more than a thousand charges.
func TestEveryPageOfTheBooksIsRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		const charges = 1005
		for i := range charges {
			s.chargeDirectly(fmt.Sprint("key-", i), "EM-ELSE-WHERE")
		}
		s.clock.Move(old)
		if did := s.reconcile(charges); did.Compared != charges {
			t.Errorf("%+v, want %d compared", did, charges)
		}
		if got := s.count("SELECT count(*) FROM attention"); got != charges {
			t.Errorf("%d flags", got)
		}
	})
}

// TestReconciliationsAtOnceDoNoHarm: two processes find the same, and each payment is paid once.
func TestReconciliationsAtOnceDoNoHarm(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		other := newShop(t, d, withProvider(s.provider))
		numbers := map[string]string{}
		for range 5 {
			order, number, _ := s.atBank()
			s.approveAtProvider(s.rawCharge(number))
			numbers[order] = number
		}
		payment, _ := s.newPayment("automatic")
		s.exec("UPDATE payments SET amount = amount + 1 WHERE id = '" + payment + "'")
		s.clock.Move(old)
		other.clock.Move(old)
		together(t, 4, func(i int) (answer, error) {
			_, err := []*shop{s, other}[i%2].Reconcile(t.Context(), domain.RecentReconciliation(s.db.Now()))
			return answer{}, err
		})
		for order, number := range numbers {
			s.paidOnce(order, number)
		}
		s.reconcile(1)
		s.flagged("reconcile_amount " + payment)
	})
}

// TestAProviderThatIsDownMakesNoDifferences, but the last run grows old: down as a whole, or for single
// charges.
func TestAProviderThatIsDownMakesNoDifferences(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		clock := &storetest.Clock{}
		psp, _ := startProvider(t, simulated.ServerConfig{Now: clock.Now})
		var down atomic.Value
		down.Store("nothing")
		gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, down.Load().(string)) {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			psp.ServeHTTP(w, r)
		}))
		t.Cleanup(gate.Close)
		s := newShop(t, d, withProvider(gate.URL))
		s.newPayment("automatic")
		s.clock.Move(old)
		s.reconcile(0)
		clock.Move(-24 * time.Hour)
		s.newPayment("automatic") // not in the list of today, so it is asked for
		s.clock.Move(old)
		for _, path := range []string{"/psp/", "/psp/v1/charges/"} {
			down.Store(path)
			if did, err := s.Reconcile(t.Context(), domain.RecentReconciliation(s.db.Now())); err == nil {
				t.Errorf("%s is down: %+v, want an error", path, did)
			}
		}
		s.flagged()
		if got := s.metric("reconcile_last_run_seconds", "recent"); got < old.Seconds() {
			t.Errorf("the last run was %v seconds ago", got)
		}
		down.Store("nothing")
		s.reconcile(0)
		if got := s.metric("reconcile_last_run_seconds", "recent"); got > 60 {
			t.Errorf("the last run was %v seconds ago", got)
		}
	})
}

// TestTheBooksAreComparedByTheJobs: the last hours and the day before, once for all processes.
func TestTheBooksAreComparedByTheJobs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		other := newShop(t, d, withProvider(s.provider))
		order, number, _ := s.atBank()
		s.approveAtProvider(s.rawCharge(number))
		for _, one := range []*shop{s, other} {
			one.clock.Move(old)
			one.ScheduleReconciliation()
			one.work()
		}
		s.until("both runs have ended", func() bool { return s.count("SELECT count(*) FROM reconciliations") == 2 })
		s.paidOnce(order, number)
		if got := s.count("SELECT count(*) FROM river_job WHERE kind = 'reconcile'"); got > 3 { // three when five minutes end meanwhile
			t.Errorf("%d jobs, want one a run", got)
		}
	})
}
