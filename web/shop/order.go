package shop

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// orderView is an order as its owner sees it.
type orderView struct {
	domain.Order
	ui.Summary
	saying
	Refunds []string
	Paid    string     // how and when; empty: not paid
	Email   string     // masked
	Mail    ui.Text    // how far the confirmation has come
	Panel   *sentPanel // nil for none
	Pay     string     // where it can be paid; empty: not here, or not any more
}

// saying is what an order's page says of it. Text may be empty.
type saying struct {
	Title, Text, Status ui.Text
	Tone                ui.Tone
	Sent                bool // the order is on its way to the customer
	Waits               bool // the page looks again by itself
	Payable             bool // the customer may choose how to pay
}

// order shows an order to who knows its token.
func (s *Shop) order(c *gin.Context) error {
	site.NoStore(c)
	order, ok, err := s.owned(c)
	if err != nil || !ok {
		return err
	}
	ctx := c.Request.Context()
	payments, err := s.Reader.PaymentsOf(ctx, order.ID)
	if err != nil {
		return err
	}
	mails, err := s.Reader.MailsAbout(ctx, order.ID)
	if err != nil {
		return err
	}
	back, err := s.refunds(ctx, order, payments)
	if err != nil {
		return err
	}
	p := s.Site.Page(c, "")
	view := orderView{Order: order, Summary: ui.SummaryOf(p.Lang, order), saying: told(order, payments, back),
		Refunds: back.sentences(p), Paid: paidWith(p.Lang, payments), Email: ui.MaskEmail(order.Email),
		Mail: confirmed(mails, s.Site.Demo), Panel: s.sent(c, order, payments, mails)}
	if path, ok := s.CheckoutOf(c, order); ok && view.Payable {
		view.Pay = p.URL(path)
	}
	p.Title, p.State = p.T(view.Title), "order-"+string(order.Status)
	if view.Waits {
		p.Refresh = 5
	}
	return s.Site.Render(c, http.StatusOK, orderPage(p, view))
}

// confirmed tells how far the mail about the payment has come. In the demo it lies in the mailbox at least.
func confirmed(mails []domain.Mail, demo bool) ui.Text {
	at := slices.IndexFunc(mails, func(m domain.Mail) bool { return m.Kind == "order_paid" })
	switch {
	case at < 0:
		return ui.TMailComing
	case mails[at].State() == domain.MailSent:
		return ui.TMailSent
	case demo:
		return ui.TMailKept
	case mails[at].State() == domain.MailGivenUp:
		return ui.TMailDead
	default:
		return ui.TMailComing
	}
}

func told(order domain.Order, payments []domain.Payment, back refunds) saying {
	last := domain.PaymentFailed // as good as none
	if len(payments) > 0 {
		last = payments[len(payments)-1].Status
	}
	reserved := slices.ContainsFunc(payments, func(p domain.Payment) bool { return p.Status == domain.PaymentAuthorized })
	unknown := slices.ContainsFunc(payments, func(p domain.Payment) bool {
		return p.Status != domain.PaymentPending && p.Status != domain.PaymentAuthorized && !p.Status.NothingCharged()
	})
	switch {
	case order.CancelledFor == domain.CancelExpired && nothingCharged(payments):
		return saying{Title: ui.TOrderExpired, Text: ui.TOrderExpiryTo, Status: ui.TCancelled, Tone: ui.Warn}
	case order.CancelledFor == domain.CancelExpired: // and the bank told of money after that
		return saying{Title: ui.TOrderExpired, Text: ui.TOrderCancelTo, Status: ui.TCancelled, Tone: ui.Warn}
	case order.Status == domain.OrderCancelled:
		return saying{Title: ui.TOrderCancel, Text: ui.TOrderCancelTo, Status: ui.TCancelled, Tone: ui.Warn}
	case order.Status == domain.OrderPaid && back.all():
		return saying{Title: ui.TOrderBack, Text: ui.TOrderBackTo, Status: ui.TRefunded, Tone: ui.Info}
	case order.Status == domain.OrderPaid && back.ofKept.Amount > 0:
		return saying{Title: ui.TThanks, Status: ui.TPartRefunded, Tone: ui.OK, Sent: true}
	case order.Status == domain.OrderPaid:
		return saying{Title: ui.TThanks, Status: ui.TPaid, Tone: ui.OK, Sent: true}
	case unknown:
		return saying{Title: ui.TOrderChecking, Text: ui.TOrderCheckTo, Status: ui.TAwaiting, Tone: ui.Info, Waits: true}
	case reserved:
		return saying{Title: ui.TReturnReserved, Text: ui.TReturnReservedTo, Status: ui.TAwaiting, Tone: ui.OK}
	case last == domain.PaymentPending:
		return saying{Title: ui.TBankTitle, Text: ui.TOrderBankTo, Status: ui.TAwaiting, Tone: ui.Info, Waits: true, Payable: true}
	case order.Consumer > 0: // ordered by way of the API, so from no page
		return saying{Title: ui.TOrderPending, Text: ui.TOrderPendAPI, Status: ui.TAwaiting, Tone: ui.Info}
	default:
		return saying{Title: ui.TOrderPending, Text: ui.TOrderPendTo, Status: ui.TAwaiting, Tone: ui.Info, Payable: true}
	}
}

// nothingCharged reports whether it is certain that no payment moved money.
func nothingCharged(payments []domain.Payment) bool {
	return !slices.ContainsFunc(payments, func(p domain.Payment) bool { return !p.Status.NothingCharged() })
}
