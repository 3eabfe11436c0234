package api

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"example.com/eenmaal/domain"
)

// mailWords are the sentences of a mail in one language; %s is the order's number.
type mailWords struct{ path, subject, thanks, delivery, total, link, point string }

var confirmationWords = map[string]mailWords{
	"en": {"/orders/", "Your order %s is paid", "Thank you. Your order %s is paid:", "Delivery", "Total including VAT", "See your order:", "."},
	"nl": {"/nl/orders/", "Je bestelling %s is betaald", "Dank je wel. Je bestelling %s is betaald:", "Bezorging", "Totaal inclusief btw", "Bekijk je bestelling:", ","},
}

// confirmation is the mail that says an order is paid, in the order's language.
func (a *API) confirmation(o domain.Order, now time.Time) domain.Mail {
	id, w := newID(), confirmationWords[o.Language]
	link := a.baseURL + w.path + o.Number + "?t=" + url.QueryEscape(o.Token)
	text := fmt.Sprintf(w.thanks+"\n\n%s\n\n%s %s\n", o.Number, linesOf(o, w), w.link, link)
	return domain.Mail{ID: id, MessageID: id + "@" + a.host(), Kind: "order_paid", About: o.ID, To: o.Email,
		Subject: fmt.Sprintf(w.subject, o.Number), Text: text, CreatedAt: now}
}

// linesOf lists what the total is made of.
func linesOf(o domain.Order, w mailWords) string {
	var b strings.Builder
	for _, l := range o.Lines {
		fmt.Fprintf(&b, "%d x %s  %s\n", l.Quantity, l.Name, cents(l.Total(), w.point))
	}
	fmt.Fprintf(&b, "%s  %s\n%s  %s", w.delivery, cents(o.Shipping, w.point), w.total, cents(o.Total, w.point))
	return b.String()
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
