package simulated

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"example.com/eenmaal/domain"
)

const (
	minSecret        = 24 // bytes
	webhookTolerance = 5 * time.Minute
)

// eventReader is the shop's side of the webhooks.
type eventReader struct {
	secrets []*standardwebhooks.Webhook
	now     func() time.Time
}

// NewEventReader makes a reader of the provider's webhooks. During a rotation there are several
// secrets; a signature by any of them is good. No secret, or one that is empty, unreadable or
// shorter than 24 bytes, is an error.
func NewEventReader(secrets []string, now func() time.Time) (domain.EventReader, error) {
	if len(secrets) == 0 {
		return nil, errors.New("simulated provider: there is no webhook secret")
	}
	r := &eventReader{now: now}
	for i, secret := range secrets {
		s, err := newSigner(secret)
		if err != nil {
			return nil, fmt.Errorf("simulated provider: webhook secret %d: %w", i+1, err)
		}
		r.secrets = append(r.secrets, s)
	}
	return r, nil
}

// newSigner reads a secret such as whsec_MfKQ9r8G... Its errors never tell the secret.
func newSigner(secret string) (*standardwebhooks.Webhook, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	switch {
	case err != nil:
		return nil, errors.New("it is not whsec_ and base64")
	case len(raw) < minSecret:
		return nil, fmt.Errorf("it has %d bytes and must have at least %d", len(raw), minSecret)
	}
	return standardwebhooks.NewWebhookRaw(raw)
}

// ReadEvent implements domain.EventReader.
func (r *eventReader) ReadEvent(header http.Header, body []byte) (domain.ProviderEvent, error) {
	if err := r.verify(header, body); err != nil {
		return domain.ProviderEvent{}, domain.Errorf(domain.Unauthenticated, "webhook_signature_invalid", "The webhook is not to be believed: %w", err)
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		return domain.ProviderEvent{}, malformed("it is not the JSON of an event")
	}
	if e.ID == "" || e.ID != header.Get(standardwebhooks.HeaderWebhookID) || e.Type == "" || e.CreatedAt.IsZero() {
		return domain.ProviderEvent{}, malformed("its id, type or time is missing or wrong")
	}
	c, err := e.Charge.read()
	if err != nil {
		return domain.ProviderEvent{}, malformed(err.Error())
	}
	return domain.ProviderEvent{ID: e.ID, Type: e.Type, OccurredAt: e.CreatedAt, Charge: c}, nil
}

func malformed(why string) error {
	return domain.Errorf(domain.Malformed, "webhook_malformed", "The webhook cannot be read: %s.", why)
}

// verify checks the signature over the raw bytes and then its time. The library's own check of the
// time uses a clock that cannot be given to it.
func (r *eventReader) verify(header http.Header, body []byte) error {
	if !r.signed(header, body) {
		return errors.New("no signature of ours")
	}
	seconds, err := strconv.ParseInt(header.Get(standardwebhooks.HeaderWebhookTimestamp), 10, 64)
	if err != nil {
		return errors.New("no time")
	}
	now, at := r.now(), time.Unix(seconds, 0)
	if at.Before(now.Add(-webhookTolerance)) || at.After(now.Add(webhookTolerance)) {
		return errors.New("signed more than 5 minutes from now")
	}
	return nil
}

func (r *eventReader) signed(header http.Header, body []byte) bool {
	for _, secret := range r.secrets {
		if secret.VerifyIgnoringTimestamp(body, header) == nil {
			return true
		}
	}
	return false
}
