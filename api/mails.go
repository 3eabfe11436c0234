package api

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"example.com/eenmaal/domain"
)

// mailWords are the sentences of a kind of mail in one language. In subject and text, %s is the
// order's number and %[2]s an amount.
type mailWords struct{ subject, text string }

var mails = map[string]map[string]mailWords{
	"order_paid": {
		"en": {"Your order %s is paid", "Thank you. Your order %s is paid:"},
		"nl": {"Je bestelling %s is betaald", "Dank je wel. Je bestelling %s is betaald:"},
	},
	"order_cancelled": {
		"en": {"Your order %s is cancelled", "Your order %s is cancelled. What you paid for it is on its way back to you.\n"},
		"nl": {"Je bestelling %s is geannuleerd", "Je bestelling %s is geannuleerd. Wat je ervoor betaalde, krijg je terug.\n"},
	},
	"refunded": {
		"en": {"Money back for your order %s", "We refunded %[2]s of your order %[1]s. Depending on your bank it takes a few days to arrive.\n"},
		"nl": {"Geld terug voor je bestelling %s", "We hebben %[2]s van je bestelling %[1]s terugbetaald. Afhankelijk van je bank duurt het een paar dagen.\n"},
	},
	"paid_in_vain": {
		"en": {"You get %[2]s back for order %[1]s", "We received %[2]s for your order %[1]s, which did not need to be paid any more. We are refunding it; you need not do anything.\n"},
		"nl": {"Je krijgt %[2]s terug voor bestelling %[1]s", "We ontvingen %[2]s voor je bestelling %[1]s, die niet meer betaald hoefde te worden. We betalen het terug; je hoeft niets te doen.\n"},
	},
}

var orderWords = map[string]struct{ path, delivery, total, link, point string }{
	"en": {"/orders/", "Delivery", "Total including VAT", "See your order:", "."},
	"nl": {"/nl/orders/", "Bezorging", "Totaal inclusief btw", "Bekijk je bestelling:", ","},
}

// confirmation is the mail that says an order is paid.
func (a *API) confirmation(o domain.Order, now time.Time) domain.Mail {
	m := a.mailOf("order_paid", o.ID, o, o.Total, now)
	m.Text += "\n\n" + linesOf(o) + "\n\n" + orderWords[o.Language].link + " " + a.orderLink(o) + "\n"
	return m
}

func (a *API) cancelled(o domain.Order, now time.Time) domain.Mail {
	return a.mailOf("order_cancelled", o.ID, o, o.Total, now)
}

func (a *API) refunded(o domain.Order, m domain.Modification, now time.Time) domain.Mail {
	return a.mailOf("refunded", m.ID, o, m.Amount, now)
}

func (a *API) paidInVain(o domain.Order, p domain.Payment, now time.Time) domain.Mail {
	return a.mailOf("paid_in_vain", p.ID, o, p.Captured, now)
}

// mailOf writes a mail of one kind about one thing, in the order's language. There is at most one.
func (a *API) mailOf(kind, about string, o domain.Order, amount domain.Money, now time.Time) domain.Mail {
	id, w, money := newID(), mails[kind][o.Language], cents(amount, orderWords[o.Language].point)
	return domain.Mail{ID: id, MessageID: id + "@" + a.host(), Kind: kind, About: about, To: o.Email,
		Subject: fill(w.subject, o.Number, money), Text: fill(w.text, o.Number, money), CreatedAt: now}
}

// fill puts the number and the amount in; a sentence may do without the amount.
func fill(sentence, number, amount string) string {
	if !strings.Contains(sentence, "%[2]s") {
		return fmt.Sprintf(sentence, number)
	}
	return fmt.Sprintf(sentence, number, amount)
}

// linesOf lists what the total is made of.
func linesOf(o domain.Order) string {
	var b strings.Builder
	w := orderWords[o.Language]
	for _, l := range o.Lines {
		fmt.Fprintf(&b, "%d x %s  %s\n", l.Quantity, domain.ArticleName(o.Language, l.SKU, l.Name), cents(l.Total(), w.point))
	}
	fmt.Fprintf(&b, "%s  %s\n%s  %s", w.delivery, cents(o.Shipping, w.point), w.total, cents(o.Total, w.point))
	return b.String()
}

func (a *API) orderLink(o domain.Order) string {
	return a.baseURL + orderWords[o.Language].path + o.Number + "?t=" + url.QueryEscape(o.Token)
}

func cents(m domain.Money, point string) string {
	return fmt.Sprintf("%s %d%s%02d", m.Currency, m.Amount/100, point, m.Amount%100)
}

func (a *API) host() string {
	if u, err := url.Parse(a.baseURL); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return "localhost"
}
