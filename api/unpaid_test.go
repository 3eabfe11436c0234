package api_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store/storetest"
)

// expiry is how long the shop of these tests waits for the payment of an order.
const expiry = 72 * time.Hour

// endUnpaid ends the orders whose time is over, as the loop of a process does.
func (s *shop) endUnpaid() {
	s.t.Helper()
	if more, err := s.EndUnpaid(s.t.Context()); more || err != nil {
		s.t.Fatalf("more %v, error %v", more, err)
	}
}

func (s *shop) orderStatus(id string) string {
	s.t.Helper()
	return s.do(call{method: "GET", path: "/v1/orders/" + id}).field(s.t, "status")
}

// lateOrder is an order in a shop whose clock was moved: a key that tells its time would be too old there.
func (s *shop) lateOrder() (id, number string) {
	s.t.Helper()
	a := s.order(uuid.NewString(), mugOrder)
	wantStatus(s.t, "order", a, 201)
	return a.field(s.t, "id"), a.field(s.t, "number")
}

// expired checks that an order has ended for want of a payment, with nothing charged.
func (s *shop) expired(what, id, number string) {
	s.t.Helper()
	got := s.do(call{method: "GET", path: "/v1/orders/" + id})
	if got.field(s.t, "status") != "cancelled" || got.field(s.t, "cancelled_for") != "expired" {
		s.t.Errorf("%s: %s", what, got.Body)
	}
	for _, c := range s.charges(number) {
		if c.Captured.Amount != 0 {
			s.t.Errorf("%s: the provider has %+v", what, c)
		}
	}
}

// TestAnOrderThatNobodyPaysGivesItsArticlesBack when its time is over, and not before. An order with a
// payment that may still bring money is left alone.
func TestAnOrderThatNobodyPaysGivesItsArticlesBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		never, neverNumber := s.newOrder()
		declined, declinedNumber := s.newOrder()
		wantStatus(t, "a payment that is declined", s.pay(newKey(), declined, "tok_declined"), 402)
		atBank, _, _ := s.atBank()
		reserved, _ := s.newPayment("manual")
		paid, _ := s.newPayment("automatic")
		before := s.stock("mug")

		s.clock.Move(expiry - time.Minute)
		s.endUnpaid()
		for what, id := range map[string]string{"never paid": never, "declined": declined} {
			if got := s.orderStatus(id); got != "awaiting_payment" {
				t.Errorf("%s, a minute before the end: %s", what, got)
			}
		}
		s.clock.Move(2 * time.Minute)
		for range 3 {
			s.endUnpaid()
		}
		s.expired("never paid", never, neverNumber)
		s.expired("declined", declined, declinedNumber)
		for id, want := range map[string]string{atBank: "awaiting_payment", s.orderOf(reserved): "awaiting_payment", s.orderOf(paid): "paid"} {
			if got := s.orderStatus(id); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		if got := s.stock("mug"); got != before+4 {
			t.Errorf("stock: got %d, want that of two orders more than %d", got, before)
		}
		refusal(t, "paying it", s.pay(newKey(), never, "tok_ok"), 422, "order_not_payable")
		refusal(t, "cancelling it", s.cancel(never), 422, "order_not_cancellable")
		for query, want := range map[string]int{
			"SELECT count(*) FROM events WHERE type = 'order.cancelled' AND data LIKE '%\"cancelled_for\":\"expired\"%'": 2,
			"SELECT count(*) FROM mails WHERE kind = 'order_cancelled'":                                                  0,
			"SELECT count(*) FROM modifications":                                                                         0,
		} {
			if got := s.count(query); got != want {
				t.Errorf("%s: got %d, want %d", query, got, want)
			}
		}
	})
}

// TestTheProgramEndsUnpaidOrders: the loop begins with the other jobs.
func TestTheProgramEndsUnpaidOrders(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t))
	order, number := s.newOrder()
	s.clock.Move(expiry + time.Minute)
	s.work()
	s.until("the order has ended", func() bool { return s.orderStatus(order) == "cancelled" })
	s.expired("the order", order, number)
	if got := s.metric("orders_expired_total", ""); got != 1 {
		t.Errorf("orders_expired_total is %v", got)
	}
}

