package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"example.com/eenmaal/domain"
)

// PlaceOrder places an order, which is then to be paid.
func (c *Client) PlaceOrder(ctx context.Context, in OrderRequest, options ...Option) (Result[Order], error) {
	return change[Order](ctx, c, http.MethodPost, "/v1/orders", in, options)
}

// ChangeAddress sends an order elsewhere, as long as it has not left.
func (c *Client) ChangeAddress(ctx context.Context, orderID string, to domain.Address, options ...Option) (Result[Order], error) {
	body := map[string]domain.Address{"address": to}
	return change[Order](ctx, c, http.MethodPatch, at("/v1/orders/%s", orderID), body, options)
}

// CancelOrder cancels an order. One that was paid is refunded.
func (c *Client) CancelOrder(ctx context.Context, orderID string, options ...Option) (Result[Cancellation], error) {
	return change[Cancellation](ctx, c, http.MethodPost, at("/v1/orders/%s/cancellations", orderID), struct{}{}, options)
}

// PayOrder makes one attempt to pay. A card that is declined is *Refused with status 402; another card
// is another call, with a key of its own.
func (c *Client) PayOrder(ctx context.Context, in PaymentRequest, options ...Option) (Result[Payment], error) {
	return change[Payment](ctx, c, http.MethodPost, "/v1/payments", in, options)
}

// CapturePayment takes cents of an authorized payment, or all of it when cents is 0.
func (c *Client) CapturePayment(ctx context.Context, paymentID string, cents int64, options ...Option) (Result[Movement], error) {
	return change[Movement](ctx, c, http.MethodPost, at("/v1/payments/%s/captures", paymentID), amount{cents}, options)
}

// VoidPayment lets an authorized payment go.
func (c *Client) VoidPayment(ctx context.Context, paymentID string, options ...Option) (Result[Movement], error) {
	return change[Movement](ctx, c, http.MethodPost, at("/v1/payments/%s/voids", paymentID), struct{}{}, options)
}

// RefundPayment gives cents of a payment back, or all that is left of it when cents is 0. It is
// accepted at once and done later: Refund tells how far it is.
func (c *Client) RefundPayment(ctx context.Context, paymentID string, cents int64, options ...Option) (Result[Movement], error) {
	return change[Movement](ctx, c, http.MethodPost, at("/v1/payments/%s/refunds", paymentID), amount{cents}, options)
}

// SubmitContact sends the shop a message.
func (c *Client) SubmitContact(ctx context.Context, in ContactRequest, options ...Option) (Result[ContactMessage], error) {
	return change[ContactMessage](ctx, c, http.MethodPost, "/v1/contact-messages", in, options)
}

// Order tells the state of an order.
func (c *Client) Order(ctx context.Context, id string) (Result[Order], error) {
	return read[Order](ctx, c, at("/v1/orders/%s", id))
}

// Payment tells the state of a payment.
func (c *Client) Payment(ctx context.Context, id string) (Result[Payment], error) {
	return read[Payment](ctx, c, at("/v1/payments/%s", id))
}

// Refund tells the state of a refund.
func (c *Client) Refund(ctx context.Context, id string) (Result[Movement], error) {
	return read[Movement](ctx, c, at("/v1/refunds/%s", id))
}

// Refunds lists the refunds of a payment.
func (c *Client) Refunds(ctx context.Context, paymentID string) (Result[[]Movement], error) {
	return read[[]Movement](ctx, c, at("/v1/payments/%s/refunds", paymentID))
}

// Operation tells what became of a key. endpoint is a method and a path, such as "POST /v1/orders". A
// key that never arrived is *Refused with code operation_not_found.
func (c *Client) Operation(ctx context.Context, endpoint string, key Key) (Result[Operation], error) {
	return read[Operation](ctx, c, operationPath(endpoint, key))
}

// amount leaves out what is to be everything.
type amount struct {
	Cents int64 `json:"amount,omitzero"`
}

// at puts an id into a path as one segment.
func at(path, id string) string { return fmt.Sprintf(path, url.PathEscape(id)) }

func change[T any](ctx context.Context, c *Client, method, path string, body any, options []Option) (Result[T], error) {
	call := Call{Method: method, Path: path, Body: body}
	for _, o := range options {
		o(&call)
	}
	return typed[T](c.Do(ctx, call))
}

func read[T any](ctx context.Context, c *Client, path string) (Result[T], error) {
	return typed[T](c.Do(ctx, Call{Method: http.MethodGet, Path: path}))
}

// typed decodes the answer. One of another shape was given all the same: its status and key are told
// beside the error.
func typed[T any](r Result[json.RawMessage], err error) (Result[T], error) {
	out := Result[T]{Status: r.Status, Header: r.Header, Key: r.Key, Replayed: r.Replayed, Attempts: r.Attempts}
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(r.Value, &out.Value); err != nil {
		return out, fmt.Errorf("client: the answer (status %d) has an unexpected shape: %w", r.Status, err)
	}
	return out, nil
}
