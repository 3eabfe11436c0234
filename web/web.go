// Package web is the shop in a browser: pages made on the server in English and Dutch, which work
// without scripts.
//
// It is a client of the API's operations. It makes the keys, when a flow starts, and calls the same
// operations as the API does, in-process and under the same rules: whatever a page sends twice happens
// once.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/admin"
	"example.com/eenmaal/web/checkout"
	"example.com/eenmaal/web/contact"
	"example.com/eenmaal/web/shop"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// Operation is one mutating operation of the API, called in-process with the client's key.
type Operation[In, Out any] = site.Operation[In, Out]

// Ops are the operations that the pages call. Nothing else that they do has an effect.
type Ops struct {
	PlaceOrder    Operation[api.PlaceOrder, api.Order]
	PayOrder      Operation[api.PayOrder, api.Payment]
	SubmitContact Operation[api.SubmitContact, api.ContactMessage]
}

// Reader is what the pages look up. A thing that does not exist is an error of kind NotFound, or ok
// false where there is one.
type Reader interface {
	Products(ctx context.Context) ([]domain.Product, error)
	Order(ctx context.Context, id string) (domain.Order, error)
	Payment(ctx context.Context, id string) (domain.Payment, error)
	OrderByNumber(ctx context.Context, number string) (domain.Order, error)
	// OrdersByID reads those of the orders that exist, the newest first.
	OrdersByID(ctx context.Context, ids []string) ([]domain.Order, error)
	// OrderOf finds the order that was made under a flow's consumer.
	OrderOf(ctx context.Context, consumer int64) (order domain.Order, ok bool, err error)
	// PaymentsOf lists an order's payments, oldest first.
	PaymentsOf(ctx context.Context, orderID string) ([]domain.Payment, error)
	// ModificationsOf lists a payment's captures, voids and refunds, oldest first.
	ModificationsOf(ctx context.Context, paymentID string) ([]domain.Modification, error)
	// MessageOf finds the message that was sent under a flow's consumer.
	MessageOf(ctx context.Context, consumer int64) (message domain.Message, ok bool, err error)
	MailsAbout(ctx context.Context, id string) ([]domain.Mail, error)
	// Mails lists the newest mails first.
	Mails(ctx context.Context, limit int) ([]domain.Mail, error)
}

// Drafts keeps checkouts that are being filled in. Each method may be called twice.
type Drafts interface {
	// Draft reads a checkout; an unknown id is an error of kind NotFound.
	Draft(ctx context.Context, id string) (domain.Draft, error)
	// StartDraft keeps a new checkout. One with this id stays as it is, with its keys.
	StartDraft(ctx context.Context, d domain.Draft) error
	// SaveDraft keeps what was typed and chosen. Keys and items are not changed by it.
	SaveDraft(ctx context.Context, d domain.Draft) error
	// RenewPaymentKey replaces the key old by another, unless that was done already.
	RenewPaymentKey(ctx context.Context, id, old, key string) error
}

// Config of the pages. Name, CheckoutTTL, Now and Log have defaults; the rest is essential.
type Config struct {
	Ops    Ops
	Reader Reader
	Drafts Drafts
	Desk   *admin.Config // nil: there is no desk

	Timelines shop.Timelines // what happened with the keys of an order, shown in the demo; nil for not

	Name          string // of the shop; "Eenmaal" when empty
	BaseURL       string // "https://shop.example"; never taken from a request
	PaymentPages  string // where the payment provider's pages are, unless they are at BaseURL
	Demo          bool   // mailbox page, and cards that make trouble
	SessionSecret []byte // signs cookies; 32 bytes or more
	CheckoutTTL   time.Duration
	Now           func() time.Time
	Log           *slog.Logger
	Secure        bool   // HTTPS only, with __Host- cookies; also on when BaseURL says https
	Version       string // shown at the foot of every page
}

// Web serves the pages.
type Web struct {
	site     *site.Site
	shop     *shop.Shop
	checkout *checkout.Checkout
	contact  *contact.Contact
	desk     *admin.Desk // nil without one
}

const minSecret = 32

