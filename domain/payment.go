package domain

import (
	"errors"
	"time"
)

// PaymentStatus of one payment attempt. It never goes back to a lower rank.
type PaymentStatus string

const (
	PaymentProcessing PaymentStatus = "processing" // made; the provider has not been heard
	PaymentUnknown    PaymentStatus = "unknown"    // asked; no answer that can be believed
	PaymentPending    PaymentStatus = "pending"    // the customer must act on the provider's pages
	PaymentAuthorized PaymentStatus = "authorized" // the money is reserved, to be captured or voided
	PaymentDeclined   PaymentStatus = "declined"   // the customer's bank said no
	PaymentFailed     PaymentStatus = "failed"     // given up before any money moved
	PaymentVoided     PaymentStatus = "voided"     // the reservation was given back, nothing was captured
	PaymentPaid       PaymentStatus = "paid"       // captured, at least in part
	PaymentDuplicate  PaymentStatus = "duplicate"  // captured for an order that needed no money any more; refunded by itself
	PaymentRefunded   PaymentStatus = "refunded"   // all that was captured was given back
)

// rank orders the statuses in time. What the provider says later can only be of the same rank or a
// higher one: news that comes out of order changes nothing backwards. Money that moved outranks every
// "no" heard before.
func (s PaymentStatus) rank() int {
	switch s {
	case PaymentPending:
		return 1
	case PaymentAuthorized:
		return 2
	case PaymentDeclined, PaymentFailed, PaymentVoided:
		return 3
	case PaymentPaid, PaymentDuplicate:
		return 4
	case PaymentRefunded:
		return 5
	default: // processing, unknown
		return 0
	}
}

// NothingCharged reports whether it is certain that no money moved. Only these states may show the
// sentence "nothing was charged".
func (s PaymentStatus) NothingCharged() bool {
	return s == PaymentDeclined || s == PaymentFailed || s == PaymentVoided
}

// Unheard reports whether nothing that the provider said of the payment is known.
func (s PaymentStatus) Unheard() bool { return s == PaymentProcessing || s == PaymentUnknown }

// Payment is one explicit attempt to pay an order.
type Payment struct {
	ID          string
	OrderID     string
	Status      PaymentStatus
	Method      PaymentMethod
	Amount      Money
	Captured    Money // of Amount
	Refunded    Money // of Captured
	Manual      bool  // captured by a call of its own, not at once
	ProviderKey string
	ChargeID    string // the provider's id, once known
	RedirectURL string // the provider's page for the customer, while pending
	Version     int64  // of the provider's charge, as last heard
	Revision    int64  // of our row: a write that was decided on an older one is refused
	CreatedAt   time.Time
}

// ErrWrongCharge: the provider speaks of another amount or currency than was asked. Nothing may be
// marked paid by it.
var ErrWrongCharge = errors.New("the provider's charge is not over the payment's amount")

// Heard gives the payment as it is after the provider's word on its charge. changed is false when the
// payment knew that already, or something newer.
func (p Payment) Heard(c Charge) (next Payment, changed bool, err error) {
	if c.Amount != p.Amount || c.Captured.Amount > p.Amount.Amount || c.Refunded.Amount > c.Captured.Amount {
		return p, false, ErrWrongCharge
	}
	next = p
	next.Status, next.ChargeID, next.Version = p.statusBy(c), c.ID, c.Version
	next.Captured, next.Refunded, next.RedirectURL = c.Captured, c.Refunded, ""
	if next.Status == PaymentPending {
		next.RedirectURL = c.RedirectURL
	}
	if next.Status.rank() < p.Status.rank() || (p.Version > 0 && c.Version < p.Version) {
		return p, false, nil
	}
	return next, next != p, nil
}

// Agrees reports whether the payment says of the money what the provider's charge says.
func (p Payment) Agrees(c Charge) bool {
	return p.Status == p.statusBy(c) && p.ChargeID == c.ID && p.Amount == c.Amount && p.Captured == c.Captured && p.Refunded == c.Refunded
}

// statusBy is the payment's status when the charge is all that counts. Whether the money is wanted is
// not the provider's to know.
func (p Payment) statusBy(c Charge) PaymentStatus {
	status := c.paymentStatus()
	if p.Status == PaymentDuplicate && status == PaymentPaid {
		return PaymentDuplicate
	}
	return status
}

// Modification is one change of a charge that was made: a capture, a void or a refund. Pending ones
// count as if they had succeeded: what they may take cannot be taken again.
type Modification struct {
	ID          string
	PaymentID   string
	Kind        ModificationKind
	Status      ModificationStatus
	Amount      Money
	Reason      string // "requested", "order_cancelled", "duplicate"
	ProviderKey string
	ProviderID  string
	Code        string // why it failed
	CreatedAt   time.Time
	SettledAt   time.Time
}

