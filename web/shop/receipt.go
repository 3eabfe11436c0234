package shop

import (
	"strings"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// A receipt is the order's page on paper: the shop, the number, the date, what was bought, the VAT in it
// and how it was paid. What is there to press is not printed.

// paidWith tells how and when an order was paid. The payment that the shop kept counts, or else one
// that it gave back; without either it is empty.
func paidWith(l ui.Lang, payments []domain.Payment) (said string) {
	for _, p := range payments {
		switch p.Status {
		case domain.PaymentPaid:
			return ui.MethodKind(l, p.Method) + ", " + ui.Moment(l, p.CreatedAt)
		case domain.PaymentRefunded:
			said = ui.MethodKind(l, p.Method) + ", " + ui.Moment(l, p.CreatedAt)
		}
	}
	return said
}

// place is where the shop is on the web, as a receipt says it.
func place(p ui.Page) string {
	return strings.TrimPrefix(strings.TrimPrefix(p.BaseURL, "https://"), "http://")
}
