package api_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/api"
	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store/storetest"
)

// later lets time go by for the unfinished keys, whose leases and looks the database's clock decides.
func (s *shop) later(d time.Duration) {
	s.t.Helper()
	s.exec(fmt.Sprintf("UPDATE idempotency_keys SET lease_until = lease_until - %[1]d, look_at = look_at - %[1]d WHERE look_at IS NOT NULL", d.Microseconds()))
}

// complete lets the completer look once, and gives how many keys it went on with.
func (s *shop) complete() int {
	s.t.Helper()
	n, err := s.registry.Complete(s.t.Context(), 20)
	must(s.t, err)
	return n
}

func (s *shop) unfinished() int {
	s.t.Helper()
	return s.count("SELECT count(*) FROM idempotency_keys WHERE look_at IS NOT NULL")
}

// afterItsLease is when a killed process has lost its lease for long enough.
const afterItsLease = 36 * time.Second

// TestWhatHasBegunIsFinishedWithoutItsClient stops runs in the middle, by a kill as far as anybody else
// can see: the process just goes no further. Nobody asks again, and the completer alone brings the key to
// its answer. The one that was thought dead wakes up to it, and so does a later retry.
func TestWhatHasBegunIsFinishedWithoutItsClient(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		for pattern, points := range map[string][]string{
			"POST /v1/payments":              {"after_charge", "before_finish"},
			"POST /v1/payments/:id/captures": {"after_reserve", "before_capture", "after_capture", "before_finish"},
			"POST /v1/payments/:id/voids":    {"after_reserve", "before_void", "after_void", "before_finish"},
		} {
			t.Run(pattern, func(t *testing.T) {
				t.Parallel()
				finishedWithoutItsClient(t, fresh(t, d), pattern, points)
			})
		}
	})
}

func finishedWithoutItsClient(t *testing.T, d storetest.Database, pattern string, points []string) {
	var f faults
	s, calm := newShop(t, d, withPlan(f.plan), withRegistry(noMemory)), newShop(t, storetest.SQLite(t))
	other := newShop(t, d, withProvider(s.provider)) // another process, where the dead one's run is not known
	e := exampleOf(pattern)
	for _, point := range points {
		wanted := e.request(calm)
		wanted.key = newKey()
		wantStatus(t, "undisturbed", calm.do(wanted), e.status)

		c := e.request(s)
		c.key = newKey()
		reached, release := f.hold(t, point)
		dead := s.inBackground(c)
		await(t, point, reached)
		if n := s.complete(); n != 0 {
			t.Errorf("%s: gone on with %d keys while the lease is good", point, n)
		}
		s.later(afterItsLease)
		if n := s.complete(); n != 1 || s.unfinished() != 0 {
			t.Fatalf("%s: gone on with %d keys, %d are unfinished", point, n, s.unfinished())
		}
		if got, want := e.effects(s), e.effects(calm); got != want {
			t.Fatalf("%s: effects %s, of undisturbed requests %s", point, got, want)
		}
		retry := other.do(c)
		wantStatus(t, point, retry, e.status)
		if retry.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: the retry was not a replay: %v", point, retry.Header)
		}
		release()
		sameAnswer(t, "the one thought dead at "+point, retry, <-dead)
		if got, want := e.effects(s), e.effects(calm); got != want {
			t.Fatalf("%s: effects %s when the dead one woke up, of undisturbed requests %s", point, got, want)
		}
	}
	if got := s.metric("idem_completer_runs_total", "completed"); got != float64(len(points)) {
		t.Errorf("%v runs completed, want %d", got, len(points))
	}
}

