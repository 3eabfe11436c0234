package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
)

// emit queues telling a consumer what happens with this transaction. data is what it is about, as it is
// after it. The shop's own visitors are told by pages and mails; they, and what is no event type, are
// left out.
func (a *API) emit(tx *store.Tx, consumer int64, eventType, about string, data any) {
	if consumer <= 0 || !slices.Contains(domain.EventTypes, eventType) {
		return
	}
	text, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		tx.Fail(fmt.Errorf("event %s: %w", eventType, err))
		return
	}
	event := domain.Event{ID: newID(), Consumer: consumer, Type: eventType, About: about, Data: string(text), OccurredAt: tx.Now()}
	tx.InsertEvent(event)
	a.jobs.Enqueue(tx, jobs.PublishEvent, event.ID)
}

// publish makes a delivery of an event for every endpoint of its consumer that wants it, with the job
// that sends it. A second run, or one at the same time, finds the deliveries made.
func (a *API) publish(ctx context.Context, id string, _ int) error {
	event, err := a.db.Event(ctx, id)
	if err != nil {
		return err
	}
	made, err := a.db.DeliveriesOf(ctx, id)
	if err != nil {
		return err
	}
	endpoints, err := a.db.WebhookEndpoints(ctx, event.Consumer)
	if err != nil {
		return err
	}
	endpoints = slices.DeleteFunc(endpoints, func(e domain.WebhookEndpoint) bool {
		return !e.Wants(event.Type) || slices.ContainsFunc(made, func(d domain.Delivery) bool { return d.EndpointID == e.ID })
	})
	if len(endpoints) == 0 {
		return nil
	}
	tx := a.db.Begin()
	for _, e := range endpoints {
		d := domain.Delivery{ID: newID(), EventID: event.ID, EndpointID: e.ID, State: domain.DeliveryPending,
			RetryUntil: event.OccurredAt.Add(a.retryWindow), NextTryAt: tx.Now(), CreatedAt: tx.Now()}
		tx.InsertDelivery(d)
		a.jobs.Enqueue(tx, jobs.Deliver, d.ID)
	}
	return tx.Commit(ctx)
}
