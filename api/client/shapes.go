package client

import (
	"time"

	"example.com/eenmaal/domain"
)

// OrderRequest is what PlaceOrder sends. Prices are the shop's.
type OrderRequest struct {
	Email    string         `json:"email"`
	Name     string         `json:"name"`
	Address  domain.Address `json:"address"`
	Items    []domain.Item  `json:"items"`
	Language string         `json:"language,omitzero"` // of the mails: "en" (default) or "nl"
}

// Order as the API tells it.
type Order struct {
	ID        string             `json:"id"`
	Number    string             `json:"number"`
	Status    domain.OrderStatus `json:"status"`
	Items     []OrderLine        `json:"items"`
	Shipping  domain.Money       `json:"shipping"`
	Total     domain.Money       `json:"total"`
	CreatedAt time.Time          `json:"created_at"`

	CancelledFor domain.CancelReason `json:"cancelled_for"` // empty unless Status is cancelled
}

// OrderLine is one article of an Order.
type OrderLine struct {
	SKU       string       `json:"sku"`
	Name      string       `json:"name"`
	Quantity  int64        `json:"quantity"`
	UnitPrice domain.Money `json:"unit_price"`
}

// Cancellation of an order. RefundIDs are the refunds of what had been paid.
type Cancellation struct {
	ID        string    `json:"id"`
	OrderID   string    `json:"order_id"`
	Status    string    `json:"status"`
	RefundIDs []string  `json:"refund_ids"`
	CreatedAt time.Time `json:"created_at"`
}

// PaymentRequest is what PayOrder sends.
type PaymentRequest struct {
	OrderID string        `json:"order_id"`
	Method  PaymentMethod `json:"method"`
	Capture string        `json:"capture,omitzero"` // "automatic" (default) or "manual"
}

// PaymentMethod is Card or IDEAL.
type PaymentMethod struct {
	Type  string `json:"type"`
	Token string `json:"token,omitzero"`
}

// Card pays with the card that a token of the provider stands for.
func Card(token string) PaymentMethod { return PaymentMethod{Type: "card", Token: token} }

// IDEAL pays at the customer's bank: the payment is pending and its NextAction says where to go.
func IDEAL() PaymentMethod { return PaymentMethod{Type: "ideal"} }

// Payment as the API tells it.
type Payment struct {
	ID         string               `json:"id"`
	OrderID    string               `json:"order_id"`
	Status     domain.PaymentStatus `json:"status"`
	Amount     domain.Money         `json:"amount"`
	Captured   domain.Money         `json:"captured"`
	Refunded   domain.Money         `json:"refunded"`
	Capture    string               `json:"capture"`
	NextAction *NextAction          `json:"next_action"` // nil when the customer need not act
	CreatedAt  time.Time            `json:"created_at"`
	Code       string               `json:"code"`   // why it was declined
	Detail     string               `json:"detail"` // the same for people
}

// NextAction is what the customer must do to go on.
type NextAction struct {
	Type        string `json:"type"`
	RedirectURL string `json:"redirect_url"`
}

// Movement is a capture, a void or a refund of a payment.
type Movement struct {
	ID        string       `json:"id"`
	PaymentID string       `json:"payment_id"`
	Amount    domain.Money `json:"amount"`
	Status    string       `json:"status"`
	CreatedAt time.Time    `json:"created_at"`
}

// ContactRequest is what SubmitContact sends.
type ContactRequest struct {
	Name    string `json:"name,omitzero"`
	Email   string `json:"email"`
	Message string `json:"message"`
}

// ContactMessage is the receipt of a contact message.
type ContactMessage struct {
	ID        string `json:"id"`
	Reference string `json:"reference"`
}

// Operation is what the API knows of a key.
type Operation struct {
	ID          string         `json:"id"`
	Endpoint    string         `json:"endpoint"`
	Key         Key            `json:"key"`
	State       OperationState `json:"state"`
	Status      int            `json:"status"`   // of the answer, once completed
	Resource    string         `json:"resource"` // the path of what was made
	Attempts    int            `json:"attempts"`
	FirstSeen   time.Time      `json:"first_seen"`
	CompletedAt time.Time      `json:"completed_at"`
	ExpiresAt   time.Time      `json:"expires_at"`
}

// OperationState is how far the API is with a key.
type OperationState string

const (
	Completed  OperationState = "completed"   // the same request gets the stored answer
	InProgress OperationState = "in_progress" // it runs at this moment
	Retryable  OperationState = "retryable"   // it stopped on the way; the same request goes on with it
	Expired    OperationState = "expired"     // done long ago; the answer is no longer kept
	NotFound   OperationState = "not_found"   // never arrived, or is still travelling: no proof that it never happens
)
