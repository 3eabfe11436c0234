package shop

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

func (s *Shop) home(c *gin.Context) error {
	products, err := s.products(c.Request.Context())
	if err != nil {
		return err
	}
	p := s.Site.Page(c, ui.THomeTitle.In(site.Lang(c)))
	p.Public, p.State = true, "home"
	return s.Site.Render(c, http.StatusOK, homePage(p, products))
}

// productView is one article and how many of it the visitor has already.
type productView struct {
	ui.Product
	InBasket int64
	Others   []ui.Product
}

func (s *Shop) product(c *gin.Context) error {
	products, err := s.products(c.Request.Context())
	if err != nil {
		return err
	}
	for i, product := range products {
		if product.SKU != c.Param("slug") {
			continue
		}
		view := productView{Product: product, InBasket: s.Site.Basket(c).Of(product.SKU)}
		for n := 1; n <= min(4, len(products)-1); n++ {
			view.Others = append(view.Others, products[(i+n)%len(products)])
		}
		p := s.Site.Page(c, "")
		p.Title = product.Name.In(p.Lang)
		p.Public, p.State = true, "product"
		return s.Site.Render(c, http.StatusOK, productPage(p, view))
	}
	return domain.Errorf(domain.NotFound, "product_not_found", "There is no such product.")
}
