package api_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"example.com/eenmaal/api"
	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
	"example.com/eenmaal/store/throwaway"
)

// meter counts what a piece of work costs on Postgres, which must have nothing else to do.
type meter struct {
	*shop
	wire *wire
}

func newMeter(t *testing.T, options ...shopOption) meter {
	server := storetest.OwnPostgres(t, throwaway.Options{Settings: map[string]string{"autovacuum": "off"}})
	w, url := newPostgresWire(t, server.URL)
	m := meter{newShop(t, storetest.Database{Name: "Postgres", URL: url}, options...), w}
	m.db.SQL().SetMaxIdleConns(1) // one connection prepares each statement once
	m.db.SQL().SetMaxOpenConns(1)
	return m
}

// cost gives the transactions that wrote and the round trips of a piece of work.
func (m meter) cost(work func()) (transactions, trips int) {
	m.t.Helper()
	const next = "SELECT pg_current_xact_id()::text::bigint" // takes one number itself
	before := m.count(next)
	tripsBefore := m.wire.trips.Load()
	work()
	trips = int(m.wire.trips.Load() - tripsBefore)
	return m.count(next) - before - 1, trips
}

var alpha = domain.Consumer{ID: 1, Name: "alpha"}

func (m meter) do(t *testing.T, key domain.Key, retry bool) idempotent.Reply {
	t.Helper()
	ctx := idempotent.WithHints(context.Background(), idempotent.Hints{Retry: retry})
	in := api.PlaceOrder{Email: "sanne@example.nl", Name: "Sanne", Address: domain.Address{Line1: "Damrak 1", PostalCode: "1012 AB", City: "Amsterdam", Country: "NL"},
		Items: []domain.Item{{SKU: "mug", Quantity: 1}, {SKU: "vase", Quantity: 1}}}
	reply, err := m.PlaceOrder.Do(ctx, alpha, key, in)
	must(t, err)
	return reply
}

func parsed(t *testing.T, key string) domain.Key {
	t.Helper()
	k, err := domain.ParseKey(key)
	must(t, err)
	return k
}

func TestAnOrderIsOneCommitInOneRoundTrip(t *testing.T) {
	t.Parallel()
	m := newMeter(t)
	m.do(t, parsed(t, newKey()), false) // prepares the statements and remembers the prices
	for _, key := range []string{newKey(), uuid.NewString()} {
		if transactions, trips := m.cost(func() { m.do(t, parsed(t, key), false) }); transactions != 1 || trips != 1 {
			t.Errorf("an order cost %d transactions and %d round trips, want 1 and 1", transactions, trips)
		}
	}
}

func TestAPaymentIsTwoCommits(t *testing.T) {
	t.Parallel()
	m := newMeter(t)
	for _, token := range []string{"tok_ok", "tok_declined", "tok_ok"} {
		id, _ := m.newOrder()
		in := api.PayOrder{OrderID: id, Method: domain.PaymentMethod{Type: "card", Token: token}}
		transactions, trips := m.cost(func() {
			_, err := m.PayOrder.Do(context.Background(), alpha, parsed(t, newKey()), in)
			must(t, err)
		})
		if transactions != 2 {
			t.Errorf("a payment with %s cost %d transactions, want 2", token, transactions)
		}
		t.Logf("a payment with %s cost %d round trips", token, trips)
	}
}

func TestAReplayFromMemoryOrRedisDoesNotTouchTheDatabase(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]idempotent.Config{
		"memory": {},
		"Redis":  {CacheBytes: -1, Answers: newAnswers(t, storetest.RedisURL(t), nil)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMeter(t, withRegistry(cfg))
			key := newKey()
			first := m.do(t, parsed(t, key), false)
			if cfg.Answers != nil {
				s := source{shop: m.shop, name: "database", copy: newAnswers(t, storetest.RedisURL(t), nil)}
				s.only(call{key: key}, "POST /v1/orders")
			}
			_, trips := m.cost(func() {
				again := m.do(t, parsed(t, key), true)
				if !again.Replayed || string(again.Answer.Body) != string(first.Answer.Body) {
					t.Errorf("not a replay: %s", again.Answer.Body)
				}
			})
			if trips != 0 {
				t.Errorf("a replay cost %d round trips to the database", trips)
			}
		})
	}
}

func TestAReplayFromTheDatabaseWritesNothing(t *testing.T) {
	t.Parallel()
	m := newMeter(t, withRegistry(noMemory))
	key := parsed(t, newKey())
	m.do(t, key, false)
	m.do(t, key, true)
	if transactions, trips := m.cost(func() { m.do(t, key, true) }); transactions != 0 || trips != 1 {
		t.Errorf("a replay cost %d transactions and %d round trips, want 0 and 1", transactions, trips)
	}
}