// ModificationKind of a change of a charge.
type ModificationKind string

const (
	Capture ModificationKind = "capture"
	Void    ModificationKind = "void"
	Refund  ModificationKind = "refund"
)

// ModificationStatus of a change of a charge.
type ModificationStatus string

const (
	ModificationPending   ModificationStatus = "pending"
	ModificationSucceeded ModificationStatus = "succeeded"
	ModificationFailed    ModificationStatus = "failed"
)

// Modify decides how much a new change of the payment is about. amount zero asks for all that is left.
// others are the payment's changes so far; the ones that are pending count as done.
func (p Payment) Modify(kind ModificationKind, amount int64, others []Modification) (Modification, error) {
	var whole, taken int64
	switch {
	case kind == Refund && (p.Status == PaymentPaid || p.Status == PaymentDuplicate):
		whole, taken = p.Captured.Amount, p.Refunded.Amount
	case kind != Refund && (p.Status == PaymentAuthorized || p.Status == PaymentPaid && p.Manual),
		kind == Void && p.Status == PaymentRefunded && p.Manual: // what was captured; the rest is still reserved
		whole, taken = p.Amount.Amount, p.Captured.Amount
	default:
		return Modification{}, Errorf(Refused, "payment_not_"+kind.able(), "The payment is %s: there is nothing to %s.", p.Status, kind)
	}
	// What the provider has told may hold a change that is still pending here, so the two are compared
	// and not added up.
	left := whole - max(taken, asked(kind, others))
	if amount == 0 {
		amount = left
	}
	if left <= 0 || amount > left {
		return Modification{}, Errorf(Refused, string(kind)+"_exceeds_rest", "At most %d can still be %s.", max(left, 0), kind.done())
	}
	return Modification{PaymentID: p.ID, Kind: kind, Status: ModificationPending, Amount: Money{amount, p.Amount.Currency}}, nil
}

// asked sums what was asked of the money that a new change would take from, and did not fail: refunds
// take from what was captured, captures and voids from what was reserved.
func asked(kind ModificationKind, others []Modification) (sum int64) {
	for _, m := range others {
		if m.Status != ModificationFailed && (m.Kind == Refund) == (kind == Refund) {
			sum += m.Amount.Amount
		}
	}
	return sum
}

func (k ModificationKind) able() string {
	return map[ModificationKind]string{Capture: "capturable", Void: "voidable", Refund: "refundable"}[k]
}

func (k ModificationKind) done() string {
	return map[ModificationKind]string{Capture: "captured", Void: "voided", Refund: "refunded"}[k]
}

// PaymentMethod is how the customer pays: "card" with a token that stands for the card, whose number
// never reaches us, or "ideal" by a page of the customer's bank.
type PaymentMethod struct {
	Type  string `json:"type"`
	Token string `json:"token,omitzero"`
}

// validate checks a payment method. Which tokens exist is the provider's to know.
func (m PaymentMethod) validate(prefix string, v *validation) {
	switch {
	case m.Type != "card" && m.Type != "ideal":
		v.add(prefix+"type", "unsupported", `must be "card" or "ideal"`)
	case m.Type == "card" && !isToken(m.Token):
		v.add(prefix+"token", "invalid", "must be a card token such as tok_ok")
	case m.Type == "ideal" && m.Token != "":
		v.add(prefix+"token", "invalid", "belongs to cards only")
	}
}

// isToken refuses digits alone: they would be the card's number, which must not be kept anywhere.
func isToken(s string) bool {
	letters := 0
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters++
		case c >= '0' && c <= '9', c == '_':
		default:
			return false
		}
	}
	return letters > 0 && len(s) <= 100
}

// PaymentDraft asks to pay an order.
type PaymentDraft struct {
	OrderID string
	Method  PaymentMethod
	Capture string // "automatic" when empty, or "manual"
}

// Validate names every field that breaks a rule.
func (d PaymentDraft) Validate() error {
	var v validation
	if !isUUID(d.OrderID) {
		v.add("order_id", "invalid", "must be the id of an order")
	}
	d.Method.validate("method.", &v)
	switch {
	case d.Capture != "" && d.Capture != "automatic" && d.Capture != "manual":
		v.add("capture", "unsupported", `must be "automatic" or "manual"`)
	case d.Capture == "manual" && d.Method.Type == "ideal":
		v.add("capture", "unsupported", "must be automatic: a bank transfer cannot be reserved")
	}
	return v.err()
}

func isUUID(s string) bool { _, ok := parseUUID(s); return ok }
