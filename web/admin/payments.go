package admin

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// verb is one thing that the desk does with a payment.
type verb struct {
	kind         domain.ModificationKind
	name         ui.Text // on the link that leads to the form
	title        ui.Text // of the form, with the order's number
	lead, button ui.Text
	whole        bool // always all that is left, so no amount is asked
}

var verbs = []verb{
	{kind: domain.Refund, name: tRefund, title: tRefundTitle, lead: tRefundLead, button: tRefund},
	{kind: domain.Capture, name: tCapture, title: tCaptureTitle, lead: tCaptureLead, button: tCapture},
	{kind: domain.Void, name: tVoid, title: tVoidTitle, lead: tVoidLead, button: tVoid, whole: true},
}

// mountPayments adds the forms that change a payment. Each has its key in its address.
func (d *Desk) mountPayments(r gin.IRouter) {
	r.GET("/orders/:number/payments/:payment/:action", d.handle(d.openChange))
	r.GET("/orders/:number/payments/:payment/:action/:key", d.handle(d.changeForm))
	r.POST("/orders/:number/payments/:payment/:action/:key", d.handle(d.change))
}

// changing is a payment that somebody is about to change.
type changing struct {
	verb
	order   orderView
	payment paymentView
	left    domain.Money // that can still be changed; nothing when refused is set
	refused error
	form    actionView
	typed   string
}

// path is where forms of this kind are made.
func (x changing) path() string {
	return "/admin/orders/" + x.order.Number + "/payments/" + x.payment.ID + "/" + string(x.kind)
}

func (d *Desk) readChange(c *gin.Context) (x changing, err error) {
	at := slices.IndexFunc(verbs, func(v verb) bool { return string(v.kind) == c.Param("action") })
	if at < 0 {
		return x, domain.Errorf(domain.NotFound, "form_not_found", "There is no such form.")
	}
	x.verb = verbs[at]
	if x.order, err = d.readOrder(c); err != nil {
		return x, err
	}
	at = slices.IndexFunc(x.order.Payments, func(p paymentView) bool { return p.ID == c.Param("payment") })
	if at < 0 {
		return x, domain.Errorf(domain.NotFound, "payment_not_found", "There is no such payment.")
	}
	x.payment = x.order.Payments[at]
	rest, refused := x.payment.Modify(x.kind, 0, x.payment.Changes)
	x.left, x.refused = rest.Amount, refused
	lang := site.Lang(c)
	x.form = actionView{Anew: x.path(), Back: "/admin/orders/" + x.order.Number, Lead: x.lead.In(lang), Button: x.button.In(lang)}
	return x, nil
}

func (d *Desk) openChange(c *gin.Context) error {
	x, err := d.readChange(c)
	if err != nil {
		return err
	}
	return d.open(c, x.path())
}

// changeForm shows the form. One that was sent already shows what it did.
func (d *Desk) changeForm(c *gin.Context) error {
	x, key, err := d.keyedChange(c)
	if err != nil {
		return err
	}
	if used, err := d.used(c.Request.Context(), x.order.ID, key); err != nil || used {
		return seeDone(d, c, err, x.order.Number, key)
	}
	if e, ok := x.refused.(*domain.Error); ok { //nolint:errorlint // as Modify gives it
		x.form.Tone, x.form.Problem, x.form.Detail, x.form.Over, x.form.Anew = ui.Info, tNothingLeft.In(site.Lang(c)), reason(site.Lang(c), e), true, ""
	}
	x.typed = writeAmount(site.Lang(c), x.left)
	return d.showChange(c, http.StatusOK, x)
}

func (d *Desk) keyedChange(c *gin.Context) (changing, domain.Key, error) {
	x, err := d.readChange(c)
	if err != nil {
		return x, domain.Key{}, err
	}
	key, err := d.keyed(c)
	x.form.Key, x.form.Path = key.String(), x.path()+"/"+key.String()
	return x, key, err
}

func (d *Desk) showChange(c *gin.Context, status int, x changing) error {
	p := d.page(c, "/admin/orders", x.title, x.order.Number)
	p.Failed, p.State = status != http.StatusOK, "change-"+x.form.Key
	return d.Site.Render(c, status, changePage(p, x))
}

// change asks for a change of a payment, once for the key of the form.
func (d *Desk) change(c *gin.Context) error {
	x, key, err := d.keyedChange(c)
	if err != nil {
		return err
	}
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	lang := site.Lang(c)
	var amount domain.Money
	if x.typed = form.Get("amount"); !x.whole {
		var mistake ui.Text
		if amount, mistake = parseAmount(x.typed, x.payment.Amount); mistake != (ui.Text{}) {
			x.form.Mistakes = []ui.Mistake{{Field: "amount", Text: mistake.In(lang)}}
			return d.showChange(c, http.StatusUnprocessableEntity, x)
		}
	}
	err = d.doChange(c, x, key, api.Amount(amount))
	// A refusal that the provider gave is kept as a change that failed: the order's page tells it.
	if used, readErr := d.used(c.Request.Context(), x.order.ID, key); err == nil || domain.KindOf(err) == domain.Refused && readErr == nil && used {
		return seeDone(d, c, nil, x.order.Number, key)
	}
	return d.unsettled(c, x.form, err, func(status int, v actionView) error {
		x.form = v
		return d.showChange(c, status, x)
	})
}

func (d *Desk) doChange(c *gin.Context, x changing, key domain.Key, amount api.Amount) (err error) {
	switch x.kind {
	case domain.Refund:
		_, err = do(d, c, d.cfg.Ops.RefundPayment, deedRefund, x.order.ID, key, api.RefundPayment{PaymentID: x.payment.ID, Amount: amount})
	case domain.Capture:
		_, err = do(d, c, d.cfg.Ops.CapturePayment, deedCapture, x.order.ID, key, api.CapturePayment{PaymentID: x.payment.ID, Amount: amount})
	case domain.Void:
		_, err = do(d, c, d.cfg.Ops.VoidPayment, deedVoid, x.order.ID, key, api.VoidPayment{PaymentID: x.payment.ID})
	}
	return err
}

// used reports whether something of the order was made with this key at the desk.
func (d *Desk) used(ctx context.Context, orderID string, key domain.Key) (bool, error) {
	keys, err := d.cfg.Reader.KeysOf(ctx, orderID)
	return slices.ContainsFunc(keys, func(u domain.KeyUse) bool { return byDesk(u, key) }), err
}

func byDesk(u domain.KeyUse, key domain.Key) bool {
	return u.Consumer == domain.DeskConsumer.ID && u.Key.ID() == key.ID()
}

// seeDone leads to the order, which tells what was done with a key.
func seeDone(d *Desk, c *gin.Context, err error, number string, key domain.Key) error {
	if err != nil {
		return err
	}
	return d.Site.See(c, "/admin/orders/"+number+"?done="+key.String())
}
