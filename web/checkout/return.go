package checkout

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// comeBack is where the provider sends the customer after its own pages. Nothing in the address is
// believed but the payment's id, and that only to look it up: what the provider has told by its events
// decides, and until then the answer is that we are checking.
//
// The id is no secret, so it opens no checkout. The browser that ordered carries a cookie by
// which its checkout is found; every other one sees a page that says how the payment stands and no more.
func (k *Checkout) comeBack(c *gin.Context) error {
	site.NoStore(c)
	id := c.Param("payment")
	if !site.IsFlow(id) {
		k.Site.NotFound(c)
		return nil
	}
	payment, err := k.Reader.Payment(c.Request.Context(), id)
	if err != nil {
		return err
	}
	order, err := k.Reader.Order(c.Request.Context(), payment.OrderID)
	if err != nil {
		return err
	}
	l := site.Lang(c)
	if l == ui.English {
		l = k.Site.Preferred(c, ui.Lang(order.Language))
	}
	if path, ok := k.PathOf(c, order); ok {
		return seeIn(c, l, path+"/status")
	}
	if l != site.Lang(c) {
		return seeIn(c, l, "/return/"+id)
	}
	view := stands(payment.Status)
	p := k.Site.Page(c, view.title.In(l))
	p.Query, p.State = nil, "return-"+string(payment.Status)
	if view.waits {
		p.Refresh = 2
	}
	return k.Site.Render(c, http.StatusOK, returnPage(p, view))
}

func seeIn(c *gin.Context, l ui.Lang, path string) error {
	c.Redirect(http.StatusSeeOther, ui.Local(l, path))
	return nil
}

// maxOrdered is of how many checkouts a browser knows that they ordered.
const maxOrdered = 5

// noteOrdered writes down in the visitor's cookie that this checkout ordered: from the bank, and from the
// order's page, it is found again.
func (k *Checkout) noteOrdered(c *gin.Context, v visit) {
	attempts := site.LatestFirst(k.attemptsOrdered(c), v.ID, maxOrdered)
	k.Site.SetSignedCookie(c, site.Ordered, strings.Join(attempts, " "), k.TTL)
}

// PathOf is the address of the checkout that made an order, for the browser that went through it and for
// nobody else.
func (k *Checkout) PathOf(c *gin.Context, order domain.Order) (path string, ok bool) {
	attempts := k.attemptsOrdered(c)
	i := slices.IndexFunc(attempts, func(id string) bool { return consumer(id).ID == order.Consumer })
	if i < 0 {
		return "", false
	}
	return "/checkout/" + attempts[i], true
}

func (k *Checkout) attemptsOrdered(c *gin.Context) []string {
	text, _ := k.Site.SignedCookie(c, site.Ordered)
	return strings.Fields(text)
}

// standing is what anybody may know of a payment.
type standing struct {
	tone        ui.Tone
	title, text ui.Text
	waits       bool // the page looks again by itself
}

// stands tells how a payment stands. A status that is not known here means that we do not know.
func stands(s domain.PaymentStatus) standing {
	switch s {
	case domain.PaymentPaid:
		return standing{ui.OK, ui.TReturnPaid, ui.TReturnPaidTo, false}
	case domain.PaymentAuthorized:
		return standing{ui.OK, ui.TReturnReserved, ui.TReturnReservedTo, false}
	case domain.PaymentDeclined:
		return standing{ui.Warn, ui.TReturnDeclined, ui.TReturnDeclinedTo, false}
	case domain.PaymentFailed, domain.PaymentVoided:
		return standing{ui.Warn, ui.TReturnCancelled, ui.TReturnCancelledTo, false}
	case domain.PaymentDuplicate:
		return standing{ui.Info, ui.TReturnInVain, ui.TReturnInVainTo, false}
	case domain.PaymentRefunded:
		return standing{ui.Info, ui.TReturnRefunded, ui.TReturnRefundedTo, false}
	default:
		return standing{ui.Info, ui.TStatusTitle, ui.TReturnChecking, true}
	}
}
