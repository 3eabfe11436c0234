package simulated_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/domain"
)

const otherSecret = "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="

const goodEvent = `{"id":"evt_1","type":"charge.succeeded","created_at":"2026-03-01T12:00:00Z","charge":{"id":"ch_1","reference":"EM-1",` +
	`"idempotency_key":"key-1","amount":4195,"currency":"EUR","status":"succeeded","captured":4195,"refunded":0,"version":2,"created_at":"2026-03-01T11:59:00Z"}}`

// signed makes the headers of a webhook.
func signed(t *testing.T, secret, id string, at time.Time, body string) http.Header {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := signer.Sign(id, at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", signature)
	return h
}

func TestASignedEventIsRead(t *testing.T) {
	t.Parallel()
	now := newClock()
	got, err := reader(t, now.read, secret).ReadEvent(signed(t, secret, "evt_1", now.read(), goodEvent), []byte(goodEvent))
	want := domain.ProviderEvent{ID: "evt_1", Type: "charge.succeeded", OccurredAt: now.read(), Charge: domain.Charge{
		ID: "ch_1", Reference: "EM-1", Key: "key-1", Amount: domain.EUR(4195), Captured: domain.EUR(4195), Refunded: domain.EUR(0),
		Status: domain.ChargeSucceeded, Version: 2, CreatedAt: now.read().Add(-time.Minute),
	}}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// S25: only our signature over these very bytes is believed.
func TestAForgedEventIsRefused(t *testing.T) {
	t.Parallel()
	now := newClock()
	good := signed(t, secret, "evt_1", now.read(), goodEvent)
	with := func(name, value string) http.Header {
		h := good.Clone()
		h.Set(name, value)
		return h
	}
	without := func(name string) http.Header {
		h := good.Clone()
		h.Del(name)
		return h
	}
	signature := good.Get("webhook-signature")
	reencoded, err := json.MarshalIndent(json.RawMessage(goodEvent), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		header http.Header
		body   string
	}{
		"wrong":             {with("webhook-signature", "v1,"+strings.Repeat("A", 43)+"="), goodEvent},
		"missing":           {without("webhook-signature"), goodEvent},
		"empty":             {with("webhook-signature", ""), goodEvent},
		"truncated":         {with("webhook-signature", signature[:len(signature)-4]), goodEvent},
		"nothing after v1":  {with("webhook-signature", "v1,"), goodEvent},
		"another version":   {with("webhook-signature", "v2"+signature[2:]), goodEvent},
		"other secret":      {signed(t, otherSecret, "evt_1", now.read(), goodEvent), goodEvent},
		"empty secret":      {signed(t, "whsec_", "evt_1", now.read(), goodEvent), goodEvent},
		"re-encoded body":   {good, string(reencoded)},
		"changed body":      {good, strings.Replace(goodEvent, "4195", "4196", 1)},
		"longer body":       {good, goodEvent + " "},
		"no body":           {good, ""},
		"another id":        {with("webhook-id", "evt_2"), goodEvent},
		"no id":             {without("webhook-id"), goodEvent},
		"another time":      {with("webhook-timestamp", strconv.FormatInt(now.read().Unix()+1, 10)), goodEvent},
		"no time":           {without("webhook-timestamp"), goodEvent},
		"a time of letters": {with("webhook-timestamp", "now"), goodEvent},
		"no headers":        {http.Header{}, goodEvent},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := reader(t, now.read, secret).ReadEvent(c.header, []byte(c.body))
			refused(t, got, err, domain.Unauthenticated, "webhook_signature_invalid")
		})
	}
}

// S26: a signature is good for five minutes, before and after.
func TestAnEventOfAnotherTimeIsRefused(t *testing.T) {
	t.Parallel()
	now := newClock()
	for at, fine := range map[time.Duration]bool{
		-6 * time.Minute: false, -5*time.Minute - time.Second: false, -5 * time.Minute: true, 0: true,
		5 * time.Minute: true, 5*time.Minute + time.Second: false, 6 * time.Minute: false,
		-280 * 365 * 24 * time.Hour: false, 280 * 365 * 24 * time.Hour: false,
	} {
		got, err := reader(t, now.read, secret).ReadEvent(signed(t, secret, "evt_1", now.read().Add(at), goodEvent), []byte(goodEvent))
		if fine && err != nil {
			t.Errorf("%s: got %v, want the event", at, err)
		}
		if !fine {
			refused(t, got, err, domain.Unauthenticated, "webhook_signature_invalid")
		}
	}
}

