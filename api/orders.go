package api

import (
	"context"
	"net/http"
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
	out := Order{ID: o.ID, Number: o.Number, Status: o.Status, Shipping: o.Shipping, Total: o.Total, CreatedAt: o.CreatedAt,
		CancelledFor: o.CancelledFor}
	for _, l := range o.Lines {
		out.Items = append(out.Items, OrderLine(l))
	}
	return out
}

// Path is where the order is found.
func (o Order) Path() string { return "/v1/orders/" + o.ID }

// changeAddress sends an order that is not cancelled to another address.
func (a *API) changeAddress(ctx context.Context, tx *idempotent.Tx, in ChangeAddress) (ChangedOrder, error) {
	order, err := a.orderOf(ctx, tx.Scope.Consumer, in.OrderID)
	if err != nil {
		return ChangedOrder{}, err
	}
	if order.Status == domain.OrderCancelled {
		refusal := domain.Errorf(domain.Refused, "order_not_changeable", "The order is cancelled.")
		refusal.Resource = newOrder(order).Path()
		return ChangedOrder{}, refusal
	}
	order.Address = in.Address.Normalize()
	if err := order.Address.Validate(); err != nil {
		return ChangedOrder{}, err
	}
	tx.ChangeAddress(newID(), order, tx.Scope)
	return ChangedOrder{newOrder(order)}, nil
}

// HTTPStatus is 200: nothing new was made.
func (ChangedOrder) HTTPStatus() int { return http.StatusOK }

// getOrder tells the state of one of the caller's orders.
func (a *API) getOrder(c *gin.Context) {
	order, err := a.orderOf(c.Request.Context(), caller(c).ID, c.Param("id"))
	if err != nil {
		a.fail(c, err)
		return
	}
	live(c, newOrder(order))
}

// orderOf reads an order of this consumer. Somebody else's is as absent as one that never was. The desk
// may have every order.
func (a *API) orderOf(ctx context.Context, consumer int64, id string) (domain.Order, error) {
	id, err := parseID(id, "order")
	if err != nil {
		return domain.Order{}, err
	}
	order, err := a.db.Order(ctx, id)
	if err == nil && !has(consumer, order.Consumer) {
		return domain.Order{}, notThere("order")
	}
	return order, err
}

// has reports whether a consumer may have what belongs to owner: what is his own, and at the desk
// everything. No request comes as the desk but those of its own pages.
func has(consumer, owner int64) bool { return consumer == owner || consumer == domain.DeskConsumer.ID }
