package domain

import (
	"testing"
	"time"
)

func TestWhatBecomesOfADelivery(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		status  int
		failure string
		left    time.Duration // of the time for trying
		state   DeliveryState
		code    string
	}{
		{"taken", 200, "", time.Hour, DeliveryDelivered, ""},
		{"taken, without content", 204, "", time.Hour, DeliveryDelivered, ""},
		{"taken at the last moment", 299, "", -time.Hour, DeliveryDelivered, ""},
		{"no answer", 0, "timeout", time.Hour, DeliveryPending, "timeout"},
		{"no answer until the end", 0, "timeout", time.Minute - 1, DeliveryDead, "timeout"},
		{"one try more just fits", 0, "timeout", time.Minute, DeliveryPending, "timeout"},
		{"redirected", 302, "", time.Hour, DeliveryPending, ReceiverRedirects},
		{"not modified", 304, "", time.Hour, DeliveryPending, ReceiverRedirects},
		{"refused", 400, "", time.Hour, DeliveryPending, ReceiverRefuses},
		{"broken", 503, "", -time.Hour, DeliveryDead, ReceiverRefuses},
		{"gone", 410, "", time.Hour, DeliveryDead, ReceiverGone},
		{"not yet", 103, "", time.Hour, DeliveryPending, ReceiverRefuses},
	} {
		before := Delivery{State: DeliveryPending, Tries: 2, RetryUntil: now.Add(c.left)}
		d := before.Tried(c.status, c.failure, now, time.Minute)
		if d.State != c.state || d.LastError != c.code || d.LastStatus != c.status || d.Tries != 3 {
			t.Errorf("%s: %+v", c.name, d)
		}
		if next := d.NextTryAt; (d.State == DeliveryPending) != next.Equal(now.Add(time.Minute)) {
			t.Errorf("%s: next try at %s", c.name, next)
		}
		if (d.State == DeliveryDelivered) != d.DeliveredAt.Equal(now) {
			t.Errorf("%s: delivered at %s", c.name, d.DeliveredAt)
		}
		again, err := d.Again(now, now.Add(time.Hour))
		if pending := d.State == DeliveryPending; pending != (err != nil) || !pending && (again.State != DeliveryPending || !again.DeliveredAt.IsZero() || !again.RetryUntil.Equal(now.Add(time.Hour))) {
			t.Errorf("%s again: %+v %v", c.name, again, err)
		}
	}
}