// TestWhatAnOlderReleaseBeganIsFinishedToo: it lists no key for the completer, and may die while both run.
func TestWhatAnOlderReleaseBeganIsFinishedToo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan), withRegistry(noMemory))
		other := newShop(t, d, withProvider(s.provider)) // another process, where the dead one's run is not known
		id, number := s.newOrder()
		c := call{path: "/v1/payments", key: newKey(), body: payBody(id, "tok_ok")}
		reached, release := f.hold(t, "after_charge")
		dead := s.inBackground(c)
		await(t, "after_charge", reached)
		s.exec("UPDATE idempotency_keys SET look_at = NULL, looks = NULL, lease_until = 1 WHERE look_at IS NOT NULL")
		if n := s.complete(); n != 1 {
			t.Fatalf("gone on with %d keys", n)
		}
		s.paidOnce(id, number)
		retry := other.do(c)
		wantStatus(t, "the retry", retry, 201)
		release()
		sameAnswer(t, "the one thought dead", retry, <-dead)
	})
}

func exampleOf(pattern string) example {
	for _, e := range examples {
		if e.pattern == pattern {
			return e
		}
	}
	panic("no example of " + pattern)
}

// TestACustomerWhoHasGoneIsNotCharged: a payment that stopped before its charge is left alone, for the
// client who may come back. After fifteen minutes it is closed, and its order can be paid anew.
func TestACustomerWhoHasGoneIsNotCharged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		for _, point := range []string{"after_reserve", "before_charge"} {
			var f faults
			s := newShop(t, fresh(t, d), withPlan(f.plan), withRegistry(noMemory))
			gone, back := s.stopped(&f, point), s.stopped(&f, point)
			for _, after := range []time.Duration{time.Minute, 10 * time.Minute, 3*time.Minute + 50*time.Second} {
				s.clock.Move(after)
				s.later(time.Hour)
				if n := s.complete(); n != 2 || s.unfinished() != 2 {
					t.Fatalf("%s, %s later: gone on with %d, %d are unfinished", point, after, n, s.unfinished())
				}
			}
			if charges := s.allCharges(); len(charges) != 0 {
				t.Fatalf("%s: charged without a client: %v", point, charges)
			}
			paid := s.do(back.call)
			wantStatus(t, "a client who came back", paid, 201)
			s.paidOnce(back.order, back.number)

			s.later(11 * time.Second) // the look was set for the moment when the time is over
			s.clock.Move(11 * time.Second)
			if n := s.complete(); n != 1 || s.unfinished() != 0 {
				t.Fatalf("%s: gone on with %d, %d are unfinished", point, n, s.unfinished())
			}
			closed := s.do(gone.call)
			wantStatus(t, "the closed payment", closed, 422)
			if closed.field(t, "code") != "payment_abandoned" || closed.field(t, "status") != "failed" || !strings.Contains(closed.Body, "Nothing was charged.") ||
				closed.Header.Get("Idempotent-Replayed") != "true" || closed.Header.Get("Retry-After") != "" {
				t.Errorf("closed: %v %s", closed.Header, closed.Body)
			}
			wantReplay(t, "asked again", closed, s.do(gone.call))
			if got := s.charges(gone.number); len(got) != 0 {
				t.Errorf("%s: charged: %v", point, got)
			}
			if got := s.count("SELECT count(*) FROM events WHERE type = 'payment.failed'"); got != 1 {
				t.Errorf("%d events of a failed payment", got)
			}
			wantStatus(t, "another try", s.pay(newKey(), gone.order, simulated.TokenOK), 201)
		}
	})
}

// stoppedPayment is one whose client was told to come back.
type stoppedPayment struct {
	call
	order, number string
}

func (s *shop) stopped(f *faults, point string) stoppedPayment {
	s.t.Helper()
	id, number := s.newOrder()
	p := stoppedPayment{call{path: "/v1/payments", key: newKey(), body: payBody(id, simulated.TokenOK)}, id, number}
	f.once(point, func(context.Context, string) error { return errors.New("trouble") })
	refusal(s.t, "stopped "+point, s.do(p.call), 503, "retry_same_key")
	return p
}

