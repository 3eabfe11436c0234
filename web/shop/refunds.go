package shop

import (
	"context"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// refunds is what came back of an order's payments and what still will, and whether one of them stays.
type refunds struct {
	kept         bool
	ofKept       domain.Money // part of the kept payment that was given back
	done, coming domain.Money // of all other payments
	failed       domain.Money // of those, what the provider would not give back: a person has been called
}

// refunds reads what is on its way back of the payments that do not stay.
func (s *Shop) refunds(ctx context.Context, order domain.Order, payments []domain.Payment) (refunds, error) {
	coming := map[string]int64{}
	for _, p := range payments {
		if stays(order, p) || p.Captured == p.Refunded {
			continue
		}
		changes, err := s.Reader.ModificationsOf(ctx, p.ID)
		if err != nil {
			return refunds{}, err
		}
		for _, m := range changes {
			if m.Kind == domain.Refund && m.Status == domain.ModificationPending {
				coming[p.ID] += m.Amount.Amount
			}
		}
	}
	return refundsOf(order, payments, coming), nil
}

// stays reports whether a payment is the one that the shop keeps. Of a cancelled order everything comes
// back, and so does money that came in when the order needed none any more.
func stays(order domain.Order, p domain.Payment) bool {
	return p.Status == domain.PaymentPaid && order.Status != domain.OrderCancelled
}

// refundsOf adds up. coming are the refunds that are under way, by payment.
func refundsOf(order domain.Order, payments []domain.Payment, coming map[string]int64) refunds {
	none := domain.Money{Currency: order.Total.Currency}
	r := refunds{ofKept: none, done: none, coming: none, failed: none}
	for _, p := range payments {
		if stays(order, p) {
			r.kept = true
			r.ofKept.Amount += p.Refunded.Amount
			continue
		}
		left := p.Captured.Amount - p.Refunded.Amount
		r.done.Amount += p.Refunded.Amount
		r.coming.Amount += min(left, coming[p.ID])
		r.failed.Amount += max(0, left-coming[p.ID])
	}
	return r
}

// all reports whether everything that was paid was given back.
func (r refunds) all() bool {
	return !r.kept && r.done.Amount > 0 && r.coming.Amount == 0 && r.failed.Amount == 0
}

// sentences tell it to the customer.
func (r refunds) sentences(p ui.Page) (list []string) {
	done, coming := ui.TBackDone, ui.TBackComing
	if r.kept {
		done, coming = ui.TTwiceDone, ui.TTwiceComing
	}
	for _, s := range []struct {
		text   ui.Text
		amount domain.Money
	}{{ui.TBackDone, r.ofKept}, {done, r.done}, {coming, r.coming}, {ui.TBackFailed, r.failed}} {
		if s.amount.Amount > 0 {
			list = append(list, p.T(s.text, p.Money(s.amount)))
		}
	}
	return list
}
