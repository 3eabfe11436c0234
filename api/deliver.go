package api

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store"
)

// sentEvent is the body of what is sent. Events never change, so neither does it.
type sentEvent struct {
	ID         string         `json:"id"`
	Type       string         `json:"type"`
	Sequence   int64          `json:"sequence"`
	OccurredAt time.Time      `json:"occurred_at"`
	Data       jsontext.Value `json:"data"`
}

// deliver sends one event to one endpoint and notes what came of it. A crash between the two sends it
// again, under the same webhook-id.
func (a *API) deliver(ctx context.Context, id string, try int) error {
	d, err := a.db.Delivery(ctx, id)
	if err != nil || d.State != domain.DeliveryPending {
		return err
	}
	endpoint, err := a.db.WebhookEndpoint(ctx, d.EndpointID)
	if err != nil {
		return err
	}
	event, err := a.db.Event(ctx, d.EventID)
	if err != nil {
		return err
	}
	if !endpoint.Open() {
		return a.noteDelivery(ctx, event, d, d.Abandoned())
	}
	status, failure, err := a.send(ctx, endpoint, event)
	if err != nil {
		return err
	}
	if err := fault.Point(ctx, "after_delivery"); err != nil {
		return err
	}
	return a.noteDelivery(ctx, event, d, d.Tried(status, failure, a.db.Now(), a.deliveryPauses(try)))
}

// send posts an event. failure is a short code; empty when an answer came.
func (a *API) send(ctx context.Context, to domain.WebhookEndpoint, event domain.Event) (status int, failure string, err error) {
	body, err := json.Marshal(sentEvent{event.ID, event.Type, event.Sequence, event.OccurredAt, jsontext.Value(event.Data)}, json.Deterministic(true))
	if err != nil {
		return 0, "", err
	}
	signer, err := standardwebhooks.NewWebhook(to.Secret)
	if err != nil {
		return 0, "", err
	}
	now := a.db.Now()
	signature, err := signer.Sign(event.ID, now, body)
	if err != nil {
		return 0, "", err
	}
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set(standardwebhooks.HeaderWebhookID, event.ID)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	status, sendErr := a.outbound.Post(ctx, to.URL, header, body)
	if ctx.Err() != nil {
		return 0, "", ctx.Err() // it is the worker that stops, not the receiver that fails
	}
	if sendErr != nil {
		failure = sendErr.Error()
	}
	return status, failure, nil
}

// noteDelivery writes down what became of a delivery, with what follows from it. An error says that
// there is to be another try.
func (a *API) noteDelivery(ctx context.Context, event domain.Event, before, after domain.Delivery) error {
	tx := a.db.Begin()
	tx.ChangeDelivery(before.State, after)
	outcome := string(after.State)
	switch {
	case after.State == domain.DeliveryPending:
		outcome = "retried"
	case after.LastError == domain.EndpointClosed:
		outcome = after.LastError
	case after.LastError == domain.ReceiverGone:
		outcome = after.LastError
		tx.DisableWebhookEndpoint(after.EndpointID)
	case after.State == domain.DeliveryDead:
		tx.FlagAnew(domain.DeadDelivery, after.ID, fmt.Sprintf("event %s was not taken by webhook endpoint %s in %d tries; the last: %s",
			event.Type, after.EndpointID, after.Tries, after.LastError))
	}
	err := tx.Commit(ctx)
	if errors.Is(err, store.ErrStale) {
		return nil // another run has settled it
	}
	if err != nil {
		return err
	}
	a.metrics.deliveries.WithLabelValues(outcome).Inc()
	if after.State == domain.DeliveryDelivered {
		a.metrics.deliveryLag.Observe(after.DeliveredAt.Sub(event.OccurredAt).Seconds())
	}
	if after.State == domain.DeliveryPending {
		return fmt.Errorf("delivery %s: %s", after.ID, after.LastError)
	}
	return nil
}

const (
	maxDeliveryPause = time.Hour
	maxDeliveryTries = 1000 // the time ends it, not the number
)

// deliveryPauses is the shortest pause after the nth try: three times the one before, up to an hour.
func (a *API) deliveryPauses(try int) time.Duration {
	pause := a.deliveryPause
	for i := 1; i < try && pause < maxDeliveryPause; i++ {
		pause *= 3
	}
	return min(pause, maxDeliveryPause)
}

// pauseBefore is the pause itself, a little longer by chance, so that deliveries that failed together
// do not come back together.
func (a *API) pauseBefore(try int) time.Duration {
	pause := a.deliveryPauses(try)
	return pause + rand.N(pause/4+1)
}
