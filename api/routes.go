package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
)

// register makes the operations: everything that changes something for a client. Each line is an
// endpoint, and Routes mounts them all.
func (a *API) register(ctx context.Context, r *idempotent.Registry, ttl TTLs) error {
	order := idempotent.Options{TTL: ttl.Orders}
	bare := idempotent.Options{TTL: ttl.Orders, BodyOptional: true}
	money := idempotent.Options{TTL: ttl.Payments, UUIDOnly: true, BodyOptional: true}
	pay := idempotent.Options{TTL: ttl.Payments, UUIDOnly: true}
	contact := idempotent.Options{TTL: ttl.Contact, MaxBody: 16 << 10}
	hook := idempotent.Options{TTL: ttl.Orders, MaxBody: 16 << 10}

	g := &registration{ctx: ctx, registry: r}
	a.PlaceOrder = local(g, "POST /v1/orders", order, a.placeOrder)
	a.ChangeAddress = local(g, "PATCH /v1/orders/:id", order, a.changeAddress)
	a.CancelOrder = local(g, "POST /v1/orders/:id/cancellations", money, a.cancelOrder)
	a.PayOrder = phased(g, "POST /v1/payments", pay, a.payOrder)
	a.CapturePayment = phased(g, "POST /v1/payments/:id/captures", money, a.capturePayment)
	a.VoidPayment = phased(g, "POST /v1/payments/:id/voids", money, a.voidPayment)
	a.RefundPayment = local(g, "POST /v1/payments/:id/refunds", money, a.refundPayment)
	a.SubmitContact = local(g, contactPattern, contact, a.submitContact)
	a.RegisterWebhookEndpoint = local(g, "POST /v1/webhook-endpoints", hook, a.registerWebhookEndpoint)
	a.DeleteWebhookEndpoint = local(g, "DELETE /v1/webhook-endpoints/:id", bare, a.deleteWebhookEndpoint)
	a.Redeliver = local(g, "POST /v1/webhook-endpoints/:id/deliveries/:delivery/redeliveries", bare, a.redeliver)
	return g.err
}

// registration collects what goes wrong while the operations are registered.
type registration struct {
	ctx      context.Context
	registry *idempotent.Registry
	err      error
}

func local[In, Out any](g *registration, pattern string, o idempotent.Options, fn func(context.Context, *idempotent.Tx, In) (Out, error)) *idempotent.Operation[In, Out] {
	op, err := idempotent.Local(g.ctx, g.registry, pattern, o, fn)
	g.err = errors.Join(g.err, err)
	return op
}

func phased[In, Out any](g *registration, pattern string, o idempotent.Options, fn func(context.Context, *idempotent.Run, In) (Out, error)) *idempotent.Operation[In, Out] {
	op, err := idempotent.Phased(g.ctx, g.registry, pattern, o, fn)
	g.err = errors.Join(g.err, err)
	return op
}

// Routes mounts the API under /v1: the operations, the reads beside them, and the providers' events,
// whose key is the event's id.
func (a *API) Routes(r gin.IRouter) {
	open := r.Group("", ignoreKeyOnReads)
	open.GET("/v1/products", a.getProducts)
	open.POST("/v1/webhooks/:provider", a.receiveEvent)
	mine := open.Group("", a.authenticate)
	a.registry.Mount(mine, caller)
	mine.GET("/v1/orders/:id", a.getOrder)
	mine.GET("/v1/payments/:id", a.getPayment)
	mine.GET("/v1/payments/:id/refunds", a.getRefunds)
	mine.GET("/v1/captures/:id", a.getModification(domain.Capture))
	mine.GET("/v1/voids/:id", a.getModification(domain.Void))
	mine.GET("/v1/refunds/:id", a.getModification(domain.Refund))
	mine.GET("/v1/webhook-endpoints", a.getWebhookEndpoints)
	mine.GET("/v1/webhook-endpoints/:id", a.getWebhookEndpoint)
	mine.GET("/v1/webhook-endpoints/:id/deliveries", a.getDeliveries)
	mine.GET("/v1/operations", a.findOperation)
	mine.GET("/v1/operations/:id", a.getOperation)
}

// ignoreKeyOnReads says so when a key comes with a request that needs none.
func ignoreKeyOnReads(c *gin.Context) {
	if c.Request.Method == http.MethodGet && c.GetHeader("Idempotency-Key") != "" {
		c.Header("Idempotency-Status", "ignored")
	}
}
