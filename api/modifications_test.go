package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// TestWhatIsLeftIsTakenOnce lets twenty changes of one payment race for less than they ask for
// together. None may take what another has taken, here or at the provider.
func TestWhatIsLeftIsTakenOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		for _, race := range []struct {
			what, mode, column string
			status             int
		}{{"captures", "manual", "captured", 201}, {"refunds", "automatic", "refunded", 202}} {
			id, number := s.newPayment(race.mode)
			answers := together(t, 20, func(int) (answer, error) {
				return s.untilFinal(call{path: "/v1/payments/" + id + "/" + race.what, key: newKey(), body: `{"amount":1000}`}), nil
			})
			done := 0
			for _, a := range answers {
				switch a.Status {
				case race.status:
					done++
				case 422:
					refusal(t, race.what, a, 422, strings.TrimSuffix(race.what, "s")+"_exceeds_rest")
				default:
					t.Errorf("%s: got %d %s", race.what, a.Status, a.Body)
				}
			}
			if done != 4 {
				t.Errorf("%s of 1000 from 4195: %d were made, want 4", race.what, done)
			}
			s.until(race.what+" are made", func() bool {
				return s.count("SELECT "+race.column+" FROM payments WHERE id = ?", id) == 4000
			})
			got := s.charges(number)[0]
			if moved := map[string]int64{"captures": got.Captured.Amount, "refunds": got.Refunded.Amount}[race.what]; moved != 4000 {
				t.Errorf("%s: the provider says %d", race.what, moved)
			}
		}
		s.until("every refund has its mail", func() bool { return s.count("SELECT count(*) FROM mails WHERE kind = 'refunded'") == 4 })
	})
}

func TestAReservationIsCapturedInPartsAndTheRestVoided(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		id, number := s.newPayment("manual")
		order := s.orderOf(id)
		want := func(status domain.PaymentStatus, orderStatus string, captured int64) {
			t.Helper()
			if got := s.do(call{method: "GET", path: "/v1/payments/" + id}); got.field(t, "status") != string(status) {
				t.Errorf("payment: got %s, want %s", got.Body, status)
			}
			if got := s.do(call{method: "GET", path: "/v1/orders/" + order}); got.field(t, "status") != orderStatus {
				t.Errorf("order: got %s, want %s", got.Body, orderStatus)
			}
			if got := s.charges(number)[0].Captured.Amount; got != captured {
				t.Errorf("captured: got %d, want %d", got, captured)
			}
		}
		want(domain.PaymentAuthorized, "awaiting_payment", 0)
		refusal(t, "another payment", s.pay(newKey(), order, "tok_ok"), 409, "another_payment_in_progress")
		refusal(t, "a refund of nothing", s.change(id, "refunds", ""), 422, "payment_not_refundable")
		wantStatus(t, "part", s.change(id, "captures", `{"amount":4000}`), 201)
		want(domain.PaymentPaid, "paid", 4000)
		refusal(t, "too much", s.change(id, "captures", `{"amount":196}`), 422, "capture_exceeds_rest")
		void := s.change(id, "voids", "")
		wantStatus(t, "void", void, 201)
		if !strings.Contains(void.Body, `"amount":{"amount":195,`) {
			t.Errorf("the void is not about the rest: %s", void.Body)
		}
		want(domain.PaymentPaid, "paid", 4000)
		refusal(t, "after the void", s.change(id, "captures", ""), 422, "capture_exceeds_rest")
		if got := s.count("SELECT count(*) FROM mails WHERE kind = 'order_paid'"); got != 1 {
			t.Errorf("mails: got %d", got)
		}
	})
}

func TestAVoidedOrderCanBePaidAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		id, number := s.newPayment("manual")
		wantStatus(t, "void", s.change(id, "voids", ""), 201)
		refusal(t, "capture after it", s.change(id, "captures", ""), 422, "payment_not_capturable")
		refusal(t, "void again", s.change(id, "voids", "{}"), 422, "payment_not_voidable")
		wantStatus(t, "another payment", s.pay(newKey(), s.orderOf(id), "tok_ok"), 201)
		if got := s.charges(number); len(got) != 2 || got[0].Captured.Amount+got[1].Captured.Amount != 4195 {
			t.Errorf("the provider has %+v", got)
		}
	})
}

