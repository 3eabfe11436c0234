package shop

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// Timelines tells what happened with the keys of an order. A part of it may be lost.
type Timelines interface {
	OrderTimeline(ctx context.Context, orderID string) (domain.KeyTimeline, error)
}

// sentPanel is what an order's page tells of how it came to be: how often it was sent, and what that made.
type sentPanel struct {
	Title                        ui.Text
	Sent, Orders, Charges, Mails int64
	Unknown                      bool   // more may have been charged than is known
	Timeline                     string // address of the whole story
}

// sent makes the panel, or nothing when it is not known how often the order was sent.
func (s *Shop) sent(c *gin.Context, order domain.Order, payments []domain.Payment, mails []domain.Mail) *sentPanel {
	if s.Timelines == nil || !s.Site.Demo {
		return nil
	}
	timeline, err := s.Timelines.OrderTimeline(c.Request.Context(), order.ID)
	if err != nil {
		s.Site.Report(c, err)
	}
	if err != nil || timeline.Requests == 0 {
		return nil
	}
	panel := &sentPanel{Title: ui.TSentTitle, Sent: timeline.Requests, Orders: 1, Mails: int64(len(mails)), Timeline: timelinePath(order)}
	if order.Consumer > 0 {
		panel.Title = ui.TSentTitleAPI
	}
	for _, p := range payments {
		switch p.Status {
		case domain.PaymentAuthorized, domain.PaymentPaid, domain.PaymentDuplicate, domain.PaymentRefunded:
			panel.Charges++
		default:
			panel.Unknown = panel.Unknown || !p.Status.NothingCharged()
		}
	}
	return panel
}

func timelinePath(o domain.Order) string {
	return "/orders/" + o.Number + "/timeline?t=" + url.QueryEscape(o.Token)
}

// owned reads the order that a request names and has the token of. A wrong token and a number that does
// not exist get the same answer, which is given here.
func (s *Shop) owned(c *gin.Context) (order domain.Order, ok bool, err error) {
	order, err = s.Reader.OrderByNumber(c.Request.Context(), c.Param("number"))
	if err != nil && domain.KindOf(err) != domain.NotFound {
		return order, false, err
	}
	if err != nil || order.Token == "" || subtle.ConstantTimeCompare([]byte(c.Query("t")), []byte(order.Token)) != 1 {
		s.Site.NotFound(c)
		return order, false, nil
	}
	return order, true, nil
}

// timelineView is the story of an order.
type timelineView struct {
	Number, Back    string
	Client          ui.Text // what the one is called who asks
	Events          []ui.SequenceEvent
	Earlier, Living bool
}

// timeline shows what happened with an order's keys. Its route exists in the demo alone.
func (s *Shop) timeline(c *gin.Context) error {
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
	back, err := s.refunds(ctx, order, payments)
	if err != nil {
		return err
	}
	timeline, err := s.Timelines.OrderTimeline(ctx, order.ID)
	if err != nil {
		return err
	}
	p := s.Site.Page(c, ui.TTimeline.In(site.Lang(c), order.Number))
	p.State = "timeline"
	view := timelineView{Number: order.Number, Back: p.URL(orderPath(order)), Client: ui.TLaneYou, Events: ui.Sequence(timeline.Events), Earlier: timeline.Earlier,
		Living: told(order, payments, back).Waits || runs(timeline.Events, s.Site.Now())}
	if order.Consumer > 0 {
		view.Client = ui.TLaneClient
	}
	if view.Living {
		p.Refresh = 2
	}
	return s.Site.Render(c, http.StatusOK, timelinePage(p, view))
}

// runFor is how long after its last line a key without an answer counts as running: its end may be lost.
const runFor = 15 * time.Minute

// runs reports whether a key of the timeline has begun and not ended.
func runs(events []domain.KeyEvent, now time.Time) bool {
	for i, e := range events {
		begins := slices.Contains([]domain.KeyEventKind{domain.KeyClaimed, domain.KeyTakenOver, domain.KeyResumed}, e.Kind)
		ends := func(later domain.KeyEvent) bool { return later.Kind == domain.KeyFinished && later.Scope == e.Scope }
		if begins && now.Sub(e.At) < runFor && !slices.ContainsFunc(events[i:], ends) {
			return true
		}
	}
	return false
}
