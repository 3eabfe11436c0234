package domain

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// EventTypes are all that a consumer can be told of.
var EventTypes = []string{
	"order.paid", "order.cancelled",
	"payment.authorized", "payment.paid", "payment.declined", "payment.failed", "payment.voided", "payment.duplicate",
	"refund.succeeded", "refund.failed",
}

// Event is something that happened to one of a consumer's orders or payments. It is written with what
// happened and never changes.
type Event struct {
	ID         string
	Sequence   int64 // given by the database; larger than that of every earlier event about the same thing
	Consumer   int64
	Type       string
	About      string // the id of the order, payment or refund
	Data       string // it, as JSON, as it was at that moment
	OccurredAt time.Time
}

// MaxWebhookEndpoints is how many endpoints a consumer can have.
const MaxWebhookEndpoints = 10

// WebhookEndpoint is where a consumer wants its events to be sent.
type WebhookEndpoint struct {
	ID         string
	Consumer   int64
	Slot       int // 1 to MaxWebhookEndpoints, its own while it is not deleted
	URL        string
	Secret     string   // signs what is sent ("whsec_...")
	Events     []string // the types that are wanted; all when empty
	CreatedAt  time.Time
	DisabledAt time.Time // when the receiver said that it is gone for good
	DeletedAt  time.Time

	ConsumerName string // only in lists for the staff
}

// Validate names every field that breaks a rule. address is what the outbound client has against the
// URL.
func (e WebhookEndpoint) Validate(address error) error {
	var v validation
	if address != nil {
		v.add("url", "invalid", address.Error())
	}
	if len(e.Events) > len(EventTypes) {
		v.add("events", "too_long", fmt.Sprintf("must have at most %d types", len(EventTypes)))
		return v.err()
	}
	for i, t := range e.Events {
		field := fmt.Sprintf("events[%d]", i)
		if !slices.Contains(EventTypes, t) {
			v.add(field, "unsupported", "must be one of "+strings.Join(EventTypes, ", "))
		} else if slices.Contains(e.Events[:i], t) {
			v.add(field, "duplicate", "appears twice")
		}
	}
	return v.err()
}

// Wants reports whether events of a type are to be sent to the endpoint.
func (e WebhookEndpoint) Wants(eventType string) bool {
	return e.Open() && (len(e.Events) == 0 || slices.Contains(e.Events, eventType))
}

// Open reports whether anything may be sent to the endpoint.
func (e WebhookEndpoint) Open() bool { return e.DisabledAt.IsZero() && e.DeletedAt.IsZero() }

// FreeSlot gives a slot that none of a consumer's endpoints has.
func FreeSlot(taken []WebhookEndpoint) (int, error) {
	for slot := 1; slot <= MaxWebhookEndpoints; slot++ {
		if !slices.ContainsFunc(taken, func(e WebhookEndpoint) bool { return e.Slot == slot }) {
			return slot, nil
		}
	}
	return 0, Errorf(Refused, "too_many_webhook_endpoints", "You have %d webhook endpoints, which is the most. Delete one first.", MaxWebhookEndpoints)
}