// New makes the pages, or names everything that is missing.
func New(cfg Config) (*Web, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s := &site.Site{
		Name: cfg.Name, BaseURL: strings.TrimSuffix(cfg.BaseURL, "/"), PaymentPages: origin(cfg.PaymentPages), Version: cfg.Version, Demo: cfg.Demo, Secret: cfg.SessionSecret,
		Secure: cfg.Secure || strings.HasPrefix(cfg.BaseURL, "https://"), Now: cfg.Now, Log: cfg.Log,
	}
	if s.Name == "" {
		s.Name = "Eenmaal"
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.CheckoutTTL == 0 {
		cfg.CheckoutTTL = 72 * time.Hour
	}
	w := &Web{
		site: s,
		shop: &shop.Shop{Site: s, Reader: cfg.Reader, Timelines: cfg.Timelines},
		checkout: &checkout.Checkout{
			Site: s, Reader: cfg.Reader, Drafts: cfg.Drafts, TTL: cfg.CheckoutTTL,
			PlaceOrder: cfg.Ops.PlaceOrder, PayOrder: cfg.Ops.PayOrder,
		},
		contact: &contact.Contact{Site: s, Reader: cfg.Reader, Submit: cfg.Ops.SubmitContact},
	}
	w.shop.CheckoutOf = w.checkout.PathOf
	if cfg.Desk == nil {
		return w, nil
	}
	var err error
	w.desk, err = admin.New(s, *cfg.Desk)
	return w, err
}

// origin is the part of an address that a browser's policies speak of.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func (cfg Config) check() error {
	var missing []error
	need := func(ok bool, name string) {
		if !ok {
			missing = append(missing, fmt.Errorf("web: %s is missing", name))
		}
	}
	need(cfg.Ops.PlaceOrder != nil, "Ops.PlaceOrder")
	need(cfg.Ops.PayOrder != nil, "Ops.PayOrder")
	need(cfg.Ops.SubmitContact != nil, "Ops.SubmitContact")
	need(cfg.Reader != nil, "Reader")
	need(cfg.Drafts != nil, "Drafts")
	need(cfg.BaseURL != "", "BaseURL")
	if len(cfg.SessionSecret) < minSecret {
		missing = append(missing, fmt.Errorf("web: SessionSecret needs %d bytes or more", minSecret))
	}
	return errors.Join(missing...)
}

// Routes adds all pages and static files to r.
func (w *Web) Routes(r gin.IRouter) {
	r.GET("/static/:name", func(c *gin.Context) { w.asset(c, c.Param("name")) })
	r.GET("/favicon.svg", func(c *gin.Context) { w.asset(c, "favicon.svg") })

	english := r.Group("", w.site.Headers, w.site.ChooseLanguage)
	dutch := r.Group("/nl", w.site.Headers, w.site.ChooseLanguage)
	w.shop.Mount(english, "/")
	w.shop.Mount(dutch, "")
	for _, language := range []gin.IRouter{english, dutch} {
		w.checkout.Mount(language)
		w.contact.Mount(language)
		if w.desk != nil {
			w.desk.Mount(language)
		}
	}
}

// StaffOnly lets only who is signed in at the desk through. It guards what is no page of ours. Without a
// desk there is nothing to sign in to, and nobody comes through.
func (w *Web) StaffOnly(c *gin.Context) {
	if w.desk == nil {
		w.NotFound(c)
		c.Abort()
		return
	}
	w.site.Headers(c)
	w.desk.Guard(c)
}

func (w *Web) asset(c *gin.Context, name string) {
	c.Header("X-Content-Type-Options", "nosniff")
	if !ui.ServeAsset(c.Writer, c.Request, name) {
		w.NotFound(c)
	}
}

// Problem shows an error as a page.
func (w *Web) Problem(c *gin.Context, err error) {
	w.site.Headers(c)
	if w.desk != nil && w.desk.Has(c) {
		w.desk.Problem(c, err)
		return
	}
	w.site.Problem(c, err)
}

// NotFound answers for an address that does not exist.
func (w *Web) NotFound(c *gin.Context) {
	if w.desk != nil && w.desk.Has(c) {
		w.Problem(c, domain.Errorf(domain.NotFound, "not_found", "There is nothing at this address."))
		return
	}
	w.site.Headers(c)
	w.site.NotFound(c)
}

// Route is one route that changes something, and why calling it twice is safe.
type Route = site.Route

// MutatingRoutes lists every route of the pages that is not a GET, in both languages.
var MutatingRoutes = inBothLanguages(append([]Route{
	{Method: http.MethodPost, Pattern: "/basket", Why: "cookie only: it sets the number of one article"},
	{Method: http.MethodPost, Pattern: "/checkout", Why: "draft: starting one id twice is starting it once"},
	{Method: http.MethodPost, Pattern: "/checkout/:attempt", Why: "draft: saving twice is saving once"},
	{Method: http.MethodPost, Pattern: "/checkout/:attempt/pay", Why: "operations: POST /v1/orders with the order key, then POST /v1/payments with the payment key"},
	{Method: http.MethodPost, Pattern: "/checkout/:attempt/payments", Why: "draft: the payment key is replaced only while it is the one in the form"},
	{Method: http.MethodPost, Pattern: "/orders", Why: "cookie only: it changes which orders the visitor's cookie lists, once or twice the same"},
	{Method: http.MethodPost, Pattern: "/contact/:submission", Why: "operation: POST /v1/contact-messages with the form's key"},
}, admin.MutatingRoutes...))

func inBothLanguages(routes []Route) []Route {
	both := routes
	for _, r := range routes {
		both = append(both, Route{Method: r.Method, Pattern: "/nl" + r.Pattern, Why: r.Why})
	}
	return both
}
