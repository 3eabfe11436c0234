package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/api/limit"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
)

// maxEvent bounds the body of one event.
const maxEvent = 64 << 10

// receiveEvent is POST /v1/webhooks/{provider}. It checks the signature over the raw bytes and keeps
// the event with the job that applies it, in one transaction. Only then it says 200: before that, the
// provider must send the event again.
//
// The provider's event id is this route's idempotency key. The event is the same however often, by
// whichever secret and to whichever replica it is delivered.
func (a *API) receiveEvent(c *gin.Context) {
	provider := c.Param("provider")
	reader, known := a.events[provider]
	if !known {
		a.fail(c, domain.Errorf(domain.NotFound, "provider_not_found", "There is no such payment provider."))
		return
	}
	outcome, err := a.keepEvent(c, provider, reader)
	a.metrics.events.WithLabelValues(provider, outcome).Inc()
	if err != nil {
		a.fail(c, err)
		return
	}
	live(c, gin.H{"received": true})
}

func (a *API) keepEvent(c *gin.Context, provider string, reader domain.EventReader) (outcome string, err error) {
	body, err := idempotent.ReadBody(c, maxEvent)
	if err != nil {
		return "rejected", err
	}
	event, err := reader.ReadEvent(c.Request.Header, body)
	kept := domain.InboxEvent{ID: newID(), Provider: provider, EventID: event.ID, Type: event.Type, Body: body,
		State: domain.EventReceived, OccurredAt: event.OccurredAt, ReceivedAt: a.db.Now()}
	switch {
	case err != nil && domain.KindOf(err) == domain.Malformed:
		// Signed, so it is from the provider, and sending it again would not make it readable.
		sum := sha256.Sum256(body)
		kept.EventID, kept.State, kept.Note, kept.OccurredAt = "sha256:"+hex.EncodeToString(sum[:]), domain.EventPoison, "unreadable", kept.ReceivedAt
	case err != nil:
		return "rejected", a.forged(c, err)
	default:
		text, err := json.Marshal(event)
		if err != nil {
			return "failed", err
		}
		kept.Event = string(text)
	}
	switch err := a.insertEvent(c.Request.Context(), kept); {
	case errors.Is(err, store.ErrReceived):
		return "duplicate", a.compareEvent(c.Request.Context(), kept)
	case err != nil:
		return "failed", err
	default:
		return string(kept.State), nil
	}
}

// forged charges an address for an event whose signature is wrong, and refuses to say more when it sends
// many. Only then is the limit asked at all: the provider may be behind the same proxy as a forger, and its
// events always pass.
func (a *API) forged(c *gin.Context, wrong error) error {
	return cmp.Or(a.limits.Forgeries.Take(c.Request.Context(), limit.Address(c.ClientIP())), wrong)
}

// insertEvent keeps an event and, unless it is unreadable, the job that applies it.
func (a *API) insertEvent(ctx context.Context, e domain.InboxEvent) error {
	tx := a.db.Begin()
	tx.InsertInboxEvent(e)
	if e.State == domain.EventPoison {
		tx.Flag("event_unreadable", e.ID, "an event of "+e.Provider+" is signed and cannot be read")
	} else {
		a.jobs.Enqueue(tx, jobs.ApplyEvent, e.ID)
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	return fault.Point(ctx, "after_webhook")
}

// compareEvent looks at an event that came again. One that says something else now has no effect, and
// somebody has to ask the provider why.
func (a *API) compareEvent(ctx context.Context, again domain.InboxEvent) error {
	first, err := a.db.InboxEventByName(ctx, again.Provider, again.EventID)
	if err != nil || bytes.Equal(first.Body, again.Body) {
		return err
	}
	tx := a.db.Begin()
	tx.Flag(domain.AlteredEvent, first.ID, "event "+first.EventID+" of "+first.Provider+" came again with another body")
	return tx.Commit(ctx)
}

// Pauses between tries of an event that cannot be applied yet: often our own commit is a second
// behind. After about three days it is given up.
const (
	firstEventPause = 5 * time.Second
	lastEventPause  = time.Hour
	maxEventTries   = 80
)

func eventPause(try int) time.Duration {
	return min(firstEventPause<<min(try-1, 10), lastEventPause)
}

// applyEvent lets one received event have its effect, in the transaction that also notes it as
// applied. An event about nothing known is parked and tried again; others are not held up by it.
func (a *API) applyEvent(ctx context.Context, id string, try int) error {
	kept, err := a.db.InboxEvent(ctx, id)
	if err != nil || (kept.State != domain.EventReceived && kept.State != domain.EventParked) {
		return err
	}
	var event domain.ProviderEvent
	if err := json.Unmarshal([]byte(kept.Event), &event); err != nil {
		return a.settleEvent(ctx, kept, domain.EventPoison, "", "unreadable")
	}
	var next domain.Payment
	outcome := domain.EventApplied
	err = a.commit(ctx, func(tx *store.Tx) error {
		pay, err := a.db.PaymentByProviderKey(ctx, event.Charge.Key)
		if err != nil {
			return err
		}
		if next, err = a.hear(ctx, tx, pay, event.Charge); err != nil {
			return err
		}
		outcome = domain.EventApplied
		if next == pay && event.Charge.Version < pay.Version {
			outcome = domain.EventSuperseded
		}
		tx.SettleInboxEvent(id, outcome, pay.ID, "")
		return nil
	})
	switch {
	case err == nil:
		a.metrics.events.WithLabelValues(kept.Provider, string(outcome)).Inc()
		a.noteHeard(ctx, next, "webhook")
		return nil
	case errors.Is(err, domain.ErrWrongCharge):
		return a.settleEvent(ctx, kept, domain.EventPoison, "", "amount or reference differ from the payment's")
	case try >= maxEventTries:
		return a.settleEvent(ctx, kept, domain.EventPoison, "", parkedNote(err))
	default:
		return errors.Join(err, a.parkEvent(ctx, kept, parkedNote(err)))
	}
}

func (a *API) parkEvent(ctx context.Context, e domain.InboxEvent, note string) error {
	if e.State == domain.EventReceived {
		a.metrics.events.WithLabelValues(e.Provider, string(domain.EventParked)).Inc()
	}
	return a.db.ParkInboxEvent(ctx, e.ID, note)
}

// parkedNote tells the staff why an event waits, without what the error may quote.
func parkedNote(err error) string {
	if domain.KindOf(err) == domain.NotFound {
		return "no payment with this charge is known"
	}
	return "could not be applied"
}

// settleEvent ends an event that has no effect and calls for a person.
func (a *API) settleEvent(ctx context.Context, e domain.InboxEvent, state domain.InboxState, paymentID, note string) error {
	a.metrics.events.WithLabelValues(e.Provider, string(state)).Inc()
	tx := a.db.Begin()
	tx.SettleInboxEvent(e.ID, state, paymentID, note)
	tx.FlagAnew("event_"+string(state), e.ID, "event "+e.EventID+" of "+e.Provider+": "+note)
	err := tx.Commit(ctx)
	return unlessSettled(err, func() (bool, error) {
		now, err := a.db.InboxEvent(ctx, e.ID)
		return now.State == domain.EventPoison, err
	})
}
