package domain

import (
	"net/http"
	"time"
)

// DeliveryState of one event on its way to one endpoint.
type DeliveryState string

const (
	DeliveryPending   DeliveryState = "pending"   // to be tried, or tried again
	DeliveryDelivered DeliveryState = "delivered" // the receiver said 2xx
	DeliveryDead      DeliveryState = "dead"      // given up; only asking for a redelivery tries again
)

// Codes in Delivery.LastError, beside those of the outbound client.
const (
	EndpointClosed    = "endpoint_closed"    // it was deleted or disabled before the event was delivered
	ReceiverGone      = "receiver_gone"      // the receiver said 410: nothing more is to be sent to it
	ReceiverRedirects = "receiver_redirects" // it said 3xx; redirects are not followed
	ReceiverRefuses   = "receiver_refuses"   // it said anything else but 2xx
)

// Delivery is one event on its way to one endpoint. It arrives at least once: a receiver tells repeats
// by the event's id.
type Delivery struct {
	ID          string
	EventID     string
	EventType   string
	EndpointID  string
	State       DeliveryState
	Tries       int       // since it was made
	RetryUntil  time.Time // a try that fails after this is the last
	NextTryAt   time.Time // not before; zero when no try is to come
	LastStatus  int       // the receiver's; 0 when there was no answer
	LastError   string    // a short code; never what the receiver said
	CreatedAt   time.Time
	DeliveredAt time.Time
}

// Tried gives the delivery as it is after a try: the receiver's status, or 0 and a code for why none
// came. The next try would be after pause.
func (d Delivery) Tried(status int, failure string, now time.Time, pause time.Duration) Delivery {
	d.Tries++
	d.LastStatus, d.LastError, d.NextTryAt = status, failure, now.Add(pause)
	switch {
	case failure != "":
	case status >= 200 && status <= 299:
		d.State, d.DeliveredAt, d.NextTryAt = DeliveryDelivered, now, time.Time{}
		return d
	case status == http.StatusGone:
		return d.dead(ReceiverGone)
	case status >= 300 && status <= 399:
		d.LastError = ReceiverRedirects
	default:
		d.LastError = ReceiverRefuses
	}
	if d.NextTryAt.After(d.RetryUntil) {
		return d.dead(d.LastError)
	}
	return d
}

// Abandoned gives the delivery as it is when its endpoint is not there any more.
func (d Delivery) Abandoned() Delivery { return d.dead(EndpointClosed) }

func (d Delivery) dead(why string) Delivery {
	d.State, d.LastError, d.NextTryAt = DeliveryDead, why, time.Time{}
	return d
}

// Again gives a delivery that ended as one that is tried anew until the given time.
func (d Delivery) Again(now, until time.Time) (Delivery, error) {
	if d.State == DeliveryPending {
		return d, Errorf(Refused, "delivery_pending", "This delivery is still being tried; the list of deliveries tells when next.")
	}
	d.State, d.RetryUntil, d.NextTryAt, d.DeliveredAt = DeliveryPending, until, now, time.Time{}
	return d, nil
}
