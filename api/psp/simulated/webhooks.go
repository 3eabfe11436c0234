package simulated

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	webhookTimeout = 5 * time.Second
	longestSleep   = time.Minute // of the sender, when nothing wakes it
)

// sendEvents delivers the outbox, one event after the other, until the server closes. An event is
// delivered at least once: if the process dies between the receiver's 2xx and its own note of it, the
// receiver hears the same event again.
func (s *Server) sendEvents(ctx context.Context) {
	for {
		timer := time.NewTimer(s.sendDue(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// wakeSender tells the sender that the outbox has something new.
func (s *Server) wakeSender() {
	select {
	case s.wake <- struct{}{}:
	default: // it has been told
	}
}

// sendDue sends what is due and gives the time until something is due again.
func (s *Server) sendDue(ctx context.Context) time.Duration {
	s.cancelOverdue(ctx)
	for ctx.Err() == nil && s.webhookURL() != "" {
		next, found, err := s.ledger.nextEvent(ctx)
		if err != nil {
			s.log.Error("read the provider's outbox", "error", err)
			return firstPause
		}
		if !found {
			break
		}
		if wait := next.due.Sub(s.now()); wait > 0 {
			return min(wait, longestSleep)
		}
		if err := s.deliver(ctx, next); err != nil {
			s.log.Error("note a delivery in the provider's outbox", "event", next.id, "error", err)
			return firstPause
		}
	}
	return longestSleep
}

// sendNow delivers one event at once, before its time.
func (s *Server) sendNow(ctx context.Context, id string) {
	o, found, err := s.ledger.event(ctx, id)
	if err == nil && found && s.webhookURL() != "" {
		err = s.deliver(ctx, o)
	}
	if err != nil {
		s.log.Error("send a webhook at once", "event", id, "error", err)
	}
}

// deliver makes one try and notes how it went.
func (s *Server) deliver(ctx context.Context, o outgoing) error {
	switch err := s.postWebhook(ctx, o); {
	case err == nil:
		return s.ledger.delivered(context.WithoutCancel(ctx), o)
	case ctx.Err() != nil:
		return nil // closing: it is still due
	default:
		s.log.Warn("webhook not delivered", "event", o.id, "failures", o.failures+1, "error", err)
		return s.ledger.failed(ctx, o)
	}
}

func (s *Server) postWebhook(ctx context.Context, o outgoing) error {
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.webhookURL(), bytes.NewReader(o.body))
	if err != nil {
		return err
	}
	if err := sign(req.Header, s.signer, o.id, s.now(), o.body); err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.http.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer func() { _ = res.Body.Close() }() // what the receiver writes does not matter
	_, _ = io.CopyN(io.Discard, res.Body, maxAnswer)
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("the receiver answered %d", res.StatusCode)
	}
	return nil
}

func sign(h http.Header, signer *standardwebhooks.Webhook, id string, at time.Time, body []byte) error {
	if signer == nil {
		return errors.New("there is no secret to sign with")
	}
	signature, err := signer.Sign(id, at, body)
	if err != nil {
		return err
	}
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return nil
}
