package api_test

import (
	"testing"
	"time"

	"example.com/eenmaal/store/storetest"
)

// TestAPaymentWhoseNewsIsLostIsAskedFor: the provider of these tests sends no events at all.
func TestAPaymentWhoseNewsIsLostIsAskedFor(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d, withAskAfter(20*time.Millisecond))
		s.work()
		order, number, payment := s.atBank()
		s.until("it was asked for before the customer did anything", func() bool {
			return s.count("SELECT count(*) FROM river_job WHERE kind = 'ask_provider' AND CAST(metadata AS text) LIKE '%snoozes%'") == 1
		})
		s.approveAtProvider(s.rawCharge(number))
		s.until("the payment is no longer pending", func() bool {
			return s.do(call{method: "GET", path: "/v1/payments/" + payment}).field(t, "status") != "pending"
		})
		s.paidOnce(order, number)
		s.until("nobody is asked any more", func() bool {
			return s.count("SELECT count(*) FROM river_job WHERE kind = 'ask_provider' AND state = 'completed'") == 1
		})
		if got := s.count("SELECT count(*) FROM river_job WHERE kind = 'ask_provider'"); got != 1 {
			t.Errorf("%d jobs asked, want one", got)
		}
	})
}

// TestAPaymentThatWaitsForADayIsForAPerson: providers end the wait of their customers long before.
func TestAPaymentThatWaitsForADayIsForAPerson(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d, withAskAfter(20*time.Millisecond))
		_, _, payment := s.atBank()
		s.clock.Move(25 * time.Hour)
		s.work()
		s.until("it is flagged", func() bool {
			return s.count("SELECT count(*) FROM attention WHERE kind = 'payment_pending' AND about = ?", payment) == 1
		})
		if got := s.count("SELECT count(*) FROM payments WHERE status = 'pending'"); got != 1 {
			t.Error("the payment was guessed to have ended")
		}
	})
}
