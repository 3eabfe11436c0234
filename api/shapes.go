package api

import (
	"time"

	"example.com/eenmaal/domain"
)

// PlaceOrder is the body of POST /v1/orders. Prices and totals are not in it: they are the shop's.
type PlaceOrder struct {
	Email    string         `json:"email"`
	Name     string         `json:"name"`
	Address  domain.Address `json:"address"`
	Items    []domain.Item  `json:"items"`
	Language string         `json:"language,omitzero"`
}

// Order is what the API tells of an order. It holds no personal data, since it is stored as the
// answer of a key.
type Order struct {
	ID        string             `json:"id"`
	Number    string             `json:"number"`
	Status    domain.OrderStatus `json:"status"`
	Items     []OrderLine        `json:"items"`
	Shipping  domain.Money       `json:"shipping"`
	Total     domain.Money       `json:"total"`
	CreatedAt time.Time          `json:"created_at"`

	CancelledFor domain.CancelReason `json:"cancelled_for,omitzero"`
}

// OrderLine is one article of an Order.
type OrderLine struct {
	SKU       string       `json:"sku"`
	Name      string       `json:"name"`
	Quantity  int64        `json:"quantity"`
	UnitPrice domain.Money `json:"unit_price"`
}

// PayOrder is the body of POST /v1/payments.
type PayOrder struct {
	OrderID string               `json:"order_id"`
	Method  domain.PaymentMethod `json:"method"`
	Capture string               `json:"capture,omitzero"`
}

// Payment is what the API tells of one payment attempt.
type Payment struct {
	ID         string               `json:"id"`
	OrderID    string               `json:"order_id"`
	Status     domain.PaymentStatus `json:"status"`
	Amount     domain.Money         `json:"amount"`
	Captured   domain.Money         `json:"captured"`
	Refunded   domain.Money         `json:"refunded"`
	Capture    string               `json:"capture"` // "automatic" or "manual"
	NextAction *NextAction          `json:"next_action,omitzero"`
	CreatedAt  time.Time            `json:"created_at"`
	Code       string               `json:"code,omitzero"`   // why it was declined or failed
	Detail     string               `json:"detail,omitzero"` // the same for people
}

// NextAction is what the customer must do: open the page at RedirectURL.
type NextAction struct {
	Type        string `json:"type"` // "redirect"
	RedirectURL string `json:"redirect_url"`
}

// CapturePayment is the body of POST /v1/payments/{id}/captures. Without an amount all that is left is
// captured.
type CapturePayment struct {
	PaymentID string `json:"-" path:"id"`
	Amount    Amount `json:"amount,omitzero"`
}

// VoidPayment is POST /v1/payments/{id}/voids. It has no body.
type VoidPayment struct {
	PaymentID string `json:"-" path:"id"`
}

// RefundPayment is the body of POST /v1/payments/{id}/refunds. Without an amount all that is left is
// refunded.
type RefundPayment struct {
	PaymentID string `json:"-" path:"id"`
	Amount    Amount `json:"amount,omitzero"`
}

// Modification is a capture, a void or a refund.
type Modification struct {
	ID        string                    `json:"id"`
	PaymentID string                    `json:"payment_id"`
	Status    domain.ModificationStatus `json:"status"`
	Amount    domain.Money              `json:"amount"`
	Reason    string                    `json:"reason"` // "requested", "order_cancelled" or "duplicate"
	CreatedAt time.Time                 `json:"created_at"`
	Code      string                    `json:"code,omitzero"` // why it failed
	Detail    string                    `json:"detail,omitzero"`

	kind domain.ModificationKind
}

// ChangeAddress is the body of PATCH /v1/orders/{id}.
type ChangeAddress struct {
	OrderID string         `json:"-" path:"id"`
	Address domain.Address `json:"address"`
}

// ChangedOrder is the answer to it: the order, which holds no address, as no stored answer does.
type ChangedOrder struct{ Order }

// SubmitContact is the body of POST /v1/contact-messages.
type SubmitContact struct {
	Name    string `json:"name,omitzero"`
	Email   string `json:"email"`
	Message string `json:"message"`
}

// ContactMessage is the receipt of a contact message.
type ContactMessage struct {
	ID        string `json:"id"`
	Reference string `json:"reference"`
}

// Product is one article as GET /v1/products shows it.
type Product struct {
	SKU   string       `json:"sku"`
	Name  string       `json:"name"`
	Price domain.Money `json:"price"`
	Stock int64        `json:"stock"`
}
