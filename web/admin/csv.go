package admin

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
)

func (d *Desk) mountCSV(r gin.IRouter) {
	r.GET("/orders.csv", d.handle(d.ordersCSV))
	r.GET("/messages.csv", d.handle(d.messagesCSV))
}

// ordersCSV sends the orders that the list shows, all of them.
func (d *Desk) ordersCSV(c *gin.Context) error {
	search, status := strings.TrimSpace(c.Query("q")), domain.OrderStatus(chosenOf(c, "status", orderStatuses))
	head := []string{"number", "placed_at", "status", "total", "shipping", "currency", "email", "name", "line1", "postal_code", "city", "country", "language"}
	return sendCSV(d, c, "orders", head,
		func(ctx context.Context, at domain.Cursor) (domain.Part[domain.Order], error) {
			return d.cfg.Reader.Orders(ctx, search, status, at)
		},
		func(o domain.Order) []string {
			return []string{o.Number, isoTime(o.CreatedAt), string(o.Status), decimal(o.Total), decimal(o.Shipping), o.Total.Currency, o.Email, o.Name,
				o.Address.Line1, o.Address.PostalCode, o.Address.City, o.Address.Country, o.Language}
		})
}

// messagesCSV sends the contact messages that the list shows, all of them.
func (d *Desk) messagesCSV(c *gin.Context) error {
	l := listing(c, messagesView(c))
	head := []string{"reference", "sent_at", "name", "email", "message", "answered_at", "answered_by"}
	return sendCSV(d, c, "messages", head,
		func(ctx context.Context, at domain.Cursor) (domain.Part[domain.Message], error) {
			l.Cursor = at
			return d.cfg.Reader.ListMessages(ctx, l)
		},
		func(m domain.Message) []string {
			return []string{m.Reference, isoTime(m.CreatedAt), m.Name, m.Email, m.Text, isoTime(m.AnsweredAt), m.AnsweredBy}
		})
}

// csvPatience is how long the browser may take for one part of a file.
const csvPatience = 30 * time.Second

// sendCSV sends a list as a file, part by part: it is never whole in memory. A file that cannot be ended
// breaks off, so that nobody takes it for the whole.
func sendCSV[T any](d *Desk, c *gin.Context, name string, head []string, read func(context.Context, domain.Cursor) (domain.Part[T], error), row func(T) []string) error {
	ctx := c.Request.Context()
	part, err := read(ctx, domain.Cursor{})
	if err != nil {
		return err
	}
	c.Header("Content-Type", "text/csv; charset=utf-8; header=present")
	c.Header("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%s.csv"`, name, d.Site.Now().UTC().Format("2006-01-02")))
	connection := http.NewResponseController(c.Writer)
	out := csv.NewWriter(c.Writer)
	_ = out.Write(head) // Flush tells of every error before it
	for {
		_ = connection.SetWriteDeadline(time.Now().Add(csvPatience)) // where there is none, there is none to move
		for _, item := range part.Items {
			_ = out.Write(neutral(row(item)))
		}
		if out.Flush(); out.Error() != nil || part.Older == "" {
			return nil // the reader has gone, or has everything
		}
		if part, err = read(ctx, domain.Cursor{Before: part.Older}); err != nil {
			d.Site.Log.ErrorContext(ctx, "export broken off", "file", name, "error", err)
			_ = connection.SetWriteDeadline(time.Unix(1, 0)) // so that the end of the file cannot be sent
			return nil
		}
	}
}

// export is where the list is found as a file.
func (l listView) export(p Page, path string) string {
	l.Path = path
	return l.address(p, l.Chosen)
}

// neutral keeps spreadsheets from taking a cell for a formula (S49): one that would begin one begins with an
// apostrophe, which they show as text.
func neutral(cells []string) []string {
	for i, cell := range cells {
		begin := strings.TrimLeftFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
		if strings.HasPrefix(cell, "\t") || strings.HasPrefix(cell, "\r") || strings.HasPrefix(cell, "\n") || begin != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(begin)[0]) {
			cells[i] = "'" + cell
		}
	}
	return cells
}

// isoTime writes a time in UTC; nothing for none.
func isoTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// decimal writes an amount without its currency, with a point.
func decimal(m domain.Money) string { return fmt.Sprintf("%d.%02d", m.Amount/100, m.Amount%100) }
