package admin

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// Orders is what the pages of orders look up.
type Orders interface {
	// Orders reads a part of the orders, without their lines. search is the whole of a number, of an
	// e-mail address or of a charge's id.
	Orders(ctx context.Context, search string, status domain.OrderStatus, cursor domain.Cursor) (domain.Part[domain.Order], error)
	OrderByNumber(ctx context.Context, number string) (domain.Order, error)
	PaymentsOf(ctx context.Context, orderID string) ([]domain.Payment, error)
	ModificationsOf(ctx context.Context, paymentID string) ([]domain.Modification, error)
	// MailsOf, EventsAbout and AttentionAbout read what there is about any of these ids.
	MailsOf(ctx context.Context, about []string) ([]domain.Mail, error)
	EventsAbout(ctx context.Context, about []string) ([]domain.Event, error)
	AttentionAbout(ctx context.Context, about []string) ([]domain.Attention, error)
	// KeysOf reads the keys under which an order and what belongs to it were made, oldest first.
	KeysOf(ctx context.Context, orderID string) ([]domain.KeyUse, error)
	StaffActions(ctx context.Context, about string) ([]domain.StaffAction, error)
}

func (d *Desk) mountOrders(r gin.IRouter) {
	r.GET("/orders", d.handle(d.orders))
	r.GET("/orders/:number", d.handle(d.order))
}

var orderStatuses = []choice{
	{string(domain.OrderAwaitingPayment), tAwaiting},
	{string(domain.OrderPaid), tPaid},
	{string(domain.OrderCancelled), tCancelled},
}

// orders lists the orders, or those that a search finds.
func (d *Desk) orders(c *gin.Context) error {
	l := listView{Path: "/admin/orders", Title: tOrders, Empty: tNoOrders, Query: tSearchOrders, Search: strings.TrimSpace(c.Query("q")),
		Filter: "status", Choices: orderStatuses, Chosen: chosenOf(c, "status", orderStatuses),
		Columns: []ui.Text{tNumber, tStatus, tTotal, tCustomer, tPlaced}}
	part, err := d.cfg.Reader.Orders(c.Request.Context(), l.Search, domain.OrderStatus(l.Chosen), cursorOf(c))
	if err != nil {
		return err
	}
	l.Count, l.Older, l.Newer = len(part.Items), part.Older, part.Newer
	return d.Site.Render(c, http.StatusOK, ordersPage(d.page(c, "/admin/orders", tOrders), l, part.Items))
}

func orderTone(s domain.OrderStatus) ui.Tone {
	switch s {
	case domain.OrderPaid:
		return ui.OK
	case domain.OrderCancelled:
		return ui.Warn
	default:
		return ui.Info
	}
}

func orderWord(s domain.OrderStatus) ui.Text {
	for _, one := range orderStatuses {
		if one.Value == string(s) {
			return one.Name
		}
	}
	return ui.Text{En: string(s), Nl: string(s)}
}
