package api_test

import (
	"context"
	"strings"
	"testing"

	"example.com/eenmaal/store/storetest"
)

func (s *shop) cancel(order string) answer {
	s.t.Helper()
	return s.do(call{path: "/v1/orders/" + order + "/cancellations", key: newKey()})
}

func TestACancelledOrderGivesBackItsArticlesAndItsMoney(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		unpaid, _ := s.newOrder()
		wantStatus(t, "unpaid", s.cancel(unpaid), 201)
		refusal(t, "paying it", s.pay(newKey(), unpaid, "tok_ok"), 422, "order_not_payable")
		refusal(t, "cancelling it again", s.cancel(unpaid), 422, "order_not_cancellable")
		refusal(t, "another address", s.do(call{method: "PATCH", path: "/v1/orders/" + unpaid, key: newKey(), body: addressBody}), 422, "order_not_changeable")

		for mode, end := range map[string]string{"automatic": "refunded", "manual": "voided"} {
			payment, number := s.newPayment(mode)
			wantStatus(t, mode, s.cancel(s.orderOf(payment)), 201)
			s.until("the money of "+mode+" is back", func() bool {
				return s.do(call{method: "GET", path: "/v1/payments/" + payment}).field(t, "status") == end
			})
			if c := s.charges(number)[0]; c.Captured != c.Refunded {
				t.Errorf("%s: the provider has %+v", mode, c)
			}
		}
		if got := s.stock("mug"); got != 1000 {
			t.Errorf("stock: got %d, want 1000", got)
		}
		if got := s.count("SELECT count(*) FROM mails WHERE kind = 'order_cancelled'"); got != 3 {
			t.Errorf("mails: got %d, want 3", got)
		}
	})
}

func TestAPartlyRefundedOrderGivesBackTheRest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		payment, number := s.newPayment("automatic")
		wantStatus(t, "a part", s.change(payment, "refunds", `{"amount":1000}`), 202)
		wantStatus(t, "cancellation", s.cancel(s.orderOf(payment)), 201)
		s.work()
		s.until("all of it is back", func() bool { return s.charges(number)[0].Refunded.Amount == 4195 })
		if got := s.count("SELECT count(*) FROM modifications"); got != 2 {
			t.Errorf("refunds: got %d", got)
		}
	})
}

// TestPayingAndCancellingAtOnceLosesNoMoney lets the two meet in every way they like: at the end the
// order is cancelled and the provider keeps nothing.
func TestPayingAndCancellingAtOnceLosesNoMoney(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		for range 15 {
			order, number := s.newOrder()
			pay := call{path: "/v1/payments", key: newKey(), body: payBody(order, "tok_ok")}
			cancel := call{path: "/v1/orders/" + order + "/cancellations", key: newKey()}
			answers := together(t, 2, func(i int) (answer, error) { return s.untilFinal([]call{pay, cancel}[i]), nil })
			wantStatus(t, "cancellation", answers[1], 201)
			if a := answers[0]; a.Status != 201 && a.Status != 422 {
				t.Errorf("payment: got %d %s", a.Status, a.Body)
			}
			s.until("the provider keeps nothing", func() bool {
				for _, c := range s.charges(number) {
					if c.Captured != c.Refunded {
						return false
					}
				}
				return true
			})
		}
		if got := s.stock("mug"); got != 1000 {
			t.Errorf("stock: got %d, want 1000", got)
		}
		if got := s.count("SELECT count(*) FROM orders WHERE status <> 'cancelled'"); got != 0 {
			t.Errorf("%d orders are not cancelled", got)
		}
	})
}

func TestALateRetryOfACancellationIsNotRefusedAsASecondOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d, withRegistry(noMemory))
		payment, _ := s.newPayment("automatic")
		order := s.orderOf(payment)
		refund := call{path: "/v1/payments/" + payment + "/refunds", key: newKey()}
		wantStatus(t, "refund", s.do(refund), 202)
		cancel := call{path: "/v1/orders/" + order + "/cancellations", key: newKey()}
		wantStatus(t, "cancellation", s.do(cancel), 201)
		pay := call{path: "/v1/payments", key: newKey(), body: payBody(order, "tok_ok")}
		s.exec("DELETE FROM idempotency_keys")
		refusal(t, "the refund", s.do(refund), 410, "idempotency_key_expired")
		refusal(t, "the cancellation", s.do(cancel), 410, "idempotency_key_expired")
		refusal(t, "a new payment", s.do(pay), 422, "order_not_payable")
	})
}

