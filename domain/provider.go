package domain

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// ChargeRequest asks a provider for money. Reference is our order number; the provider's ledger can
// be asked by it. A repeat under one key must be the same in every field.
type ChargeRequest struct {
	Reference string
	Amount    Money
	Method    PaymentMethod
	Manual    bool   // only reserve the money
	ReturnURL string // where the customer goes after the provider's pages
}

// ChargeStatus is the provider's word on a charge.
type ChargeStatus string

const (
	ChargePending    ChargeStatus = "pending"    // the customer must act at RedirectURL
	ChargeAuthorized ChargeStatus = "authorized" // reserved
	ChargeSucceeded  ChargeStatus = "succeeded"  // captured, at least in part
	ChargeDeclined   ChargeStatus = "declined"   // the bank said no
	ChargeCanceled   ChargeStatus = "canceled"   // the customer left, or took too long
	ChargeVoided     ChargeStatus = "voided"     // the reservation was given back
)

// Charge is what a provider did under one of our keys, as it was at one moment. Version is raised by
// every change, so that of two words on one charge the newer is known.
type Charge struct {
	ID          string
	Reference   string
	Key         string
	Amount      Money
	Captured    Money
	Refunded    Money
	Status      ChargeStatus
	RedirectURL string
	Version     int64
	CreatedAt   time.Time
}

func (c Charge) paymentStatus() PaymentStatus {
	switch c.Status {
	case ChargePending:
		return PaymentPending
	case ChargeAuthorized:
		return PaymentAuthorized
	case ChargeDeclined:
		return PaymentDeclined
	case ChargeCanceled:
		return PaymentFailed
	case ChargeVoided:
		return PaymentVoided
	default:
		if c.Refunded.Amount == c.Captured.Amount && c.Captured.Amount > 0 {
			return PaymentRefunded
		}
		return PaymentPaid
	}
}

// ModifyRequest asks a provider to change a charge. Void has no amount: it gives back what was not
// captured.
type ModifyRequest struct {
	Kind     ModificationKind
	ChargeID string
	Amount   Money
}

// Modified is what a provider did: the id of the change, and the charge after it.
type Modified struct {
	ID     string
	Charge Charge
}

// ChargePage is a part of a provider's books. Next is the cursor of the next part, and empty after the
// last one.
type ChargePage struct {
	Charges []Charge
	Next    string
}

// PaymentProvider moves money. Implementations pass key to the provider on every try, so that any
// number of calls with one key have at most one effect.
type PaymentProvider interface {
	// Charge asks for money. A decline is a Charge, not an error. ErrNotCharged says that certainly
	// nothing happened; every other error leaves the outcome unknown.
	Charge(ctx context.Context, key string, r ChargeRequest) (Charge, error)
	// Find looks a charge up by the key it was made with. ErrNoCharge says that the provider knows
	// none and never began one.
	Find(ctx context.Context, key string, r ChargeRequest) (Charge, error)
	// Get reads a charge by its id, as it is now. ErrNoCharge says that there is none.
	Get(ctx context.Context, id string) (Charge, error)
	// List reads a page of the charges that were made or last changed from from on and before to, in the
	// order of that time, each as it is now. The first page has no cursor.
	List(ctx context.Context, from, to time.Time, cursor string) (ChargePage, error)
	// Modify captures, voids or refunds. An *Error of kind Refused is the provider's final no; every
	// other error leaves the outcome unknown.
	Modify(ctx context.Context, key string, r ModifyRequest) (Modified, error)
	// FindModification looks a change up by its key. ErrNoCharge says that there is none.
	FindModification(ctx context.Context, key string, r ModifyRequest) (Modified, error)
	// KeyMemory is how long the provider is sure to remember a key that it was asked to charge with. A
	// repeat that comes later may be charged anew.
	KeyMemory() time.Duration
}

// MayCharge reports whether a charge that was first asked for at the given time may be asked for again:
// well within the provider's memory of its key, so that what is under way then still meets it.
func MayCharge(first, now time.Time, memory time.Duration) bool {
	return now.Sub(first) <= memory*4/5
}

// ProviderEvent is one signed piece of news from a provider about one of its charges.
type ProviderEvent struct {
	ID         string // unique per provider; the same on every delivery
	Type       string // the provider's word, for people
	OccurredAt time.Time
	Charge     Charge // as it was when the event happened
}

// EventReader checks and reads a provider's webhook. ReadEvent looks at the raw bytes. An *Error of
// kind Unauthenticated says that the signature or its time is wrong, of kind Malformed that a signed
// body cannot be read.
type EventReader interface {
	ReadEvent(header http.Header, body []byte) (ProviderEvent, error)
}

var (
	// ErrNotCharged: the provider refused or could not be reached before it did anything.
	ErrNotCharged = errors.New("nothing was charged")
	// ErrNoCharge: the provider has no charge, or no change of one, under this key.
	ErrNoCharge = errors.New("no charge under this key")
)
