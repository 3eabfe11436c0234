package api

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"example.com/eenmaal/domain"
)

const noteTimeout = 2 * time.Second

var (
	errSettled = errors.New("the payment or its order was settled by somebody else")
	errAmount  = errors.New("amounts differ")
)

// confirmation is the mail that says an order is paid, in the order's language.
func (a *API) confirmation(o domain.Order, now time.Time) domain.Mail {
	id := newID()
	link := a.baseURL + "/orders/" + o.Number + "?t=" + url.QueryEscape(o.Token)
	subject := "Your order " + o.Number + " is paid"
	text := "Thank you. Your order " + o.Number + " is paid:\n\n" + linesOf(o, ".") + "\n\nSee your order: " + link + "\n"
	if o.Language == "nl" {
		link = a.baseURL + "/nl/orders/" + o.Number + "?t=" + url.QueryEscape(o.Token)
		subject = "Je bestelling " + o.Number + " is betaald"
		text = "Dank je wel. Je bestelling " + o.Number + " is betaald:\n\n" + linesOf(o, ",") + "\n\nBekijk je bestelling: " + link + "\n"
	}
	return domain.Mail{ID: id, MessageID: id + "@" + a.host(), Kind: "order_paid", About: o.ID, To: o.Email,
		Subject: subject, Text: text, CreatedAt: now}
}

func linesOf(o domain.Order, point string) string {
	var b strings.Builder
	for _, l := range o.Lines {
		fmt.Fprintf(&b, "%d x %s  %s\n", l.Quantity, l.Name, cents(l.Total(), point))
	}
	fmt.Fprintf(&b, "%s %s", map[string]string{".": "Total", ",": "Totaal"}[point], cents(o.Total, point))
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
