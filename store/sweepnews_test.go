package store_test

import (
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestOldNewsIsDeletedOnceItIsSettled: what waits for its end or for a person stays, however old it is.
func TestOldNewsIsDeletedOnceItIsSettled(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		endpoint := a.endpoint()
		for _, state := range []domain.DeliveryState{domain.DeliveryPending, domain.DeliveryDelivered, domain.DeliveryDead} {
			a.delivery(endpoint, a.event("told "+string(state), 91*day), state, 91*day)
		}
		a.event("told to nobody", 91*day)
		a.delivery(endpoint, a.event("sent again", 91*day), domain.DeliveryDelivered, day)
		a.delivery(endpoint, a.event("young", 89*day), domain.DeliveryDelivered, 89*day)
		for _, state := range []domain.InboxState{domain.EventReceived, domain.EventParked, domain.EventApplied, domain.EventSuperseded, domain.EventPoison} {
			a.heard(string(state), state, 91*day, 91*day)
		}
		a.heard("young", domain.EventApplied, 89*day, 89*day)
		a.heard("settled late", domain.EventApplied, 91*day, 89*day)
		got := a.pass(0)
		if got.DeliveriesDeleted != 2 || got.EventsDeleted != 3 || got.InboxDeleted != 2 {
			t.Errorf("%+v", got)
		}
		a.left("SELECT type FROM events ORDER BY type", "sent again", "told pending", "young")
		a.left("SELECT e.type FROM deliveries d JOIN events e ON e.id = d.event_id ORDER BY e.type", "sent again", "told pending", "young")
		a.left("SELECT event_id FROM inbox ORDER BY event_id", "parked", "poison", "received", "settled late", "young")
		if again := a.pass(0); again.DeliveriesDeleted+again.EventsDeleted+again.InboxDeleted != 0 {
			t.Errorf("again: %+v", again)
		}
	})
}

// TestOldNewsIsDeletedInBatches, and all of it.
func TestOldNewsIsDeletedInBatches(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		a := newAttic(t, d)
		a.commit(func(tx *store.Tx) {
			for range 4100 {
				tx.InsertEvent(domain.Event{ID: a.keyAt(91 * day), Consumer: 1, Type: "old", About: a.keyAt(0), Data: "{}", OccurredAt: a.db.Now()})
			}
		})
		if got := a.pass(0); got.EventsDeleted != 4100 {
			t.Errorf("%+v", got)
		}
	})
}

func (a *attic) endpoint() string {
	e := domain.WebhookEndpoint{ID: a.keyAt(0), Consumer: 1, Slot: 1, URL: "http://localhost/", Secret: "secret", CreatedAt: a.db.Now()}
	a.commit(func(tx *store.Tx) { tx.InsertWebhookEndpoint(e, a.scope(a.keyAt(0), a.other), nil) })
	return e.ID
}

func (a *attic) event(kind string, age time.Duration) string {
	e := domain.Event{ID: a.keyAt(age), Consumer: 1, Type: kind, About: a.keyAt(0), Data: "{}", OccurredAt: a.db.Now().Add(-age)}
	a.commit(func(tx *store.Tx) { tx.InsertEvent(e) })
	return e.ID
}

func (a *attic) delivery(endpoint, event string, state domain.DeliveryState, age time.Duration) {
	a.commit(func(tx *store.Tx) {
		tx.InsertDelivery(domain.Delivery{ID: a.keyAt(age), EventID: event, EndpointID: endpoint, State: state, CreatedAt: a.db.Now().Add(-age)})
	})
}

func (a *attic) heard(name string, state domain.InboxState, age, settled time.Duration) {
	id := a.keyAt(age)
	a.commit(func(tx *store.Tx) {
		tx.InsertInboxEvent(domain.InboxEvent{ID: id, Provider: "simulated", EventID: name, Body: []byte("{}"), State: domain.EventReceived, ReceivedAt: a.db.Now().Add(-age)})
	})
	a.clock.Move(-settled)
	if state != domain.EventReceived && state != domain.EventParked {
		a.commit(func(tx *store.Tx) { tx.SettleInboxEvent(id, state, "", "") })
	} else if state == domain.EventParked {
		must(a.t, a.db.ParkInboxEvent(a.t.Context(), id, ""))
	}
	a.clock.Move(settled)
}

// left wants these texts, and nothing else.
func (a *attic) left(query string, want ...string) {
	a.t.Helper()
	rows, err := a.db.SQL().QueryContext(a.t.Context(), query)
	must(a.t, err)
	defer func() { _ = rows.Close() }()
	var got []string
	for rows.Next() {
		var s string
		must(a.t, rows.Scan(&s))
		got = append(got, s)
	}
	must(a.t, rows.Err())
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		a.t.Errorf("%s: %q, want %q", query, got, want)
	}
}