// S25: during a rotation both secrets are good, on either side.
func TestSecretsCanBeRotated(t *testing.T) {
	t.Parallel()
	now := newClock()
	both := reader(t, now.read, secret, otherSecret)
	old, fresh := signed(t, secret, "evt_1", now.read(), goodEvent), signed(t, otherSecret, "evt_1", now.read(), goodEvent)
	twice := old.Clone()
	twice.Set("webhook-signature", "v1,AAAA "+old.Get("webhook-signature")+" "+fresh.Get("webhook-signature"))
	for name, h := range map[string]http.Header{"old": old, "new": fresh, "both": twice} {
		if _, err := both.ReadEvent(h, []byte(goodEvent)); err != nil {
			t.Errorf("%s: got %v, want the event", name, err)
		}
	}
	if got, err := reader(t, now.read, otherSecret).ReadEvent(old, []byte(goodEvent)); err == nil {
		t.Errorf("got %+v by the old secret after the rotation", got)
	}
	if _, err := reader(t, now.read, otherSecret).ReadEvent(twice, []byte(goodEvent)); err != nil {
		t.Errorf("signed by both: got %v, want the event", err)
	}
}

// S25 and F17: without a real secret there is no reader.
func TestAReaderNeedsSecrets(t *testing.T) {
	t.Parallel()
	for name, secrets := range map[string][]string{
		"none": {}, "nil": nil, "empty": {""}, "prefix only": {"whsec_"}, "one of two empty": {secret, ""},
		"23 bytes": {"whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="}, "not base64": {"whsec_secret secret secret secret!"},
	} {
		if r, err := simulated.NewEventReader(secrets, time.Now); err == nil || r != nil {
			t.Errorf("%s: got a reader, want an error", name)
		} else if len(secrets) > 0 && len(secrets[0]) > 10 && strings.Contains(err.Error(), secrets[0]) {
			t.Errorf("%s: got %v, which tells the secret", name, err)
		}
	}
	if _, err := simulated.NewEventReader([]string{"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"}, time.Now); err != nil {
		t.Errorf("24 bytes: got %v, want a reader", err)
	}
}

func TestASignedBodyMustBeAnEvent(t *testing.T) {
	t.Parallel()
	now := newClock()
	for name, body := range map[string]string{
		"empty object":     `{}`,
		"not JSON":         `<xml>`,
		"another id":       strings.Replace(goodEvent, "evt_1", "evt_2", 1),
		"no type":          strings.Replace(goodEvent, "charge.succeeded", "", 1),
		"no time":          strings.Replace(goodEvent, `"created_at":"2026-03-01T12:00:00Z",`, "", 1),
		"no charge":        `{"id":"evt_1","type":"x","created_at":"2026-03-01T12:00:00Z"}`,
		"unknown status":   strings.Replace(goodEvent, `"status":"succeeded"`, `"status":"strange"`, 1),
		"captured nothing": strings.Replace(goodEvent, `"captured":4195`, `"captured":0`, 1),
		"captured more":    strings.Replace(goodEvent, `"captured":4195`, `"captured":4196`, 1),
		"refunded more":    strings.Replace(goodEvent, `"refunded":0`, `"refunded":4196`, 1),
		"a fraction":       strings.Replace(goodEvent, `"amount":4195`, `"amount":41.95`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			if body == goodEvent {
				t.Fatal("the case changes nothing")
			}
			got, err := reader(t, now.read, secret).ReadEvent(signed(t, secret, "evt_1", now.read(), body), []byte(body))
			refused(t, got, err, domain.Malformed, "webhook_malformed")
		})
	}
}

func refused(t *testing.T, got domain.ProviderEvent, err error, kind domain.Kind, code string) {
	t.Helper()
	refusal, ok := errors.AsType[*domain.Error](err)
	if !ok || refusal.Kind != kind || refusal.Code != code || got != (domain.ProviderEvent{}) {
		t.Errorf("got %+v, %v, want %s %s", got, err, kind, code)
	}
}
