package domain

import "time"

// InboxEvent is an event that a provider sent, kept before anything is done with it.
type InboxEvent struct {
	ID         string
	Provider   string
	EventID    string // the provider's own id: one event, however often it is delivered
	Type       string
	Body       []byte // as it came in
	Event      string // as it was understood: a ProviderEvent in JSON; empty when it could not be
	State      InboxState
	Tries      int
	Note       string
	PaymentID  string
	OccurredAt time.Time
	ReceivedAt time.Time
	SettledAt  time.Time
}

// InboxState of a received event. The last three are final.
type InboxState string

const (
	EventReceived   InboxState = "received"   // kept, not looked at yet
	EventParked     InboxState = "parked"     // about something unknown, or failed; tried again later
	EventApplied    InboxState = "applied"    // its effect and this state were one transaction
	EventSuperseded InboxState = "superseded" // something newer was known
	EventPoison     InboxState = "poison"     // cannot be applied; a person has to look
)

// What a Listing of the inbox may ask for beside the states.
const (
	EventUnreadable = "unreadable" // poison that could not even be read
	EventAltered    = "altered"    // came again with another body
)

// Readable reports whether the event could be understood, and so applied.
func (e InboxEvent) Readable() bool { return e.Event != "" }

// Retryable reports whether a person may have the event tried again.
func (e InboxEvent) Retryable() bool {
	return e.Readable() && (e.State == EventParked || e.State == EventPoison)
}
