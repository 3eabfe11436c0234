package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// TestTheDeskMayChangeEveryOrderAndNobodyElseMay covers S1 and S2: what the desk does is its own, and gives
// no consumer a right to another one's orders, payments or keys.
func TestTheDeskMayChangeEveryOrderAndNobodyElseMay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		payment, number := s.newPayment("automatic")
		key, err := domain.ParseKey(newKey())
		must(t, err)
		in := api.RefundPayment{PaymentID: payment, Amount: api.Amount(domain.EUR(500))}
		for _, c := range []domain.Consumer{{ID: 2, Name: "beta"}, domain.FlowConsumer("checkout", "desk"), domain.FlowConsumer("contact", "desk"),
			domain.FlowConsumer("", "desk\x00desk"), {ID: 0}, {ID: 3, Name: "desk"}} {
			reply, err := s.RefundPayment.Do(t.Context(), c, key, in)
			if err == nil {
				_, err = s.RefundPayment.Output(reply)
			}
			if domain.KindOf(err) != domain.NotFound {
				t.Errorf("%+v: %v, want that there is no such payment", c, err)
			}
		}
		for range 2 {
			reply, err := s.RefundPayment.Do(t.Context(), domain.DeskConsumer, key, in)
			must(t, err)
			if m, err := s.RefundPayment.Output(reply); err != nil || m.Amount != domain.EUR(500) {
				t.Fatalf("the desk's refund: %+v %v", m, err)
			}
		}
		s.until("the money is back", func() bool { return s.charges(number)[0].Refunded.Amount == 500 })
		if got := s.count("SELECT count(*) FROM modifications"); got != 1 {
			t.Errorf("refunds: got %d", got)
		}
		// Nobody meets the desk's key, and the owner hears of the refund as of his own.
		refusal(t, "the desk's key", s.do(call{method: "GET", path: "/v1/operations?endpoint=POST+/v1/payments/:id/refunds&key=" + key.String()}), 404, "operation_not_found")
		list := s.do(call{method: "GET", path: "/v1/payments/" + payment + "/refunds"})
		var refunds []struct{ Status string }
		if err := json.Unmarshal([]byte(list.Body), &refunds); err != nil || len(refunds) != 1 {
			t.Errorf("the owner's refunds: %s", list.Body)
		}
	})
}

// TestTheDeskCancelsCapturesAndVoids for whoever placed the order.
func TestTheDeskCancelsCapturesAndVoids(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		next := func() domain.Key {
			key, err := domain.ParseKey(newKey())
			must(t, err)
			return key
		}
		payment, number := s.newPayment("manual")
		_, err := s.CapturePayment.Do(t.Context(), domain.DeskConsumer, next(), api.CapturePayment{PaymentID: payment, Amount: api.Amount(domain.EUR(1000))})
		must(t, err)
		_, err = s.VoidPayment.Do(t.Context(), domain.DeskConsumer, next(), api.VoidPayment{PaymentID: payment})
		must(t, err)
		_, err = s.CancelOrder.Do(t.Context(), domain.DeskConsumer, next(), api.CancelOrder{OrderID: s.orderOf(payment)})
		must(t, err)
		s.until("the money is back", func() bool {
			c := s.charges(number)[0]
			return c.Captured.Amount == 1000 && c.Refunded.Amount == 1000
		})
	})
}

// TestNoOtherFlowIsTheDesk: its consumer cannot be made by an id in an address.
func TestNoOtherFlowIsTheDesk(t *testing.T) {
	t.Parallel()
	if domain.DeskConsumer.ID >= 0 {
		t.Error("an API consumer could have the desk's id")
	}
	for _, kind := range []string{"checkout", "contact", "", "desk"} {
		for _, flow := range []string{"", "desk", "desk\x00desk", strings.Repeat("desk", 2)} {
			if kind+flow != "deskdesk" && domain.FlowConsumer(kind, flow).ID == domain.DeskConsumer.ID {
				t.Errorf("%q of kind %q is the desk", flow, kind)
			}
		}
	}
}
