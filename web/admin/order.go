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
	Done      done // what the last press did, if this page follows one
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
	v.Done = v.told(c.Query("done"))
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

// done tells what was done with a key. It says nothing but what the books say.
type done struct {
	Text   ui.Text
	Amount domain.Money // for the text's placeholder; none when it is zero
	Tone   ui.Tone
}

// told finds what the desk made of this order with a key.
func (v orderView) told(text string) done {
	key, err := domain.ParseKey(text)
	if err != nil {
		return done{}
	}
	for _, use := range v.Keys {
		if !byDesk(use, key) {
			continue
		}
		if use.What == "cancellation" {
			return done{Text: tDoneCancel, Tone: ui.OK}
		}
		for _, p := range v.Payments {
			for _, m := range p.Changes {
				if m.ID == use.ID {
					return outcome(m)
				}
			}
		}
	}
	return done{}
}

func outcome(m domain.Modification) done {
	switch {
	case m.Status == domain.ModificationFailed:
		return done{tDoneFailed, m.Amount, ui.Danger}
	case m.Kind == domain.Refund && m.Status == domain.ModificationPending:
		return done{tDoneRefund, m.Amount, ui.OK}
	case m.Status == domain.ModificationPending:
		return done{tDonePending, m.Amount, ui.Warn}
	case m.Kind == domain.Refund:
		return done{tDoneRefunded, m.Amount, ui.OK}
	case m.Kind == domain.Capture:
		return done{tDoneCapture, m.Amount, ui.OK}
	default:
		return done{tDoneVoid, m.Amount, ui.OK}
	}
}

func (x done) in(p Page) string {
	if x.Amount.Amount == 0 {
		return p.T(x.Text)
	}
	return p.T(x.Text, p.Money(x.Amount))
}

// can are the verbs that are possible with a payment at this moment. For a cancelled order nothing more
// is captured.
func (p paymentView) can(order domain.OrderStatus) (list []verb) {
	for _, v := range verbs {
		_, refused := p.Modify(v.kind, 0, p.Changes)
		if refused == nil && !(v.kind == domain.Capture && order == domain.OrderCancelled) {
			list = append(list, v)
		}
	}
	return list
}
