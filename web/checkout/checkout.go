// Package checkout is the way from a basket to a paid order: details, review, payment and what can
// come between.
//
// A checkout has an id in its address and owns two keys. The order key is made when it starts, the
// payment key then and again when the customer chooses another way to pay. Every page and every POST
// reads the state afresh, so Back, a second tab, a bookmark or a repeated POST finds what is true.
package checkout

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
)

//go:generate go tool templ generate

// Reader is what a checkout looks up.
type Reader interface {
	Products(ctx context.Context) ([]domain.Product, error)
	Order(ctx context.Context, id string) (domain.Order, error)
	OrdersByID(ctx context.Context, ids []string) ([]domain.Order, error)
	Payment(ctx context.Context, id string) (domain.Payment, error)
	OrderOf(ctx context.Context, consumer int64) (domain.Order, bool, error)
	PaymentsOf(ctx context.Context, orderID string) ([]domain.Payment, error)
}

// Drafts keeps checkouts that are being filled in.
type Drafts interface {
	Draft(ctx context.Context, id string) (domain.Draft, error)
	StartDraft(ctx context.Context, d domain.Draft) error
	SaveDraft(ctx context.Context, d domain.Draft) error
	RenewPaymentKey(ctx context.Context, id, old, key string) error
}

// Checkout answers with these pages.
type Checkout struct {
	Site       *site.Site
	Reader     Reader
	Drafts     Drafts
	PlaceOrder site.Operation[api.PlaceOrder, api.Order]
	PayOrder   site.Operation[api.PayOrder, api.Payment]
	TTL        time.Duration // how long a checkout waits for its order
}

// Mount adds the routes of one language.
func (k *Checkout) Mount(r gin.IRouter) {
	r.GET("/checkout", k.Site.Handle(func(c *gin.Context) error { return k.Site.See(c, "/basket") }))
	r.POST("/checkout", k.Site.Handle(k.start))
	r.GET("/checkout/:attempt", k.at(func(r row) way { return r.details }, k.details))
	r.POST("/checkout/:attempt", k.at(func(r row) way { return r.save }, k.save))
	r.GET("/checkout/:attempt/review", k.at(func(r row) way { return r.review }, k.review))
	r.POST("/checkout/:attempt/pay", k.at(func(r row) way { return r.pay }, k.pay))
	r.GET("/checkout/:attempt/status", k.at(func(r row) way { return r.status }, k.status))
	r.POST("/checkout/:attempt/payments", k.at(func(r row) way { return r.choose }, k.choose))

	r.GET("/return/:payment", k.Site.Handle(k.comeBack))

	// The address of a POST, opened from the browser's history.
	r.GET("/checkout/:attempt/pay", k.at(func(r row) way { return r.review }, k.seeReview))
	r.GET("/checkout/:attempt/payments", k.at(func(r row) way { return r.details }, k.seeDetails))
}

// at serves a page in the states that accept it, and leads elsewhere in all others.
func (k *Checkout) at(page func(row) way, serve func(*gin.Context, visit) error) gin.HandlerFunc {
	return k.Site.Handle(func(c *gin.Context) error {
		site.NoStore(c)
		v, err := k.visit(c.Request.Context(), c.Param("attempt"))
		if domain.KindOf(err) == domain.NotFound && err != nil {
			return k.gone(c)
		}
		if err != nil {
			return err
		}
		return k.lead(c, v, page(table[v.State]), serve)
	})
}

func (k *Checkout) lead(c *gin.Context, v visit, w way, serve func(*gin.Context, visit) error) error {
	switch w {
	case here:
		return serve(c, v)
	case toReview:
		return k.seeReview(c, v)
	case toStatus:
		return k.seeStatus(c, v)
	case toOrder:
		return k.seeOrder(c, v)
	case showPaid:
		return k.alreadyPaid(c, v)
	case showExpired:
		return k.expired(c, v)
	case showUsed:
		return k.tooLate(c, v)
	default:
		return k.seeDetails(c, v)
	}
}

// visit reads a checkout and its state.
func (k *Checkout) visit(ctx context.Context, attempt string) (visit, error) {
	if !site.IsFlow(attempt) {
		return visit{}, domain.Errorf(domain.NotFound, "checkout_not_found", "There is no such checkout.")
	}
	var v visit
	var err error
	if v.Draft, err = k.Drafts.Draft(ctx, attempt); err != nil {
		return v, err
	}
	if v.Order, v.Placed, err = k.Reader.OrderOf(ctx, consumer(attempt).ID); err != nil {
		return v, err
	}
	if v.Placed {
		if v.Payments, err = k.Reader.PaymentsOf(ctx, v.Order.ID); err != nil {
			return v, err
		}
	}
	v.State = stateOf(v, k.Site.Demo, k.Site.Now(), k.TTL)
	return v, nil
}

func consumer(attempt string) domain.Consumer { return domain.FlowConsumer("checkout", attempt) }

func (v visit) path(page string) string { return "/checkout/" + v.ID + page }

func (k *Checkout) seeDetails(c *gin.Context, v visit) error { return k.Site.See(c, v.path("")) }
func (k *Checkout) seeReview(c *gin.Context, v visit) error  { return k.Site.See(c, v.path("/review")) }
func (k *Checkout) seeStatus(c *gin.Context, v visit) error  { return k.Site.See(c, v.path("/status")) }

// seeOrder ends a checkout at its order's page. What was ordered leaves the basket, unless the basket
// holds something else by now.
func (k *Checkout) seeOrder(c *gin.Context, v visit) error {
	if b := k.Site.Basket(c); v.State == Paid && len(b) > 0 && b.Print() == site.Basket(v.Items).Print() {
		k.Site.SetBasket(c, nil)
	}
	k.Site.NoteOrder(c, v.Order.ID)
	return k.Site.See(c, orderPath(v.Order))
}

func orderPath(o domain.Order) string { return "/orders/" + o.Number + "?t=" + o.Token }

// run calls an operation and reads its answer.
func run[In, Out any](ctx context.Context, op site.Operation[In, Out], v visit, key domain.Key, in In) (out Out, err error) {
	reply, err := op.Do(ctx, consumer(v.ID), key, in)
	if err != nil {
		return out, err
	}
	return op.Output(reply)
}
