package checkout

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// choose takes the customer's explicit choice to pay once more, and makes the key of that payment. The
// form names the key of the last payment, which ended or was left at the bank. A form sent twice finds that key replaced and makes no
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
	method, ok := ui.Chosen(k.Site.Demo, form.Get("method"))
	if !ok {
		return k.showDetails(c, http.StatusUnprocessableEntity, v, []domain.FieldError{{Field: "method", Code: "required"}})
	}
	if old.String() != v.PaymentKey && !v.unused() {
		return k.seeDetails(c, v)
	}
	ctx := c.Request.Context()
	if err := k.Drafts.RenewPaymentKey(ctx, v.ID, old.String(), site.NewKey(k.Site.Now())); err != nil {
		return err
	}
	v.Method = method
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

// ending is what the page says before the customer chooses again.
type ending struct {
	tone        ui.Tone
	title, text ui.Text
}

func (e ending) heading() ui.Text {
	if e.tone == ui.Danger {
		return ui.TProblem
	}
	return e.title
}

// ended tells how the last payment ended. That nothing was charged is said only when no payment of the
// order can have moved money.
func ended(v visit) ending {
	last, _ := v.last()
	certain := nothingCharged(v.Payments)
	switch {
	case last.Status == domain.PaymentPending:
		return ending{ui.Info, ui.TBankTitle, ui.TBankSilent}
	case last.Status == domain.PaymentDeclined && last.Method.Type != "card" && certain:
		return ending{ui.Danger, ui.TReturnDeclined, ui.TDeclinedOther}
	case last.Status == domain.PaymentDeclined && last.Method.Type != "card":
		return ending{ui.Danger, ui.TReturnDeclined, ui.TDeclinedOtherAgain}
	case last.Status == domain.PaymentDeclined && certain:
		return ending{ui.Danger, ui.TDeclinedTitle, ui.TDeclined}
	case last.Status == domain.PaymentDeclined:
		return ending{ui.Danger, ui.TDeclinedTitle, ui.TDeclinedAgain}
	case !certain:
		return ending{ui.Danger, ui.TFailedTitle, ui.TFailedAgain}
	case last.ChargeID != "": // the provider knew it, so it was given up there
		return ending{ui.Warn, ui.TLeftBankTitle, ui.TLeftBank}
	default:
		return ending{ui.Danger, ui.TFailedTitle, ui.TFailedPay}
	}
}
