package api

import (
	"context"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
)

// placeOrder takes the articles from the stock and makes the order, which then waits for its payment.
func (a *API) placeOrder(ctx context.Context, tx *idempotent.Tx, in PlaceOrder) (Order, error) {
	draft := domain.OrderDraft(in).Normalize()
	if err := draft.Validate(); err != nil {
		return Order{}, err
	}
	catalogue, err := a.db.Prices(ctx)
	if err != nil {
		return Order{}, err
	}
	order, err := domain.NewOrder(draft, catalogue)
	if err != nil {
		return Order{}, err
	}
	order.ID, order.Number, order.Token, order.CreatedAt = newID(), newOrderNumber(), newToken(), tx.Now()
	tx.InsertOrder(order, tx.Scope)
	for _, i := range inLockOrder(order.Lines) {
		tx.TakeStock(order.Lines[i], order.SoldOut(i))
	}
	return newOrder(order), nil
}

// inLockOrder gives the lines' indexes in the one order in which all orders lock articles: two orders
// for the same two articles cannot block each other. The stock comes last in the transaction, since
// an article that everybody wants is locked until the commit.
func inLockOrder(lines []domain.Line) []int {
	indexes := make([]int, len(lines))
	for i := range lines {
		indexes[i] = i
	}
	slices.SortFunc(indexes, func(a, b int) int { return strings.Compare(lines[a].SKU, lines[b].SKU) })
	return indexes
}

func newOrder(o domain.Order) Order {
	out := Order{ID: o.ID, Number: o.Number, Status: o.Status, Shipping: o.Shipping, Total: o.Total, CreatedAt: o.CreatedAt}
	for _, l := range o.Lines {
		out.Items = append(out.Items, OrderLine(l))
	}
	return out
}

// Path is where the order is found.
func (o Order) Path() string { return "/v1/orders/" + o.ID }

// getOrder tells the state of one of the caller's orders.
func (a *API) getOrder(c *gin.Context) {
	order, err := a.ownOrder(c)
	if err != nil {
		a.fail(c, err)
		return
	}
	live(c, newOrder(order))
}

// ownOrder reads the order in the path. Somebody else's is as absent as one that never was.
func (a *API) ownOrder(c *gin.Context) (domain.Order, error) {
	id, err := pathID(c, "order")
	if err != nil {
		return domain.Order{}, err
	}
	if err := a.owns(c.Request.Context(), caller(c).ID, id); err != nil {
		return domain.Order{}, err
	}
	return a.db.Order(c.Request.Context(), id)
}

func (a *API) owns(ctx context.Context, consumer int64, orderID string) error {
	owner, err := a.db.ConsumerOfOrder(ctx, orderID)
	if err == nil && owner != consumer {
		err = domain.Errorf(domain.NotFound, "order_not_found", "There is no such order.")
	}
	return err
}
