package checkout

import (
	"crypto/sha256"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
)

// start begins a checkout under the id that its page made, or finds the one that was begun under it.
// A form may name an earlier checkout (from), whose answers are then filled in, and whose items are
// taken when the basket is empty or when they are to fit what is left (fit). Answers that it brings
// itself go before those.
func (k *Checkout) start(c *gin.Context) error {
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	attempt := form.Get("attempt")
	if !site.IsFlow(attempt) {
		return domain.Errorf(domain.Malformed, "attempt_malformed", "The attempt must be a UUID.")
	}
	d := k.newDraft(c, attempt)
	if from := form.Get("from"); site.IsFlow(from) {
		if err := k.takeOver(c, &d, from, form.Has("fit")); err != nil {
			return err
		}
	}
	if form.Has("email") {
		d, _ = filled(d, form, k.Site.Demo) // what is wrong in them is told by the next page
	}
	if len(d.Items) == 0 {
		return k.Site.See(c, "/basket")
	}
	id, err := k.begin(c, d)
	if err != nil {
		return err
	}
	return k.Site.See(c, "/checkout/"+id)
}

func (k *Checkout) newDraft(c *gin.Context, attempt string) domain.Draft {
	now := k.Site.Now()
	return domain.Draft{
		ID: attempt, OrderKey: site.NewKey(now), PaymentKey: site.NewKey(now), Language: string(site.Lang(c)),
		Items: k.Site.Basket(c), Address: domain.Address{Country: "NL"}, CreatedAt: now.UTC(),
	}
}

func (k *Checkout) takeOver(c *gin.Context, d *domain.Draft, from string, fit bool) error {
	old, err := k.Drafts.Draft(c.Request.Context(), from)
	if err != nil {
		if domain.KindOf(err) == domain.NotFound {
			return nil // nothing to fill in
		}
		return err
	}
	d.Email, d.Name, d.Address, d.Method = old.Email, old.Name, old.Address, old.Method
	switch {
	case fit:
		if d.Items, err = k.fitting(c, old.Items); err != nil {
			return err
		}
	case len(d.Items) == 0:
		d.Items = old.Items
	default:
		return nil
	}
	k.Site.SetBasket(c, d.Items)
	return nil
}

// fitting keeps of items what the shop has.
func (k *Checkout) fitting(c *gin.Context, items []domain.Item) (site.Basket, error) {
	products, err := k.Reader.Products(c.Request.Context())
	if err != nil {
		return nil, err
	}
	var kept site.Basket
	for _, item := range items {
		for _, p := range products {
			if p.SKU == item.SKU {
				kept = kept.With(item.SKU, min(item.Quantity, p.Stock))
			}
		}
	}
	return kept, nil
}

// begin keeps the draft and gives its id. A page that came back from memory may send an id whose
// checkout holds other items, since a checkout's items never change. The basket then gets an id that
// follows from both, so that this form, too, begins one checkout however often it is sent.
func (k *Checkout) begin(c *gin.Context, d domain.Draft) (id string, err error) {
	ctx := c.Request.Context()
	if err := k.Drafts.StartDraft(ctx, d); err != nil {
		return "", err
	}
	kept, err := k.Drafts.Draft(ctx, d.ID)
	if err != nil || site.Basket(kept.Items).Print() == site.Basket(d.Items).Print() {
		return d.ID, err
	}
	d.ID = follow(d.ID, site.Basket(d.Items).Print())
	return d.ID, k.Drafts.StartDraft(ctx, d)
}

func follow(id, print string) string {
	sum := sha256.Sum256([]byte("checkout\x00" + id + "\x00" + print))
	next := uuid.UUID(sum[:16])
	next[6] = next[6]&0x0f | 0x40
	next[8] = next[8]&0x3f | 0x80
	return next.String()
}

// recently is how long an equal order leads to the question whether a second one is meant.
const recently = 10 * time.Minute

// sameAgain gives an order that was paid in this browser a moment ago, with the items and the address
// of this checkout. It is a question to the visitor and stops nothing.
func (k *Checkout) sameAgain(c *gin.Context, d domain.Draft) (order domain.Order, ok bool, err error) {
	ids := k.Site.DeviceOrders(c)
	if len(ids) == 0 {
		return order, false, nil
	}
	orders, err := k.Reader.OrdersByID(c.Request.Context(), ids)
	for _, o := range orders {
		if o.Status == domain.OrderPaid && k.Site.Now().Sub(o.CreatedAt) <= recently && alike(o, d) {
			return o, true, err
		}
	}
	return order, false, err
}

// alike reports whether a checkout asks for what an order was: the same items to the same person and
// address.
func alike(o domain.Order, d domain.Draft) bool {
	var items site.Basket
	for _, line := range o.Lines {
		items = append(items, domain.Item{SKU: line.SKU, Quantity: line.Quantity})
	}
	return saysTheSame(o, d) && items.Print() == site.Basket(d.Items).Print()
}

// saysTheSame reports whether a checkout's answers are those that an order was made with.
func saysTheSame(o domain.Order, d domain.Draft) bool {
	return o.Email == d.Email && o.Name == d.Name && o.Address == d.Address
}
