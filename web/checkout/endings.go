package checkout

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// page begins a page that stands in place of another.
func (k *Checkout) page(c *gin.Context, v visit, title ui.Text, state string) ui.Page {
	p := k.Site.Page(c, title.In(site.Lang(c)))
	p.Path, p.Query, p.State = v.path(""), nil, state
	return p
}

func (k *Checkout) alreadyPaid(c *gin.Context, v visit) error {
	p := k.page(c, v, ui.TAlreadyPaid, "already-paid")
	return k.Site.Render(c, http.StatusOK, paidPage(p, v, site.NewFlow()))
}

func (k *Checkout) expired(c *gin.Context, v visit) error {
	p := k.page(c, v, ui.TExpiredTitle, "expired")
	return k.Site.Render(c, http.StatusGone, expiredPage(p, v, site.NewFlow()))
}

// failed: the order could not be placed. The page says that nothing was charged only when that is
// certain.
func (k *Checkout) failed(c *gin.Context, v visit, certain bool) error {
	c.Header("Retry-After", "1")
	p := k.page(c, v, ui.TProblem, "failed")
	p.Failed = true
	return k.Site.Render(c, http.StatusServiceUnavailable, failedPage(p, v, certain))
}

// used: the keys of this form belong to another order.
func (k *Checkout) used(ctx context.Context, c *gin.Context, v visit, cause error) error {
	order, known := v.Order, v.Placed
	if e, ok := errors.AsType[*domain.Error](cause); ok && !known {
		if id, isOrder := strings.CutPrefix(e.Resource, "/v1/orders/"); isOrder {
			found, err := k.Reader.Order(ctx, id)
			order, known = found, err == nil
		}
	}
	p := k.page(c, v, ui.TUsedTitle, "used")
	p.Failed = true
	return k.Site.Render(c, http.StatusConflict, usedPage(p, v, order, known, site.NewFlow()))
}

// tooLate answers a details form that is sent when its order is placed. What it would change is not
// dropped unseen: the page says that the order stands, and takes what was typed along to a new one.
func (k *Checkout) tooLate(c *gin.Context, v visit) error {
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	typed, _ := filled(v.Draft, form, k.Site.Demo)
	if saysTheSame(v.Order, typed) {
		return k.seeDetails(c, v)
	}
	v.Draft = typed
	return k.used(c.Request.Context(), c, v, nil)
}

func (k *Checkout) gone(c *gin.Context) error {
	k.Site.Say(c, http.StatusNotFound, ui.Absent, ui.TCheckoutGone, ui.TCheckoutGoneHow, "checkout-not-found")
	return nil
}
