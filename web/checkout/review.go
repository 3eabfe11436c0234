package checkout

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// reviewView is the page with the paying button. What is filled in of the rest is asked before the
// button counts.
type reviewView struct {
	visit
	Summary ui.Summary
	Basket  string // which basket the visitor has seen
	Next    string // id of a checkout that the page's other buttons would begin

	OldTotal   *domain.Money // the total that was shown before
	NewBasket  *ui.Summary   // a basket that differs from this checkout
	SoldOut    []string      // sentences about what is not to be had
	NothingIs  bool          // left of what was wanted
	Refused    bool          // the order key has a final no: its button is of no use any more
	SameOrder  *domain.Order
	AskedAgain bool // this page came in place of an order
}

func (k *Checkout) review(c *gin.Context, v visit) error {
	return k.showReview(c, http.StatusOK, v, reviewView{})
}

func (k *Checkout) showReview(c *gin.Context, status int, v visit, view reviewView) error {
	products, err := k.Reader.Products(c.Request.Context())
	if err != nil {
		return err
	}
	l, basket := site.Lang(c), k.Site.Basket(c)
	view.visit, view.Basket, view.Next = v, basket.Print(), site.NewFlow()
	view.Summary = ui.Priced(l, v.Items, products)
	if v.Placed {
		view.Summary = ui.SummaryOf(l, v.Order)
	} else {
		if differs(basket, v) {
			other := ui.Priced(l, basket, products)
			view.NewBasket = &other
		}
		if len(view.SoldOut) == 0 {
			view.SoldOut = short(l, v.Items, products)
		}
		view.NothingIs = nothingLeft(v.Items, products)
		order, again, err := k.sameAgain(c, v.Draft)
		if err != nil {
			return err
		}
		if again {
			view.SameOrder = &order
		}
	}
	view.AskedAgain = status != http.StatusOK
	p := k.Site.Page(c, ui.TReviewTitle.In(l))
	p.Failed, p.Path, p.State = view.AskedAgain, v.path("/review"), "review-"+string(v.State)
	return k.Site.Render(c, status, reviewPage(p, view))
}

// differs reports whether the visitor's basket holds something else than the checkout. An empty or lost
// one says nothing.
func differs(b site.Basket, v visit) bool {
	return len(b) > 0 && b.Print() != site.Basket(v.Items).Print()
}

// short names what the shop does not have enough of.
func short(l ui.Lang, items []domain.Item, products []domain.Product) (sentences []string) {
	for _, item := range items {
		var found domain.Product
		for _, p := range products {
			if p.SKU == item.SKU {
				found = p
			}
		}
		name := ui.ArticleOf(item.SKU, item.SKU).Name.In(l)
		switch {
		case found.Stock <= 0:
			sentences = append(sentences, ui.TItemSoldOut.In(l, name))
		case found.Stock < item.Quantity:
			sentences = append(sentences, ui.TItemFewLeft.In(l, name, found.Stock))
		}
	}
	return sentences
}

// nothingLeft reports whether of none of the items one is left.
func nothingLeft(items []domain.Item, products []domain.Product) bool {
	return !slices.ContainsFunc(products, func(p domain.Product) bool {
		return p.Stock > 0 && slices.ContainsFunc(items, func(i domain.Item) bool { return i.SKU == p.SKU })
	})
}

// soldOut shows the review page with the names of what cannot be had.
func (k *Checkout) soldOut(c *gin.Context, v visit, refusal error) error {
	l := site.Lang(c)
	products, err := k.Reader.Products(c.Request.Context())
	if err != nil {
		return err
	}
	sentences := short(l, v.Items, products)
	if len(sentences) == 0 {
		sentences = named(l, v.Items, refusal)
	}
	return k.showReview(c, http.StatusUnprocessableEntity, v, reviewView{SoldOut: sentences, Refused: true})
}

// named reads the items that a refusal names, for when the stock has come back meanwhile.
func named(l ui.Lang, items []domain.Item, refusal error) []string {
	var sentences []string
	if e, ok := errors.AsType[*domain.Error](refusal); ok {
		for i, item := range items {
			for _, f := range e.Fields {
				if strings.HasPrefix(f.Field, itemPath(i)) {
					sentences = append(sentences, ui.TItemSoldOut.In(l, ui.ArticleOf(item.SKU, item.SKU).Name.In(l)))
				}
			}
		}
	}
	if len(sentences) == 0 {
		return []string{ui.TSomeSoldOut.In(l)}
	}
	return sentences
}

func itemPath(i int) string { return fmt.Sprintf("items[%d]", i) }

// changed asks again when what the customer saw is no longer true: another total, or another basket.
// It only looks at what nothing was ordered of yet, so a repeated press is never stopped by it.
func (k *Checkout) changed(c *gin.Context, v visit, form url.Values) (asks bool, err error) {
	if seen := form.Get("basket"); seen != "" && differs(k.Site.Basket(c), v) && seen != k.Site.Basket(c).Print() {
		return true, k.showReview(c, http.StatusUnprocessableEntity, v, reviewView{})
	}
	now, err := k.summary(c, v)
	if err != nil {
		return true, err
	}
	if old, ok := otherTotal(form, now.Total); ok {
		return true, k.showReview(c, http.StatusUnprocessableEntity, v, reviewView{OldTotal: &old})
	}
	return false, nil
}

// otherTotal gives the total that the customer saw, when it was another one.
func otherTotal(form url.Values, now domain.Money) (seen domain.Money, other bool) {
	amount, err := strconv.ParseInt(form.Get("total"), 10, 64)
	return domain.Money{Amount: amount, Currency: now.Currency}, err == nil && amount != now.Amount
}