// TestALostAnswerToAChangeIsFoundByTheRetry covers T47 and T35 for captures and voids, and T25: each
// call has a key of its own.
func TestALostAnswerToAChangeIsFoundByTheRetry(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d, withAttempt(300e6))
		for _, what := range []string{"capture", "void"} {
			for _, trouble := range []string{"done_then_timeout", "done_then_500", "unavailable_once"} {
				id, number := s.newPayment("manual")
				for range 3 { // more often than the adapter tries by itself
					s.trouble(what, trouble, number)
				}
				c := call{path: "/v1/payments/" + id + "/" + what + "s", key: newKey()}
				first := s.do(c)
				final := s.untilFinal(c)
				wantStatus(t, what+" "+trouble, final, 201)
				if first.Status != 201 {
					refusal(t, what+" "+trouble, first, 503, "outcome_unknown")
				}
				wantReplay(t, what, final, s.do(c))
				want := map[string]int64{"capture": 4195, "void": 0}[what]
				if got := s.charges(number); len(got) != 1 || got[0].Captured.Amount != want {
					t.Errorf("%s %s: the provider has %+v", what, trouble, got)
				}
				if got := s.count("SELECT count(*) FROM modifications WHERE payment_id = ? AND status = 'succeeded'", id); got != 1 {
					t.Errorf("%s %s: %d changes", what, trouble, got)
				}
			}
		}
	})
}

// trouble lets the next call of a kind about an order's charge go wrong at the provider.
func (s *shop) trouble(what, fault, number string) {
	s.t.Helper()
	body := fmt.Sprintf(`{"call":%q,"fault":%q,"charge":%q}`, what, fault, s.rawCharge(number)["id"])
	resp, err := http.Post(s.provider+"/psp/v1/faults", "application/json", strings.NewReader(body))
	must(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		s.t.Fatalf("fault %s of %s: %s", fault, what, resp.Status)
	}
}

// TestARefundTheProviderRefusesIsAPersonsToSettle: the promise was made with 202, so its end is told by
// the refund's own state, and somebody is called.
func TestARefundTheProviderRefusesIsAPersonsToSettle(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		id, number := s.newPayment("automatic")
		s.trouble("refund", "refuse", number)
		promised := s.change(id, "refunds", "")
		wantStatus(t, "refund", promised, 202)
		s.until("the refund has failed", func() bool {
			return s.do(call{method: "GET", path: promised.Header.Get("Location")}).field(t, "status") == "failed"
		})
		if got := s.count("SELECT count(*) FROM attention WHERE kind = 'refund_failed' AND about = ?", promised.field(t, "id")); got != 1 {
			t.Errorf("calls for a person: got %d", got)
		}
		wantStatus(t, "asked again", s.change(id, "refunds", ""), 202)
		s.until("the money is back", func() bool {
			return s.do(call{method: "GET", path: "/v1/payments/" + id}).field(t, "status") == "refunded"
		})
		list := s.do(call{method: "GET", path: "/v1/payments/" + id + "/refunds"})
		if strings.Count(list.Body, `"id"`) != 2 || !strings.Contains(list.Body, `"failed"`) || !strings.Contains(list.Body, `"succeeded"`) {
			t.Errorf("refunds: %s", list.Body)
		}
	})
}

func TestAmountsAreCheckedAndTheirTwoFormsAreOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		id, _ := s.newPayment("automatic")
		for body, want := range map[string]struct {
			status int
			code   string
		}{
			`{"amount":0}`: {422, "validation_failed"}, `{"amount":-5}`: {422, "validation_failed"},
			`{"amount":{"amount":5,"currency":"USD"}}`: {422, "validation_failed"}, `{"amount":{"amount":5}}`: {422, "validation_failed"},
			`{"amount":{"amount":0,"currency":""}}`: {422, "validation_failed"},
			`{"amount":"5"}`:                        {400, "wrong_type"}, `{"amount":1.5}`: {400, "wrong_type"}, `{"amount":null}`: {400, "wrong_type"},
			`{"amount":9223372036854775808}`: {400, "wrong_type"}, `{"amount":{"amount":5,"currency":"EUR","x":1}}`: {400, "unknown_field"},
			`{"amount":4196}`: {422, "refund_exceeds_rest"},
		} {
			refusal(t, body, s.change(id, "refunds", body), want.status, want.code)
		}
		c := call{path: "/v1/payments/" + id + "/refunds", key: newKey(), body: `{"amount":500}`}
		first := s.do(c)
		c.body = `{"amount":{"currency":"EUR","amount":500}}`
		wantReplay(t, "the other form", first, s.do(c))
		c.body = `{"amount":501}`
		refusal(t, "another amount", s.do(c), 409, "idempotency_key_reused")
		other, _ := s.newPayment("automatic")
		c.path, c.body = "/v1/payments/"+other+"/refunds", `{"amount":500}`
		refusal(t, "another payment", s.do(c), 409, "idempotency_key_reused")
	})
}
