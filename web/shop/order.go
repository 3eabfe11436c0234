package shop

import (
	"crypto/subtle"
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// orderView is an order as its owner sees it.
type orderView struct {
	domain.Order
	ui.Summary
	Title  ui.Text
	Status ui.Text
	Tone   ui.Tone
	Email  string // masked
	Mailed bool
}

// order shows an order to who knows its token. A wrong token and a number that does not exist get the
// same answer.
func (s *Shop) order(c *gin.Context) error {
	site.NoStore(c)
	ctx := c.Request.Context()
	order, err := s.Reader.OrderByNumber(ctx, c.Param("number"))
	if err != nil && domain.KindOf(err) != domain.NotFound {
		return err
	}
	if err != nil || order.Token == "" || subtle.ConstantTimeCompare([]byte(c.Query("t")), []byte(order.Token)) != 1 {
		s.Site.NotFound(c)
		return nil
	}
	payments, err := s.Reader.PaymentsOf(ctx, order.ID)
	if err != nil {
		return err
	}
	mails, err := s.Reader.MailsAbout(ctx, order.ID)
	if err != nil {
		return err
	}
	p := s.Site.Page(c, "")
	view := orderView{Order: order, Summary: ui.SummaryOf(p.Lang, order), Email: ui.MaskEmail(order.Email), Mailed: len(mails) > 0}
	view.Title, view.Status, view.Tone = told(order, payments)
	p.Title, p.State = p.T(view.Title), "order-"+string(order.Status)
	return s.Site.Render(c, http.StatusOK, orderPage(p, view))
}

// told is what an order's page says of it.
func told(order domain.Order, payments []domain.Payment) (title, status ui.Text, tone ui.Tone) {
	switch {
	case order.Status == domain.OrderPaid:
		return ui.TThanks, ui.TPaid, ui.OK
	case order.Status == domain.OrderCancelled:
		return ui.TOrderCancel, ui.TCancelled, ui.Warn
	case len(payments) > 0 && !payments[len(payments)-1].Status.NothingCharged():
		return ui.TOrderChecking, ui.TAwaiting, ui.Info
	default:
		return ui.TOrderPending, ui.TAwaiting, ui.Info
	}
}
