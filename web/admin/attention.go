package admin

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// Flags is what the pages about things that need a person look up.
type Flags interface {
	// ListAttention reads a part of the open flags, or of the settled ones.
	ListAttention(ctx context.Context, l domain.Listing) (domain.Part[domain.Attention], error)
	Flagged(ctx context.Context, id string) (domain.Attention, error)
	Order(ctx context.Context, id string) (domain.Order, error)
	Payment(ctx context.Context, id string) (domain.Payment, error)
	Modification(ctx context.Context, id string) (domain.Modification, error)
}

func (d *Desk) mountAttention(r gin.IRouter) {
	r.GET("/attention", d.handle(d.flags))
	r.GET("/attention/:id", d.handle(d.flag))
	r.POST("/attention/:id/settle", d.handle(func(c *gin.Context) error {
		return d.act(c, deedSettle, "/admin/attention/", d.cfg.Support.SettleAttention)
	}))
	r.GET("/attention/:id/not-charged", d.handle(d.notChargedForm))
	r.POST("/attention/:id/not-charged", d.handle(d.notCharged))
}

var flagStates = []choice{{domain.FlagSettled, tFlagSettled}}

func (d *Desk) flags(c *gin.Context) error {
	l := listView{Path: "/admin/attention", Title: tAttention, Lead: tAttentionLead, Empty: tNoFlags, All: tFlagOpen,
		Filter: "state", Choices: flagStates, Chosen: chosenOf(c, "state", flagStates),
		Columns: []ui.Text{tFlagKind, tFlagNote, tFlagAbout, tFlagAge, tStatus}}
	part, err := d.cfg.Reader.ListAttention(c.Request.Context(), listing(c, l))
	if err != nil {
		return err
	}
	l.Count, l.Older, l.Newer = len(part.Items), part.Older, part.Newer
	views := make([]flagView, len(part.Items))
	for i, a := range part.Items {
		views[i] = d.viewOf(a)
	}
	return d.Site.Render(c, http.StatusOK, flagsPage(d.page(c, "/admin/attention", tAttention), l, views))
}

// flagView is one flag with what the staff needs to settle it.
type flagView struct {
	domain.Attention
	Name, Do ui.Text
	Age      ui.Text
	Link     string // the page of what it is about; empty when there is none
	Doubt    bool   // a payment of which nobody knows whether it was charged
	Key      string
}

func (d *Desk) viewOf(a domain.Attention) flagView {
	return flagView{Attention: a, Name: flagName(a.Kind), Do: flagAction(a), Age: ageOf(d.Site.Now().Sub(a.CreatedAt)), Link: plainLink(a), Key: d.newKey()}
}

// plainLink is the page of what a flag is about, where its kind and id tell.
func plainLink(a domain.Attention) string {
	switch {
	case a.Kind == domain.NeedsAttention:
		return "/admin/keys?q=" + url.QueryEscape(a.About)
	case a.Kind == "reconcile_unknown_charge": // whose it is, is what nobody knows: a search may find it by now
		return "/admin/orders?q=" + url.QueryEscape(a.About)
	case a.Kind == domain.DeadDelivery:
		return "/admin/deliveries/" + a.About
	case a.Kind == domain.MailDead:
		return "/admin/mails/" + a.About
	case strings.HasPrefix(a.Kind, "event_"):
		return "/admin/inbox/" + a.About
	default:
		return ""
	}
}

// linkOf is the page of what a flag is about. Most are about a payment, or a change of one, whose page is
// that of its order.
func (d *Desk) linkOf(ctx context.Context, a domain.Attention) string {
	if link := plainLink(a); link != "" {
		return link
	}
	payment := a.About
	if m, err := d.cfg.Reader.Modification(ctx, a.About); err == nil {
		payment = m.PaymentID
	}
	if pay, err := d.cfg.Reader.Payment(ctx, payment); err == nil {
		if order, err := d.cfg.Reader.Order(ctx, pay.OrderID); err == nil {
			return "/admin/orders/" + order.Number
		}
	}
	return ""
}

func (d *Desk) readFlag(c *gin.Context) (v flagView, err error) {
	id, err := idOf(c)
	if err != nil {
		return v, err
	}
	a, err := d.cfg.Reader.Flagged(c.Request.Context(), id)
	if err != nil {
		return v, err
	}
	v = d.viewOf(a)
	v.Link = d.linkOf(c.Request.Context(), a)
	if a.Kind == domain.PaymentInDoubt && a.Open() {
		pay, err := d.cfg.Reader.Payment(c.Request.Context(), a.About)
		if err != nil {
			return v, err
		}
		v.Doubt = pay.Status == domain.PaymentUnknown
	}
	return v, nil
}

func (d *Desk) flag(c *gin.Context) error {
	v, err := d.readFlag(c)
	if err != nil {
		return err
	}
	return d.Site.Render(c, http.StatusOK, flagPage(d.page(c, "/admin/attention", v.Name), v))
}

// notChargedForm is the second step before a payment in doubt is settled.
func (d *Desk) notChargedForm(c *gin.Context) error {
	v, err := d.readFlag(c)
	if err != nil {
		return err
	}
	if !v.Doubt {
		return d.Site.See(c, "/admin/attention/"+v.ID)
	}
	return d.showNotCharged(c, http.StatusOK, v, actionView{})
}

func (d *Desk) showNotCharged(c *gin.Context, status int, v flagView, a actionView) error {
	p := d.page(c, "/admin/attention", tNotCharged)
	a.Path, a.Back, a.Key = "/admin/attention/"+v.ID+"/not-charged", "/admin/attention/"+v.ID, v.Key
	a.Lead, a.Button = p.T(tNotChargedLead), p.T(tNotChargedDo)
	p.Failed = status != http.StatusOK
	return d.Site.Render(c, status, notChargedPage(p, a, v))
}

func (d *Desk) notCharged(c *gin.Context) error {
	v, err := d.readFlag(c)
	if err != nil {
		return err
	}
	if !v.Doubt { // this, or the provider's word, has settled it
		return d.Site.See(c, "/admin/attention/"+v.ID)
	}
	err = d.act(c, deedNotCharged, "/admin/attention/", func(ctx context.Context, _, by string) error {
		return d.cfg.Support.SettleUnknown(ctx, v.About, api.NotCharged, by)
	})
	if now, again := d.readFlag(c); domain.KindOf(err) == domain.Refused && again == nil && !now.Doubt {
		return d.Site.See(c, "/admin/attention/"+v.ID) // the other half of a double click was faster
	}
	if err != nil {
		return d.unsettled(c, actionView{}, err, func(status int, a actionView) error { return d.showNotCharged(c, status, v, a) })
	}
	return nil
}
