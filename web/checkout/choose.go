package checkout

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// choose takes the customer's explicit choice to pay once more, and makes the key of that payment. The
// form names the key of the payment that ended. A form sent twice finds that key replaced and makes no
// other; one that is older still is shown the page as it is now.
func (k *Checkout) choose(c *gin.Context, v visit) error {
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	old, err := domain.ParseKey(form.Get("payment_key"))
	if err != nil {
		return err
	}
	if !ui.Offers(k.Site.Demo, form.Get("method")) {
		return k.showDetails(c, http.StatusUnprocessableEntity, v, []domain.FieldError{{Field: "method", Code: "required"}})
	}
	if old.String() != v.PaymentKey && !v.unused() {
		return k.seeDetails(c, v)
	}
	ctx := c.Request.Context()
	if err := k.Drafts.RenewPaymentKey(ctx, v.ID, old.String(), site.NewKey(k.Site.Now())); err != nil {
		return err
	}
	v.Method = domain.PaymentMethod{Type: "card", Token: form.Get("method")}
	if err := k.Drafts.SaveDraft(ctx, v.Draft); err != nil {
		return err
	}
	return k.seeReview(c, v)
}

// unused reports whether the payment key is younger than every payment. Two clocks may be compared
// here; a wrong answer costs the customer one more look at the page and nothing else.
func (v visit) unused() bool {
	key, err := domain.ParseKey(v.PaymentKey)
	if err != nil {
		return false
	}
	made, ok := key.Time()
	last, _ := v.last()
	return ok && made.After(last.CreatedAt)
}
