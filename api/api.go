// Package api is the shop's API: its operations, their JSON, and the reads beside them. The pages
// call the same operations from Go.
package api

import (
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

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
)

// Config of the API. DB, Registry, Provider and Jobs must be given.
type Config struct {
	DB       *store.DB
	Registry *idempotent.Registry
	Provider domain.PaymentProvider
	Jobs     *jobs.Queue
	BaseURL  string // for links in mails
	TTL      TTLs
	Log      *slog.Logger
}

// TTLs say how long after completion an answer is replayed.
type TTLs struct{ Contact, Orders, Payments time.Duration }

// API holds the operations.
type API struct {
	PlaceOrder    *idempotent.Operation[PlaceOrder, Order]
	PayOrder      *idempotent.Operation[PayOrder, Payment]
	SubmitContact *idempotent.Operation[SubmitContact, ContactMessage]

	db       *store.DB
	provider domain.PaymentProvider
	jobs     *jobs.Queue
	baseURL  string
	log      *slog.Logger
	callers  callers
}

// New registers the operations.
func New(ctx context.Context, cfg Config) (*API, error) {
	if cfg.DB == nil || cfg.Registry == nil || cfg.Provider == nil || cfg.Jobs == nil {
		return nil, errors.New("api: DB, Registry, Provider and Jobs must be given")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	a := &API{db: cfg.DB, provider: cfg.Provider, jobs: cfg.Jobs, baseURL: cfg.BaseURL, log: cfg.Log}
	var err1, err2, err3 error
	a.PlaceOrder, err1 = idempotent.Local(ctx, cfg.Registry, "POST /v1/orders", idempotent.Options{TTL: cfg.TTL.Orders}, a.placeOrder)
	a.PayOrder, err2 = idempotent.Phased(ctx, cfg.Registry, "POST /v1/payments", idempotent.Options{TTL: cfg.TTL.Payments, UUIDOnly: true}, a.payOrder)
	a.SubmitContact, err3 = idempotent.Local(ctx, cfg.Registry, contactPattern, idempotent.Options{TTL: cfg.TTL.Contact, MaxBody: 16 << 10}, a.submitContact)
	return a, errors.Join(err1, err2, err3)
}

// Routes mounts the API under /v1. A mutating route is an operation of the registry, without
// exception; a test compares the two.
func (a *API) Routes(r gin.IRouter) {
	v1 := r.Group("/v1", ignoreKeyOnReads)
	v1.GET("/products", a.getProducts)
	mine := v1.Group("", a.authenticate)
	mine.POST("/orders", a.PlaceOrder.Handle(caller))
	mine.GET("/orders/:id", a.getOrder)
	mine.POST("/payments", a.PayOrder.Handle(caller))
	mine.GET("/payments/:id", a.getPayment)
	mine.POST("/contact-messages", a.SubmitContact.Handle(caller))
}

// ignoreKeyOnReads says so when a key comes with a request that needs none.
func ignoreKeyOnReads(c *gin.Context) {
	if c.Request.Method == http.MethodGet && c.GetHeader("Idempotency-Key") != "" {
		c.Header("Idempotency-Status", "ignored")
	}
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

// pathID reads an id from the path. What is no UUID names nothing.
func pathID(c *gin.Context, what string) (string, error) {
	id, err := uuid.Parse(c.Param("id"))
	if err != nil || len(c.Param("id")) != 36 {
		return "", domain.Errorf(domain.NotFound, what+"_not_found", "There is no such %s.", what)
	}
	return id.String(), nil
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
