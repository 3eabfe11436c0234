// Package api is the shop's API: its operations, their JSON, and the reads beside them. The pages
// call the same operations from Go.
package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/api/limit"
	"example.com/eenmaal/api/outbound"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
)

// Config of the API. DB, Registry, Provider and Jobs must be given.
type Config struct {
	DB       *store.DB
	Registry *idempotent.Registry
	Provider domain.PaymentProvider
	Events   map[string]domain.EventReader // by the provider's name in /v1/webhooks/{provider}
	Jobs     *jobs.Queue
	BaseURL  string // for links in mails and the way back from the provider's pages
	TTL      TTLs
	Limits   Limits
	Log      *slog.Logger
	Metrics  prometheus.Registerer

	Outbound      *outbound.Client // posts our events; the strict one when nil
	RetryWindow   time.Duration    // for how long an event is sent again to who does not take it; 24 h when zero
	DeliveryPause time.Duration    // after the first try; 5 s when zero
	AskAfter      time.Duration    // how long the provider's news of a pending payment is waited for; 30 s when zero
	OrderExpiry   time.Duration    // how long an order waits for its payment; 72 h when zero
}

// TTLs say how long after completion an answer is replayed.
type TTLs struct{ Contact, Orders, Payments time.Duration }

// Limits of what comes in, before any operation. Nil ones let everything through.
type Limits struct {
	Strangers *limit.Rate // by address: look-ups of a bearer key
	Requests  *limit.Rate // by consumer: requests of any kind, replays and reads included
	Forgeries *limit.Rate // by address: events whose signature is wrong
}

// API holds the operations.
type API struct {
	PlaceOrder     *idempotent.Operation[PlaceOrder, Order]
	ChangeAddress  *idempotent.Operation[ChangeAddress, ChangedOrder]
	CancelOrder    *idempotent.Operation[CancelOrder, Cancellation]
	PayOrder       *idempotent.Operation[PayOrder, Payment]
	CapturePayment *idempotent.Operation[CapturePayment, Modification]
	VoidPayment    *idempotent.Operation[VoidPayment, Modification]
	RefundPayment  *idempotent.Operation[RefundPayment, Modification]
	SubmitContact  *idempotent.Operation[SubmitContact, ContactMessage]

	RegisterWebhookEndpoint *idempotent.Operation[RegisterWebhookEndpoint, RegisteredEndpoint]
	DeleteWebhookEndpoint   *idempotent.Operation[DeleteWebhookEndpoint, DeletedEndpoint]
	Redeliver               *idempotent.Operation[Redeliver, Redelivery]

	db       *store.DB
	registry *idempotent.Registry
	provider *guarded
	events   map[string]domain.EventReader
	jobs     *jobs.Queue
	baseURL  string
	limits   Limits
	log      *slog.Logger
	metrics  metrics
	callers  callers

	outbound      *outbound.Client
	retryWindow   time.Duration
	deliveryPause time.Duration
	askAfter      time.Duration
	orderExpiry   time.Duration
}

// New registers the operations and the jobs that go with them.
func New(ctx context.Context, cfg Config) (*API, error) {
	if cfg.DB == nil || cfg.Registry == nil || cfg.Provider == nil || cfg.Jobs == nil {
		return nil, errors.New("api: DB, Registry, Provider and Jobs must be given")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	a := &API{db: cfg.DB, registry: cfg.Registry, provider: guard(cfg.Provider, cfg.Log), events: cfg.Events, jobs: cfg.Jobs, baseURL: cfg.BaseURL, limits: cfg.Limits, log: cfg.Log,
		metrics: newMetrics(cfg.Metrics, cfg.Events, cfg.DB), outbound: cfg.Outbound,
		retryWindow: cmp.Or(cfg.RetryWindow, 24*time.Hour), deliveryPause: cmp.Or(cfg.DeliveryPause, 5*time.Second),
		askAfter: cmp.Or(cfg.AskAfter, 30*time.Second), orderExpiry: cmp.Or(cfg.OrderExpiry, 72*time.Hour)}
	if a.outbound == nil {
		a.outbound = outbound.New(outbound.Config{})
	}
	a.jobs.Handle(jobs.Modify, jobs.Handler{Work: a.modifyJob})
	a.jobs.Handle(jobs.ApplyEvent, jobs.Handler{Work: a.applyEvent, Pause: eventPause, Tries: maxEventTries})
	a.jobs.Handle(jobs.PublishEvent, jobs.Handler{Work: a.publish})
	a.jobs.Handle(jobs.Deliver, jobs.Handler{Work: a.deliver, Pause: a.pauseBefore, Tries: maxDeliveryTries})
	a.jobs.Handle(jobs.AskProvider, jobs.Handler{Work: a.askProvider, Delay: a.askAfter})
	a.jobs.Handle(jobs.Reconcile, jobs.Handler{Work: a.reconcileJob, Timeout: reconcileTimeout})
	a.metrics.measure(cfg.Metrics, a.provider)
	a.jobs.Every(completeEvery, a.completing())
	a.jobs.Every(endUnpaidEvery, a.endingUnpaid())
	return a, a.register(ctx, cfg.Registry, cfg.TTL)
}

// getProducts tells the catalogue with the stock of this moment.
func (a *API) getProducts(c *gin.Context) {
	products, err := a.db.Products(c.Request.Context())
	if err != nil {
		a.fail(c, err)
		return
	}
	list := make([]Product, len(products))
	for i, p := range products {
		list[i] = Product(p)
	}
	c.JSON(http.StatusOK, list)
}

// fail answers a read that went wrong. Errors of the domain speak for themselves; anything else is
// logged and told as ours.
func (a *API) fail(c *gin.Context, err error) {
	if _, known := errors.AsType[*domain.Error](err); !known {
		a.log.ErrorContext(c.Request.Context(), "request failed", "path", c.FullPath(), "error", err)
		err = domain.Errorf(domain.Unavailable, "store_unavailable", "The database cannot be reached. Try again.")
	}
	idempotent.WriteProblem(c, err)
}

// live sends the state of this moment, which no cache may keep.
func live(c *gin.Context, v any) {
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, v)
}

// parseID reads an id from a path. What is no UUID names nothing.
func parseID(s, what string) (string, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return "", notThere(what)
	}
	return id.String(), nil
}

func notThere(what string) error {
	return domain.Errorf(domain.NotFound, what+"_not_found", "There is no such %s.", strings.ReplaceAll(what, "_", " "))
}

// newID makes an id whose order is that of time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// people read these letters and digits without mistaking one for another.
const readable = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// drawReadable draws n readable characters from a secure source.
func drawReadable(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails, by its contract
	for i := range b {
		b[i] = readable[int(b[i])%len(readable)]
	}
	return string(b)
}

// newOrderNumber makes a number such as EM-7K4Q-2M9B. It is not a secret: the token is.
func newOrderNumber() string { return fmt.Sprintf("EM-%s-%s", drawReadable(4), drawReadable(4)) }

func newToken() string { return strings.ToLower(drawReadable(26)) }