// TestMoneyThatComesAfterAnAbandonedPaymentWins: the process that was thought dead charges after all.
func TestMoneyThatComesAfterAnAbandonedPaymentWins(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan))
		id, number := s.newOrder()
		request := call{path: "/v1/payments", key: newKey(), body: payBody(id, simulated.TokenOK)}
		reached, release := f.hold(t, "before_charge")
		dead := s.inBackground(request)
		await(t, "the payment", reached)
		s.later(time.Hour)
		s.clock.Move(16 * time.Minute)
		if n := s.complete(); n != 1 || s.unfinished() != 0 {
			t.Fatalf("gone on with %d, %d are unfinished", n, s.unfinished())
		}
		release()
		closed := <-dead
		if closed.Status != 422 || closed.field(t, "code") != "payment_abandoned" {
			t.Fatalf("the one thought dead hears %d %s", closed.Status, closed.Body)
		}
		s.clock.Move(-16 * time.Minute) // the provider signs by its own clock
		s.work()
		wantStatus(t, "event", s.deliver(s.news("charge.succeeded", number, nil)), 200)
		s.until("the money is heard of", func() bool {
			return s.count("SELECT count(*) FROM orders WHERE status = 'paid'") == 1
		})
		s.paidOnce(id, number)
		wantReplay(t, "its key", closed, s.do(request))
		if got := s.do(call{method: "GET", path: closed.Header.Get("Location")}); got.field(t, "status") != "paid" {
			t.Errorf("the payment is %s", got.Body)
		}
	})
}

// TestAllAtOnceHaveOneEffect: two completers, the provider's event and the client's retries, in two
// processes, all on one key at one moment.
func TestAllAtOnceHaveOneEffect(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		a := newShop(t, d, withPlan(f.plan), withRegistry(noMemory))
		b := newShop(t, d, withProvider(a.provider), withRegistry(noMemory))
		a.work()
		for _, point := range []string{"after_charge", "before_finish", "after_charge"} {
			p := a.stopped(&f, point)
			news := a.news("charge.succeeded", p.number, nil)
			a.later(time.Hour)
			together(t, 7, func(i int) (answer, error) {
				switch i {
				case 0, 1:
					_, err := []*shop{a, b}[i].registry.Complete(t.Context(), 20)
					return answer{}, err
				case 2, 3:
					return a.deliver(news), nil
				default:
					return []*shop{a, b}[i%2].try(t.Context(), p.call)
				}
			})
			final := a.untilFinal(p.call)
			wantStatus(t, point, final, 201)
			wantReplay(t, point, final, b.do(p.call))
			a.until("the event is applied", func() bool { return a.settled(news) == "applied" || a.settled(news) == "superseded" })
			a.paidOnce(p.order, p.number)
		}
		if n := a.unfinished(); n != 0 {
			t.Errorf("%d keys are unfinished", n)
		}
	})
}

