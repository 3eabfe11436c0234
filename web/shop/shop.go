// Package shop is the part of the pages that anybody walks through: the collection, the basket, an
// order's page and, in the demo, the mailbox.
package shop

import (
	"context"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

//go:generate go tool templ generate

// Reader is what these pages look up.
type Reader interface {
	Products(ctx context.Context) ([]domain.Product, error)
	OrderByNumber(ctx context.Context, number string) (domain.Order, error)
	OrdersByID(ctx context.Context, ids []string) ([]domain.Order, error)
	PaymentsOf(ctx context.Context, orderID string) ([]domain.Payment, error)
	ModificationsOf(ctx context.Context, paymentID string) ([]domain.Modification, error)
	MailsAbout(ctx context.Context, id string) ([]domain.Mail, error)
	Mails(ctx context.Context, limit int) ([]domain.Mail, error)
}

// Shop answers with these pages.
type Shop struct {
	Site      *site.Site
	Reader    Reader
	Timelines Timelines // nil for no panel and no page about what happened with an order's keys

	// CheckoutOf is where the visitor goes on with an order that is not paid. Not ok: this browser did not
	// make it.
	CheckoutOf func(c *gin.Context, order domain.Order) (path string, ok bool)
}

// Mount adds the routes of one language. home is the address of its first page within r.
func (s *Shop) Mount(r gin.IRouter, home string) {
	if home == "/" {
		r.GET(home, s.Site.Negotiate, s.Site.Handle(s.home))
	} else {
		r.GET(home, s.Site.Handle(s.home))
	}
	r.GET("/p/:slug", s.Site.Handle(s.product))
	r.GET("/basket", s.Site.Handle(s.basket))
	r.POST("/basket", s.Site.Handle(s.setBasket))
	r.GET("/orders", s.Site.Handle(s.orders))
	r.POST("/orders", s.Site.Handle(s.lookUp))
	r.GET("/orders/:number", s.Site.Handle(s.order))
	if s.Site.Demo {
		r.GET("/mailbox", s.Site.Handle(s.mailbox))
	}
	if s.Site.Demo && s.Timelines != nil {
		r.GET("/orders/:number/timeline", s.Site.Handle(s.timeline))
	}
}

func (s *Shop) products(ctx context.Context) ([]ui.Product, error) {
	catalogue, err := s.Reader.Products(ctx)
	if err != nil {
		return nil, err
	}
	products := make([]ui.Product, len(catalogue))
	for i, p := range catalogue {
		products[i] = ui.ProductOf(p)
	}
	return products, nil
}