// TestCancellingAPartlyCapturedOrderGivesBackAllOfIt: what was captured is refunded, the rest of the
// reservation is voided, and nothing more can be captured. It is so too when what was captured had been
// refunded before.
func TestCancellingAPartlyCapturedOrderGivesBackAllOfIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		for _, refunded := range []bool{false, true} {
			payment, number := s.newPayment("manual")
			wantStatus(t, "a part", s.change(payment, "captures", `{"amount":1000}`), 201)
			if refunded {
				wantStatus(t, "refund", s.change(payment, "refunds", ""), 202)
				s.until("it is refunded", func() bool { return s.charges(number)[0].Refunded.Amount == 1000 })
			}
			wantStatus(t, "cancellation", s.cancel(s.orderOf(payment)), 201)
			refusal(t, "a capture after it", s.change(payment, "captures", `{"amount":1}`), 422, "order_not_capturable")
			s.until("all of it is back", func() bool {
				return s.count("SELECT count(*) FROM modifications WHERE payment_id = ? AND status = 'succeeded'", payment) == 3
			})
			s.nothingIsKept(number)
			if voided := s.rawCharge(number)["voided"]; voided != float64(3195) {
				t.Errorf("refunded before %v: %v were voided, want 3195", refunded, voided)
			}
		}
	})
}

// nothingIsKept checks that the provider has given back what was captured, and will capture no more.
func (s *shop) nothingIsKept(number string) {
	s.t.Helper()
	c := s.rawCharge(number)
	if c["captured"] != c["refunded"] || c["captured"].(float64)+c["voided"].(float64) != c["amount"] {
		s.t.Errorf("the provider has %v", c)
	}
}

// TestCancellingAndCapturingAtOnceKeepsNothing lets them meet in every way they like: captures are made
// before the cancellation or refused, and at the end the provider neither has nor reserves anything.
func TestCancellingAndCapturingAtOnceKeepsNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		for range 6 {
			payment, number := s.newPayment("manual")
			cancel := call{path: "/v1/orders/" + s.orderOf(payment) + "/cancellations", key: newKey()}
			calls := []call{cancel}
			for range 3 {
				calls = append(calls, call{path: "/v1/payments/" + payment + "/captures", key: newKey(), body: `{"amount":1000}`})
			}
			answers := together(t, len(calls), func(i int) (answer, error) { return s.untilFinal(calls[i]), nil })
			wantStatus(t, "cancellation", answers[0], 201)
			for _, a := range answers[1:] {
				if a.Status != 201 {
					refusal(t, "capture", a, 422, "order_not_capturable")
				}
			}
			s.until("no change is under way", func() bool {
				return s.count("SELECT count(*) FROM modifications WHERE status = 'pending'") == 0
			})
			s.nothingIsKept(number)
		}
	})
}

// TestACancellationWaitsForACaptureThatIsUnderWay: what it will take cannot be known before.
func TestACancellationWaitsForACaptureThatIsUnderWay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan))
		s.work()
		payment, number := s.newPayment("manual")
		reached, release := f.hold(t, "before_capture")
		capturing := s.inBackground(call{path: "/v1/payments/" + payment + "/captures", key: newKey(), body: `{"amount":1000}`})
		await(t, "the capture", reached)
		cancel := call{path: "/v1/orders/" + s.orderOf(payment) + "/cancellations", key: newKey()}
		refusal(t, "cancellation", s.do(cancel), 409, "payment_in_progress")
		release()
		wantStatus(t, "capture", <-capturing, 201)
		wantStatus(t, "cancellation", s.untilFinal(cancel), 201)
		s.until("no change is under way", func() bool {
			return s.count("SELECT count(*) FROM modifications WHERE status = 'pending'") == 0
		})
		s.nothingIsKept(number)
	})
}

// TestMoneyReservedForACancelledOrderIsReleased: the customer approved at the bank while the order was
// being cancelled. Whichever commits first, the other decides anew.
func TestMoneyReservedForACancelledOrderIsReleased(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the event", "the cancellation"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, d storetest.Database) {
				var requests, work faults
				s := newShop(t, d, withPlan(requests.plan))
				s.work(work.plan)
				order, number := s.newOrder()
				wantStatus(t, "payment", s.do(call{path: "/v1/payments", key: newKey(),
					body: strings.Replace(payBody(order, "tok_3ds"), "{", `{"capture":"manual",`, 1)}), 202)
				s.approveAtProvider(s.rawCharge(number))
				approval := s.news("charge.authorized", number, nil)
				if first == "the event" {
					requests.once("before_commit", func(context.Context, string) error { // the cancellation has decided
						s.deliver(approval)
						s.settled(approval)
						return nil
					})
					wantStatus(t, "cancellation", s.cancel(order), 201)
				} else {
					work.once("before_apply_event", func(context.Context, string) error {
						work.once("before_commit", func(context.Context, string) error { // the event's job has decided
							wantStatus(t, "cancellation", s.cancel(order), 201)
							return nil
						})
						return nil
					})
					s.deliver(approval)
				}
				s.until("the reservation is released", func() bool { return s.rawCharge(number)["status"] == "voided" })
				s.nothingIsKept(number)
			})
		})
	}
}