// TestPastTheProvidersMemoryAPaymentIsAPersonsToSettle: the provider may have forgotten the key, so
// neither the client nor the completer charges with it again.
func TestPastTheProvidersMemoryAPaymentIsAPersonsToSettle(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan), withRegistry(noMemory))
		charged, late, told := s.stopped(&f, "after_charge"), s.stopped(&f, "before_charge"), s.stopped(&f, "before_charge")
		payment := s.texts("SELECT id FROM payments WHERE order_id = '" + late.order + "'")[0]
		s.clock.Move(19 * time.Hour)
		if err := s.SettleUnknown(t.Context(), payment, api.NotCharged, "sanne"); domain.KindOf(err) != domain.Refused {
			t.Errorf("settled while the program itself can: %v", err)
		}
		s.clock.Move(time.Hour) // more than four fifths of a day since the payments were made
		wantStatus(t, "one that is found", s.do(charged.call), 201)
		s.paidOnce(charged.order, charged.number)
		for range 2 {
			if p := refusal(t, "client", s.do(late.call), 503, "outcome_unknown"); p.SafeNewKey {
				t.Error("a new key is called safe")
			}
		}
		s.later(2 * time.Hour)
		if n := s.complete(); n != 2 || s.unfinished() != 2 {
			t.Fatalf("gone on with %d, %d are unfinished", n, s.unfinished())
		}
		if len(s.charges(late.number))+len(s.charges(told.number)) != 0 {
			t.Error("charged past the provider's memory")
		}
		open, err := s.db.Attention(t.Context())
		must(t, err)
		if len(open) != 2 || open[0].Kind != domain.PaymentInDoubt || open[0].About != payment || open[0].Action() == "" {
			t.Errorf("flags: %+v", open)
		}

		if err := s.SettleUnknown(t.Context(), payment, "charged", "sanne"); domain.KindOf(err) != domain.Invalid {
			t.Errorf("settled as charged: %v", err)
		}
		must(t, s.SettleUnknown(t.Context(), payment, api.NotCharged, "sanne"))
		if n := s.complete(); n != 1 || s.unfinished() != 1 {
			t.Fatalf("after settling: gone on with %d, %d are unfinished", n, s.unfinished())
		}
		final := s.do(late.call)
		wantStatus(t, "the settled payment", final, 422)
		if final.field(t, "code") != "payment_failed" {
			t.Errorf("settled: %s", final.Body)
		}
		wantReplay(t, "asked again", final, s.do(late.call))
		if got := s.texts("SELECT settled_by FROM attention WHERE settled_at IS NOT NULL"); len(got) != 1 || got[0] != "sanne" {
			t.Errorf("settled by %v", got)
		}
		if err := s.SettleUnknown(t.Context(), payment, api.NotCharged, "sanne"); domain.KindOf(err) != domain.Refused {
			t.Errorf("settled twice: %v", err)
		}
		wantStatus(t, "another try", s.pay(newKey(), late.order, simulated.TokenOK), 201)
	})
}

// TestADrainGivesTheLeasesBack: a process that is told to stop ends the runs that it went on with, and
// leaves their keys to the next one at once.
func TestADrainGivesTheLeasesBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan), withRegistry(noMemory))
		p := s.stopped(&f, "after_charge")
		reached := make(chan struct{})
		f.once("before_finish", func(run context.Context, _ string) error {
			close(reached)
			<-run.Done()
			return run.Err()
		})
		must(t, s.jobs.Start(fault.With(t.Context(), f.plan)))
		s.later(time.Hour)
		await(t, "the completer", reached)
		stop, cancel := context.WithCancel(t.Context())
		cancel() // there is no time left
		_ = s.jobs.Stop(stop)
		if got := s.count("SELECT count(*) FROM idempotency_keys WHERE state = 2 AND lease_until = 0 AND looks = 1"); got != 1 {
			t.Errorf("%d keys were given back, want 1", got)
		}
		next := newShop(t, d, withProvider(s.provider))
		next.later(time.Hour)
		if n := next.complete(); n != 1 || next.unfinished() != 0 {
			t.Errorf("the next process goes on with %d, %d are unfinished", n, next.unfinished())
		}
		wantStatus(t, "a retry", next.do(p.call), 201)
		next.paidOnce(p.order, p.number)
	})
}

// TestEveryFlagSaysWhatSettlesIt reads the source for the kinds that it raises.
func TestEveryFlagSaysWhatSettlesIt(t *testing.T) {
	t.Parallel()
	kinds := []string{domain.NeedsAttention, domain.PaymentInDoubt, domain.MailDead, domain.DeadDelivery, domain.PoisonEvent, domain.AlteredEvent,
		"capture_failed", "void_failed", "refund_failed", "event_" + string(domain.EventPoison)}
	for _, dir := range []string{".", "idempotent", "../store", "../store/jobs"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		must(t, err)
		for _, name := range files {
			text, err := os.ReadFile(name)
			must(t, err)
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, m := range regexp.MustCompile(`\.(?:Flag|FlagAnew|flag|differ)\((?:ctx, )?"([a-z_]+)",`).FindAllStringSubmatch(string(text), -1) {
				kinds = append(kinds, m[1])
			}
		}
	}
	if len(kinds) < 15 {
		t.Fatalf("only %v were found", kinds)
	}
	for _, kind := range kinds {
		if (domain.Attention{Kind: kind}).Action() == "" {
			t.Errorf("%s does not say which action settles it", kind)
		}
	}
}
