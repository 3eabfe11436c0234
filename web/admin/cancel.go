package admin

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// mountCancel adds the form that ends an order. It has its key in its address.
func (d *Desk) mountCancel(r gin.IRouter) {
	r.GET("/orders/:number/cancel", d.handle(d.openCancel))
	r.GET("/orders/:number/cancel/:key", d.handle(d.cancelForm))
	r.POST("/orders/:number/cancel/:key", d.handle(d.cancel))
}

func (d *Desk) openCancel(c *gin.Context) error {
	order, err := d.cfg.Reader.OrderByNumber(c.Request.Context(), c.Param("number"))
	if err != nil {
		return err
	}
	return d.open(c, "/admin/orders/"+order.Number+"/cancel")
}

// readCancel reads the order and the form's key.
func (d *Desk) readCancel(c *gin.Context) (order domain.Order, key domain.Key, v actionView, err error) {
	if order, err = d.cfg.Reader.OrderByNumber(c.Request.Context(), c.Param("number")); err != nil {
		return order, key, v, err
	}
	key, err = d.keyed(c)
	lang, home := site.Lang(c), "/admin/orders/"+order.Number
	return order, key, actionView{Path: home + "/cancel/" + key.String(), Back: home, Key: key.String(),
		Lead: tCancelLead.In(lang), Button: tCancel.In(lang)}, err
}

// cancelForm shows the form. One that was sent already shows what it did.
func (d *Desk) cancelForm(c *gin.Context) error {
	order, key, v, err := d.readCancel(c)
	if err != nil {
		return err
	}
	if used, err := d.used(c.Request.Context(), order.ID, key); err != nil || used {
		return seeDone(d, c, err, order.Number, key)
	}
	if order.Status == domain.OrderCancelled {
		lang := site.Lang(c)
		v.Tone, v.Problem, v.Detail, v.Over = ui.Info, tNothingLeft.In(lang), refusals["order_not_cancellable"].In(lang), true
	}
	return d.showCancel(c, http.StatusOK, order, v)
}

func (d *Desk) showCancel(c *gin.Context, status int, order domain.Order, v actionView) error {
	p := d.page(c, "/admin/orders", tCancelTitle, order.Number)
	p.Failed, p.State = status != http.StatusOK, "cancel-"+v.Key
	return d.Site.Render(c, status, cancelPage(p, order, v))
}

// cancel ends the order, once for the key of the form.
func (d *Desk) cancel(c *gin.Context) error {
	order, key, v, err := d.readCancel(c)
	if err != nil {
		return err
	}
	if _, err := site.Form(c); err != nil {
		return err
	}
	_, err = do(d, c, d.cfg.Ops.CancelOrder, deedCancel, order.ID, key, api.CancelOrder{OrderID: order.ID})
	if err == nil {
		return seeDone(d, c, nil, order.Number, key)
	}
	return d.unsettled(c, v, err, func(status int, v actionView) error { return d.showCancel(c, status, order, v) })
}
