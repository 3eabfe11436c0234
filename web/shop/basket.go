package shop

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// basketView is the visitor's basket at today's prices. Attempt is the id of the checkout that the
// page's button begins: a page makes it once, so its button pressed twice begins one checkout.
type basketView struct {
	ui.Summary
	Attempt string
	Mistake string // about the number typed for the article Wrong
	Wrong   string
}

func (s *Shop) basket(c *gin.Context) error { return s.showBasket(c, http.StatusOK, "") }

func (s *Shop) showBasket(c *gin.Context, status int, wrong string) error {
	site.NoStore(c)
	products, err := s.Reader.Products(c.Request.Context())
	if err != nil {
		return err
	}
	p := s.Site.Page(c, ui.TBasketTitle.In(site.Lang(c)))
	p.State = "basket"
	view := basketView{Summary: ui.Priced(p.Lang, s.Site.Basket(c), products), Attempt: site.NewFlow()}
	if wrong != "" {
		p.Failed, view.Wrong, view.Mistake = true, wrong, p.T(ui.TBasketQuantity)
	}
	return s.Site.Render(c, status, basketPage(p, view))
}

// setBasket sets the number of one article. A product page sends the number that it showed as base and
// how many more are wanted, so that its form, too, says the same when it is sent twice.
func (s *Shop) setBasket(c *gin.Context) error {
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	sku := form.Get("sku")
	known, err := s.sells(c, sku)
	if err != nil {
		return err
	}
	if !known {
		return domain.Errorf(domain.NotFound, "product_not_found", "There is no such product.")
	}
	quantity, ok := number(form.Get("quantity"))
	base, baseOK := number(form.Get("base"))
	if !ok || (form.Has("base") && !baseOK) {
		return s.showBasket(c, http.StatusUnprocessableEntity, sku)
	}
	s.Site.SetBasket(c, s.Site.Basket(c).With(sku, base+quantity))
	if form.Get("from") == "product" {
		return s.Site.See(c, "/p/"+sku)
	}
	return s.Site.See(c, "/basket")
}

func (s *Shop) sells(c *gin.Context, sku string) (bool, error) {
	products, err := s.Reader.Products(c.Request.Context())
	for _, p := range products {
		if p.SKU == sku {
			return true, nil
		}
	}
	return false, err
}

func number(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0 && n <= domain.MaxQuantity
}
