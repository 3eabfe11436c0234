package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// Inbox is what the pages of the provider's events look up.
type Inbox interface {
	// ListInbox reads a part of the events. Its text is the provider's id of one, or the number of an order.
	ListInbox(ctx context.Context, l domain.Listing) (domain.Part[domain.InboxEvent], error)
	InboxEvent(ctx context.Context, id string) (domain.InboxEvent, error)
}

func (d *Desk) mountInbox(r gin.IRouter) {
	r.GET("/inbox", d.handle(d.inbox))
	r.GET("/inbox/:id", d.handle(d.received))
	r.POST("/inbox/:id/try", d.handle(func(c *gin.Context) error {
		return d.act(c, deedTryAgain, "/admin/inbox/", d.cfg.Support.RetryEvent)
	}))
}

var inboxStates = []choice{
	{string(domain.EventReceived), tEventReceived},
	{string(domain.EventApplied), tEventApplied},
	{string(domain.EventSuperseded), tEventSuperseded},
	{string(domain.EventParked), tEventParked},
	{string(domain.EventPoison), tEventPoison},
	{domain.EventUnreadable, tEventUnreadable},
	{domain.EventAltered, tEventAltered},
}

func (d *Desk) inbox(c *gin.Context) error {
	l := listView{Path: "/admin/inbox", Title: tInbox, Lead: tInboxLead, Empty: tNoInbox, Query: tSearchInbox, Search: strings.TrimSpace(c.Query("q")),
		Filter: "state", Choices: inboxStates, Chosen: chosenOf(c, "state", inboxStates),
		Columns: []ui.Text{tEvent, tEventID, tEventCame, tTries, tStatus}}
	part, err := d.cfg.Reader.ListInbox(c.Request.Context(), listing(c, l))
	if err != nil {
		return err
	}
	l.Count, l.Older, l.Newer = len(part.Items), part.Older, part.Newer
	return d.Site.Render(c, http.StatusOK, inboxPage(d.page(c, "/admin/inbox", tInbox), l, part.Items))
}

// receivedView is one event with the page of what it is about.
type receivedView struct {
	domain.InboxEvent
	Text  string // the body as it can be read
	Order string // number of the order that it changed; empty when there is none
	Key   string
}

func (d *Desk) received(c *gin.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	e, err := d.cfg.Reader.InboxEvent(c.Request.Context(), id)
	if err != nil {
		return err
	}
	v := receivedView{InboxEvent: e, Text: readable(e.Body), Key: d.newKey()}
	if e.PaymentID != "" {
		pay, err := d.cfg.Reader.Payment(c.Request.Context(), e.PaymentID)
		if err != nil {
			return err
		}
		order, err := d.cfg.Reader.Order(c.Request.Context(), pay.OrderID)
		if err != nil {
			return err
		}
		v.Order = order.Number
	}
	return d.Site.Render(c, http.StatusOK, receivedPage(d.page(c, "/admin/inbox", tReceived), v))
}

// readable lays JSON out in lines, and shows anything else as it is, without what is no text.
func readable(body []byte) string {
	var lines bytes.Buffer
	if json.Indent(&lines, body, "", "  ") == nil {
		body = lines.Bytes()
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}

// eventState is the state that people are told: an event that cannot be read is poison of a kind of its own.
func eventState(e domain.InboxEvent) string {
	if e.State == domain.EventPoison && !e.Readable() {
		return domain.EventUnreadable
	}
	return string(e.State)
}

func eventTone(e domain.InboxEvent) ui.Tone {
	switch e.State {
	case domain.EventApplied, domain.EventSuperseded:
		return ui.OK
	case domain.EventPoison:
		return ui.Danger
	case domain.EventParked:
		return ui.Warn
	default:
		return ui.Info
	}
}
