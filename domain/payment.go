package domain

import (
	"context"
	"errors"
	"time"
)

// PaymentStatus of one payment attempt.
//
// processing: made, the provider has not been heard. unknown: asked, no answer that can be believed.
// paid, declined and failed are final for the attempt; failed means that nothing was charged.
type PaymentStatus string

const (
	PaymentProcessing PaymentStatus = "processing"
	PaymentUnknown    PaymentStatus = "unknown"
	PaymentPaid       PaymentStatus = "paid"
	PaymentDeclined   PaymentStatus = "declined"
	PaymentFailed     PaymentStatus = "failed"
)

// NothingCharged reports whether it is certain that no money moved. Only these states may show the
// sentence "nothing was charged".
func (s PaymentStatus) NothingCharged() bool { return s == PaymentDeclined || s == PaymentFailed }

// Payment is one explicit attempt to pay an order.
type Payment struct {
	ID        string
	OrderID   string
	Status    PaymentStatus
	Method    PaymentMethod
	Amount    Money
	ChargeID  string // the provider's id, once known
	CreatedAt time.Time
}

// PaymentMethod is how the customer pays. Token stands for a card; card numbers never reach us.
type PaymentMethod struct {
	Type  string `json:"type"`
	Token string `json:"token"`
}

// ChargeRequest asks a provider for money. Reference is our order number; the provider's ledger can
// be asked by it.
type ChargeRequest struct {
	Reference string
	Amount    Money
	Method    PaymentMethod
}

// ChargeStatus is the provider's word on a charge.
type ChargeStatus string

const (
	ChargeSucceeded ChargeStatus = "succeeded"
	ChargeDeclined  ChargeStatus = "declined"
)

// Charge is what a provider did under one of our keys.
type Charge struct {
	ID        string
	Reference string
	Key       string
	Amount    Money
	Status    ChargeStatus
	CreatedAt time.Time
}

// PaymentProvider moves money. Implementations pass key to the provider on every try, so that any
// number of calls with one key make at most one charge.
type PaymentProvider interface {
	// Charge asks for money. A decline is a Charge, not an error. ErrNotCharged says that certainly
	// nothing happened; every other error leaves the outcome unknown.
	Charge(ctx context.Context, key string, r ChargeRequest) (Charge, error)
	// Find looks a charge up by the key it was made with. ErrNoCharge says that the provider knows
	// none and never began one.
	Find(ctx context.Context, key string, r ChargeRequest) (Charge, error)
}

var (
	// ErrNotCharged: the provider refused or could not be reached before it did anything.
	ErrNotCharged = errors.New("nothing was charged")
	// ErrNoCharge: the provider has no charge under this key.
	ErrNoCharge = errors.New("no charge under this key")
)

// Mailer sends one mail. It may be called again for the same mail; the Message-ID stays the same, so
// a receiver can tell.
type Mailer interface {
	Send(ctx context.Context, m Mail) error
}