// TestAPaymentAndTheEndOfItsOrderMeet: whichever commits first, the other decides anew. Nothing is charged
// for an order that has ended.
func TestAPaymentAndTheEndOfItsOrderMeet(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var f faults
		s := newShop(t, d, withPlan(f.plan))
		order, number := s.newOrder()
		s.clock.Move(expiry + time.Minute)
		f.once("before_commit", func(context.Context, string) error { // of the payment, which saw the order wait for it
			s.endUnpaid()
			return nil
		})
		refusal(t, "the end comes first", s.pay(uuid.NewString(), order, "tok_ok"), 422, "order_not_payable")
		s.expired("the end comes first", order, number)

		other, otherNumber := s.lateOrder()
		s.clock.Move(expiry + time.Minute)
		f.once("before_commit", func(context.Context, string) error { // of the end, which saw no payment
			wantStatus(t, "the payment comes first", s.pay(uuid.NewString(), other, "tok_ok"), 201)
			return nil
		})
		_, err := s.EndUnpaid(fault.With(t.Context(), f.plan))
		must(t, err)
		s.paidOnce(other, otherNumber)
		if got := s.stock("mug"); got != 1000-2 {
			t.Errorf("stock: got %d, want 998", got)
		}
	})
}

// TestPaymentsAndTwoSweepsAtOnce races them: each order is either paid once or ended once.
func TestPaymentsAndTwoSweepsAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newShop(t, d)
		b := newShop(t, d, withProvider(a.provider))
		const orders = 12
		ids, numbers := make([]string, orders), make([]string, orders)
		for i := range orders {
			ids[i], numbers[i] = a.newOrder()
		}
		for _, s := range []*shop{a, b} {
			s.clock.Move(expiry + time.Minute)
		}
		together(t, orders/2+2, func(i int) (answer, error) {
			if i < 2 {
				_, err := []*shop{a, b}[i].EndUnpaid(t.Context())
				return answer{}, err
			}
			at := (i - 2) * 2 // every other order; those of before and behind it are only swept
			return a.untilFinal(call{path: "/v1/payments", key: uuid.NewString(), body: payBody(ids[at], "tok_ok")}), nil
		})
		a.endUnpaid()
		paid := 0
		for i, id := range ids {
			if a.orderStatus(id) == "paid" {
				paid++
				a.paidOnce(id, numbers[i])
				continue
			}
			a.expired("an order", id, numbers[i])
			if got := a.charges(numbers[i]); len(got) != 0 {
				t.Errorf("an order that has ended was charged: %+v", got)
			}
		}
		if paid > orders/2 {
			t.Errorf("%d orders are paid", paid)
		}
		if got := a.stock("mug"); got != 1000-2*paid {
			t.Errorf("stock: got %d, want %d", got, 1000-2*paid)
		}
		if got := a.count("SELECT count(*) FROM events WHERE type = 'order.cancelled'"); got != orders-paid {
			t.Errorf("events: got %d, want %d", got, orders-paid)
		}
	})
}

// TestASweepThatIsCutOffEndsNoOrderTwice: before its commit nothing has happened, after it everything.
func TestASweepThatIsCutOffEndsNoOrderTwice(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		for i, point := range []string{"before_commit", "after_commit"} {
			order, number := s.lateOrder()
			s.clock.Move(expiry + time.Minute)
			var f faults
			f.once(point, func(context.Context, string) error { return errors.New("the process died") })
			if _, err := s.EndUnpaid(fault.With(t.Context(), f.plan)); err == nil {
				t.Fatalf("%s was not passed", point)
			}
			if got, want := s.orderStatus(order), []string{"awaiting_payment", "cancelled"}[i]; got != want {
				t.Errorf("cut off %s: %s, want %s", point, got, want)
			}
			s.endUnpaid()
			s.expired(point, order, number)
		}
		if got := s.stock("mug"); got != 1000 {
			t.Errorf("stock: got %d, want 1000", got)
		}
	})
}

// TestMoneyForAnOrderThatHasEndedIsGivenBack: the provider said that the customer had left, and then that
// he paid after all. Its word on money is the last one.
func TestMoneyForAnOrderThatHasEndedIsGivenBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		order, number, payment := s.atBank()
		bank := s.rawCharge(number)
		left := newsOf(t, "charge.canceled", bank, map[string]any{"status": "canceled", "version": 1, "redirect_url": ""})
		s.deliver(left)
		s.settled(left)
		s.clock.Move(expiry + time.Minute)
		s.endUnpaid()
		s.expired("the order", order, number)

		s.approveAtProvider(bank)
		late := newsOf(t, "charge.succeeded", bank, approved(2))
		late.at = s.clock.Now() // the signature; a late event is signed when it is sent
		wantStatus(t, "delivery", s.deliver(late), 200)
		s.until("the payment is given back", func() bool {
			return s.do(call{method: "GET", path: "/v1/payments/" + payment}).field(t, "status") == "refunded"
		})
		if c := s.charges(number)[0]; c.Captured != c.Refunded || c.Captured.Amount != 4195 {
			t.Errorf("the provider has %+v", c)
		}
		if got := s.orderStatus(order); got != "cancelled" {
			t.Errorf("the order is %s", got)
		}
		if got := s.stock("mug"); got != 1000 {
			t.Errorf("stock: got %d, want 1000", got)
		}
	})
}
