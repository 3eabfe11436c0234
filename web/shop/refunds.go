package shop

import (
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// refunds is what came back of an order's payments and what still will, and whether one of them stays.
type refunds struct {
	kept         bool
	ofKept       domain.Money // part of the kept payment that was given back
	done, coming domain.Money // of all other payments
}

// refundsOf adds up. Of a cancelled order everything comes back, and so does money that came in when
// the order needed none any more.
func refundsOf(order domain.Order, payments []domain.Payment) refunds {
	none := domain.Money{Currency: order.Total.Currency}
	r := refunds{ofKept: none, done: none, coming: none}
	for _, p := range payments {
		if p.Status == domain.PaymentPaid && order.Status != domain.OrderCancelled {
			r.kept = true
			r.ofKept.Amount += p.Refunded.Amount
			continue
		}
		r.done.Amount += p.Refunded.Amount
		r.coming.Amount += p.Captured.Amount - p.Refunded.Amount
	}
	return r
}

// all reports whether everything that was paid was given back.
func (r refunds) all() bool { return !r.kept && r.done.Amount > 0 && r.coming.Amount == 0 }

// sentences tell it to the customer.
func (r refunds) sentences(p ui.Page) (list []string) {
	done, coming := ui.TBackDone, ui.TBackComing
	if r.kept {
		done, coming = ui.TTwiceDone, ui.TTwiceComing
	}
	for _, s := range []struct {
		text   ui.Text
		amount domain.Money
	}{{ui.TBackDone, r.ofKept}, {done, r.done}, {coming, r.coming}} {
		if s.amount.Amount > 0 {
			list = append(list, p.T(s.text, p.Money(s.amount)))
		}
	}
	return list
}
