package api_test

import (
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
