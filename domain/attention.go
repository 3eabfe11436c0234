package domain

import (
	"maps"
	"slices"
	"time"
)

// Attention is something that the program could not settle and a person has to look at. There is one
// of a kind about one thing.
type Attention struct {
	ID        string
	Kind      string // "delivery_dead"; attentionActions lists them
	About     string // the id of what it is about
	Note      string // for the person; no personal data and no secrets
	CreatedAt time.Time
	SettledAt time.Time // zero while it is open
	SettledBy string
}

// States of a flag, as Listing.State names them.
const (
	FlagOpen    = "open"
	FlagSettled = "settled"
)

// Open reports whether nobody has settled the flag yet.
func (a Attention) Open() bool { return a.SettledAt.IsZero() }

// Kinds of attention that the program raises and settles itself in more than one place.
const (
	// NeedsAttention: a key whose run has been gone on with MaxLooks times in vain.
	NeedsAttention = "needs_attention"
	// PaymentInDoubt: a payment that may have been charged and cannot be found out any more.
	PaymentInDoubt = "payment_unknown"
	// MailDead: a mail that no server accepted.
	MailDead = "mail_dead"
	// DeadDelivery: an event that a webhook endpoint did not take in time.
	DeadDelivery = "delivery_dead"
	// PoisonEvent: an event of the provider's that cannot be applied.
	PoisonEvent = "event_poison"
	// AlteredEvent: an event that came again and says something else.
	AlteredEvent = "event_altered"
)

// attentionActions tell which action settles a flag of each kind.
var attentionActions = map[string]string{
	NeedsAttention: "Find out from the log why the run fails, and repair it. It is tried again every hour, and the flag goes when it ends.",
	PaymentInDoubt: "Look the order number up at the provider. When nothing was charged, settle the payment as not charged. " +
		"When something was, let the provider send its event again: the flag goes with it.",
	"payment_wrong_charge":     "Ask the provider why its charge differs from what was asked. Nothing was marked paid by it.",
	"payment_pending":          "Ask the provider what it still waits for, and the customer whether he paid.",
	"reconcile_unknown_charge": "Find out whose charge it is. When it is nobody's, give the money back at the provider.",
	"reconcile_missing_charge": "Ask the provider for the charge. The payment claims money that its books do not show.",
	"reconcile_amount":         "Ask the provider why its charge differs from what was asked, and correct the difference there.",
	"reconcile_state":          "Compare the payment with the provider's charge, and correct the one that is wrong.",
	DeadDelivery:               "Ask the owner of the webhook endpoint whether it works again; the delivery can then be asked for anew.",
	"capture_failed":           "Ask the provider why, and the merchant whether to capture less or to void.",
	"void_failed":              "Ask the provider why. The reservation ends by itself when its time is over.",
	"refund_failed":            "Give the money back in another way, and tell the customer.",
	"paid_in_vain":             "Check that the refund arrives; there is nothing else to do.",
	"event_unreadable":         "Compare the event with the provider's documentation, and let it be sent again when it can be read.",
	AlteredEvent:               "Ask the provider which of the two bodies is true. The first one had its effect.",
	PoisonEvent:                "Compare the event with the provider's books, and correct by hand what it tells.",
	MailDead:                   "See whether the address exists and the mail server works; the mail can then be sent again.",
}

// Action tells the person what settles the flag. It is empty for a kind that is not known.
func (a Attention) Action() string { return attentionActions[a.Kind] }

// AttentionKinds lists the kinds of flags that the program raises.
func AttentionKinds() []string { return slices.Sorted(maps.Keys(attentionActions)) }
