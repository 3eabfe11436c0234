package admin

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// Deliveries is what the pages of our own webhooks look up.
type Deliveries interface {
	// ListDeliveries reads a part of the deliveries. Its text is the id of an event or an endpoint, or the
	// number of an order.
	ListDeliveries(ctx context.Context, l domain.Listing) (domain.Part[domain.Delivery], error)
	Delivery(ctx context.Context, id string) (domain.Delivery, error)
	// ListWebhookEndpoints reads a part of all endpoints, without their secrets.
	ListWebhookEndpoints(ctx context.Context, l domain.Listing) (domain.Part[domain.WebhookEndpoint], error)
	WebhookEndpoint(ctx context.Context, id string) (domain.WebhookEndpoint, error)
	Event(ctx context.Context, id string) (domain.Event, error)
}

func (d *Desk) mountDeliveries(r gin.IRouter) {
	r.GET("/deliveries", d.handle(d.deliveries))
	r.GET("/deliveries/:id", d.handle(d.delivery))
	r.GET("/deliveries/:id/redeliver", d.handle(d.openRedeliver))
	r.GET("/deliveries/:id/redeliver/:key", d.handle(d.redeliverForm))
	r.POST("/deliveries/:id/redeliver/:key", d.handle(d.redeliver))
	r.GET("/endpoints", d.handle(d.endpoints))
}

var deliveryStates = []choice{
	{string(domain.DeliveryPending), tDeliveryPending},
	{string(domain.DeliveryDelivered), tDeliveryDelivered},
	{string(domain.DeliveryDead), tDeliveryDead},
}

func (d *Desk) deliveries(c *gin.Context) error {
	l := listView{Path: "/admin/deliveries", Title: tDeliveries, Lead: tDeliveriesLead, Empty: tNoDeliveries, Query: tSearchDeliveries,
		Search: strings.TrimSpace(c.Query("q")), Filter: "state", Choices: deliveryStates, Chosen: chosenOf(c, "state", deliveryStates),
		Columns: []ui.Text{tEvent, tEndpoint, tWhen, tTries, tLastAnswer, tStatus}}
	part, err := d.cfg.Reader.ListDeliveries(c.Request.Context(), listing(c, l))
	if err != nil {
		return err
	}
	l.Count, l.Older, l.Newer = len(part.Items), part.Older, part.Newer
	return d.Site.Render(c, http.StatusOK, deliveriesPage(d.page(c, "/admin/deliveries", tDeliveries), l, part.Items))
}

func (d *Desk) endpoints(c *gin.Context) error {
	l := listView{Path: "/admin/endpoints", Title: tEndpoints, Lead: tEndpointsLead, Empty: tNoEndpoints,
		Columns: []ui.Text{tAddress, tConsumer, tWanted, tRegistered, tStatus}}
	part, err := d.cfg.Reader.ListWebhookEndpoints(c.Request.Context(), listing(c, l))
	if err != nil {
		return err
	}
	l.Count, l.Older, l.Newer = len(part.Items), part.Older, part.Newer
	return d.Site.Render(c, http.StatusOK, endpointsPage(d.page(c, "/admin/deliveries", tEndpoints), l, part.Items))
}

// deliveryView is one delivery with its event and its endpoint.
type deliveryView struct {
	domain.Delivery
	Endpoint domain.WebhookEndpoint
	Event    domain.Event
}

// Again reports whether the event can be sent again.
func (v deliveryView) Again() bool { return v.State != domain.DeliveryPending && v.Endpoint.Open() }

func (d *Desk) readDelivery(c *gin.Context) (v deliveryView, err error) {
	ctx, read := c.Request.Context(), d.cfg.Reader
	id, err := idOf(c)
	if err != nil {
		return v, err
	}
	if v.Delivery, err = read.Delivery(ctx, id); err != nil {
		return v, err
	}
	if v.Endpoint, err = read.WebhookEndpoint(ctx, v.EndpointID); err != nil {
		return v, err
	}
	v.Event, err = read.Event(ctx, v.EventID)
	return v, err
}

func (d *Desk) delivery(c *gin.Context) error {
	v, err := d.readDelivery(c)
	if err != nil {
		return err
	}
	return d.Site.Render(c, http.StatusOK, deliveryPage(d.page(c, "/admin/deliveries", tDelivery), v))
}

func (d *Desk) openRedeliver(c *gin.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	return d.open(c, "/admin/deliveries/"+id+"/redeliver")
}

func (d *Desk) redeliverForm(c *gin.Context) error {
	v, err := d.readDelivery(c)
	if err != nil {
		return err
	}
	key, err := d.keyed(c)
	if err != nil {
		return err
	}
	return d.showRedeliver(c, http.StatusOK, v, actionView{Key: key.String()})
}

func (d *Desk) showRedeliver(c *gin.Context, status int, v deliveryView, a actionView) error {
	p := d.page(c, "/admin/deliveries", tSendEventAgain)
	base := "/admin/deliveries/" + v.ID
	a.Path, a.Anew, a.Back = base+"/redeliver/"+a.Key, base+"/redeliver", base
	a.Lead, a.Button = p.T(tSendEventAgainLead), p.T(tSendEventAgain)
	p.Failed = status != http.StatusOK
	return d.Site.Render(c, status, redeliverPage(p, a, v))
}

// redeliver asks for the delivery anew, once for the form's key.
func (d *Desk) redeliver(c *gin.Context) error {
	v, err := d.readDelivery(c)
	if err != nil {
		return err
	}
	key, err := d.keyed(c)
	if err != nil {
		return err
	}
	in := api.Redeliver{EndpointID: v.EndpointID, DeliveryID: v.ID}
	if _, err := do(d, c, d.cfg.Ops.Redeliver, deedRedeliver, v.ID, key, in); err != nil {
		return d.unsettled(c, actionView{Key: key.String()}, err, func(status int, a actionView) error { return d.showRedeliver(c, status, v, a) })
	}
	return d.Site.See(c, "/admin/deliveries/"+v.ID)
}

func deliveryTone(s domain.DeliveryState) ui.Tone {
	return map[domain.DeliveryState]ui.Tone{domain.DeliveryPending: ui.Info, domain.DeliveryDelivered: ui.OK, domain.DeliveryDead: ui.Danger}[s]
}
