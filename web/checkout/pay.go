package checkout

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
)

// pay orders and pays with the keys in the form, which are the checkout's. Sent again with the same
// keys it finds what it did before and leads to the same place, so it may be sent as often as anybody
// likes: by an impatient person, by a browser that lost the answer, or from two tabs.
func (k *Checkout) pay(c *gin.Context, v visit) error {
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	orderKey, err := domain.ParseKey(form.Get("order_key"))
	if err != nil {
		return err
	}
	paymentKey, err := site.KeyOf(c, form.Get("payment_key"))
	if err != nil {
		return err
	}
	if orderKey.String() != v.OrderKey || paymentKey.String() != v.PaymentKey {
		return k.afterOldForm(c, v)
	}
	if v.State == Ready {
		if asks, err := k.changed(c, v, form); asks || err != nil {
			return err
		}
	}
	ctx, cancel := site.Steadily(c)
	defer cancel()
	order, err := run(ctx, k.PlaceOrder, v, orderKey, api.PlaceOrder{
		Email: v.Email, Name: v.Name, Address: v.Address, Items: v.Items, Language: v.Language,
	})
	if err != nil {
		return k.afterNoOrder(ctx, c, v, err)
	}
	k.Site.NoteOrder(c, order.ID)
	k.noteOrdered(c, v)
	if seen, other := otherTotal(form, order.Total); other && v.State == Ready {
		return k.askTotal(ctx, c, v.ID, seen)
	}
	payment, err := run(ctx, k.PayOrder, v, paymentKey, api.PayOrder{OrderID: order.ID, Method: v.Method})
	return k.afterPayment(ctx, c, v, payment, err)
}

// afterOldForm answers a form with keys that are not the checkout's any more: it is shown what is true
// now, and nothing is done with it.
func (k *Checkout) afterOldForm(c *gin.Context, v visit) error {
	if v.State == Paid {
		return k.seeOrder(c, v)
	}
	return k.seeDetails(c, v)
}

// askTotal: the price changed in the moment of ordering. The order stands at its true total and is paid
// only when the customer says so.
func (k *Checkout) askTotal(ctx context.Context, c *gin.Context, id string, seen domain.Money) error {
	v, err := k.visit(ctx, id)
	if err != nil {
		return err
	}
	return k.showReview(c, http.StatusUnprocessableEntity, v, reviewView{OldTotal: &seen})
}

// afterNoOrder goes on when placing the order gave an error.
func (k *Checkout) afterNoOrder(ctx context.Context, c *gin.Context, v visit, cause error) error {
	now, err := k.visit(ctx, v.ID)
	if err != nil {
		k.Site.Report(c, cause)
		return k.failed(c, v, false)
	}
	if now.State == Paid {
		return k.seeOrder(c, now)
	}
	switch kind := domain.KindOf(cause); {
	case kind == domain.Conflict:
		return k.used(ctx, c, now, cause)
	case kind == domain.Expired:
		return k.expired(c, now)
	case kind == domain.Refused && codeOf(cause) == "sold_out", kind == domain.Invalid && !now.Placed && now.State == Ready:
		return k.soldOut(c, now, cause)
	case now.Placed, kind == domain.Busy, kind == domain.Unknown, kind == domain.Unavailable && !site.Undone(cause):
		k.Site.Report(c, cause)
		return k.seeStatus(c, now)
	case kind == domain.Unavailable:
		k.Site.Report(c, cause)
		return k.failed(c, now, nothingCharged(now.Payments))
	default:
		return cause
	}
}

// afterPayment goes on when the payment was asked for. What is not certain goes to the waiting page.
func (k *Checkout) afterPayment(ctx context.Context, c *gin.Context, v visit, payment api.Payment, cause error) error {
	now, err := k.visit(ctx, v.ID)
	if err != nil {
		k.Site.Report(c, err)
		return k.seeStatus(c, v)
	}
	if now.State == Paid {
		return k.seeOrder(c, now)
	}
	if bank, ok := now.waiting(); ok && cause == nil && now.State == AtBank {
		return k.Site.Leave(c, bank.RedirectURL)
	}
	if cause == nil {
		if payment.Status.NothingCharged() || now.State == Ended {
			return k.Site.See(c, v.path("#payment"))
		}
		return k.seeStatus(c, now)
	}
	switch domain.KindOf(cause) {
	case domain.Declined:
		return k.Site.See(c, v.path("#payment"))
	case domain.Busy, domain.Unknown, domain.Unavailable:
		k.Site.Report(c, cause)
		return k.seeStatus(c, now)
	case domain.Refused:
		return k.seeDetails(c, now)
	case domain.Conflict:
		return k.used(ctx, c, now, cause)
	case domain.Expired:
		return k.expired(c, now)
	default:
		return cause
	}
}

func codeOf(err error) string {
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return e.Code
	}
	return ""
}
