package admin

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// orderView is everything that is known of one order.
type orderView struct {
	domain.Order
	Payments  []paymentView
	Mails     []domain.Mail
	Events    []domain.Event
	Attention []domain.Attention
	Keys      []domain.KeyUse
	Actions   []domain.StaffAction
	Done      ui.Text // what the last press did, if this page follows one
}

type paymentView struct {
	domain.Payment
	Changes []domain.Modification
}

// ids are all that may be written about.
func (v orderView) ids() []string {
	ids := []string{v.ID}
	for _, p := range v.Payments {
		ids = append(ids, p.ID)
		for _, m := range p.Changes {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func (d *Desk) order(c *gin.Context) error {
	v, err := d.readOrder(c)
	if err != nil {
		return err
	}
	ctx, read := c.Request.Context(), d.cfg.Reader
	if v.Mails, err = read.MailsOf(ctx, v.ids()); err != nil {
		return err
	}
	if v.Events, err = read.EventsAbout(ctx, v.ids()); err != nil {
		return err
	}
	if v.Attention, err = read.AttentionAbout(ctx, append(v.ids(), v.Number)); err != nil {
		return err
	}
	if v.Keys, err = read.KeysOf(ctx, v.ID); err != nil {
		return err
	}
	if v.Actions, err = read.StaffActions(ctx, v.ID); err != nil {
		return err
	}
	return d.Site.Render(c, http.StatusOK, orderPage(d.page(c, "/admin/orders", tOrder, v.Number), v))
}

// readOrder reads the order that the address names, with its payments and their changes.
func (d *Desk) readOrder(c *gin.Context) (v orderView, err error) {
	ctx, read := c.Request.Context(), d.cfg.Reader
	if v.Order, err = read.OrderByNumber(ctx, c.Param("number")); err != nil {
		return v, err
	}
	payments, err := read.PaymentsOf(ctx, v.ID)
	if err != nil {
		return v, err
	}
	for _, p := range payments {
		changes, err := read.ModificationsOf(ctx, p.ID)
		if err != nil {
			return v, err
		}
		v.Payments = append(v.Payments, paymentView{p, changes})
	}
	return v, nil
}
