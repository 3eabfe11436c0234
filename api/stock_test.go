package api_test

import (
	"testing"

	"example.com/eenmaal/store/storetest"
)

func TestSoldOutIsAFinalAnswerThatTakesNothing(t *testing.T) {
	t.Parallel()
	eachSource(t, func(t *testing.T, s source) {
		before := s.effects()
		order := call{path: "/v1/orders", key: newKey(),
			body: change(`[{"sku":"mug","quantity":2}]`, `[{"sku":"lamp","quantity":4},{"sku":"vase","quantity":1},{"sku":"bowl","quantity":1}]`)}
		first := s.do(order)
		if p := refusal(t, "four of three lamps", first, 422, "sold_out"); !p.SafeNewKey {
			t.Error("safe_new_key is false")
		}
		if after := s.effects(); after != before {
			t.Errorf("effects: %v, then %v", before, after)
		}
		s.only(order, "POST /v1/orders")
		s.exec("UPDATE products SET stock = 100 WHERE sku = 'lamp'")
		wantReplay(t, "again, with lamps enough", first, s.again(order))
		other := order
		other.body = change(`[{"sku":"mug","quantity":2}]`, `[{"sku":"lamp","quantity":1}]`)
		refusal(t, "less under the same key", s.again(other), 409, "idempotency_key_reused")
		order.key = newKey()
		wantStatus(t, "with a new key", s.do(order), 201)
	})
}

// TestTheLastUnitIsSoldOnce covers S13: fifty buyers, two processes, one lamp.
func TestTheLastUnitIsSoldOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		processes := []*shop{s, newShop(t, d)}
		s.exec("UPDATE products SET stock = 1 WHERE sku = 'lamp'")
		body := change(`[{"sku":"mug","quantity":2}]`, `[{"sku":"mug","quantity":1},{"sku":"lamp","quantity":1}]`)
		calls := make([]call, 50)
		for i := range calls {
			calls[i] = call{path: "/v1/orders", key: newKey(), body: body}
		}
		sold := 0
		answers := together(t, len(calls), func(i int) (answer, error) { return processes[i%2].try(t.Context(), calls[i]) })
		for i, got := range answers {
			if got.Status == 201 {
				sold++
			} else {
				refusal(t, "too late", got, 422, "sold_out")
			}
			wantReplay(t, "each buyer again", got, processes[(i+1)%2].do(calls[i]))
		}
		if sold != 1 || s.stock("lamp") != 0 || s.stock("mug") != 999 || s.count("SELECT count(*) FROM orders") != 1 {
			t.Errorf("sold %d; lamps left %d, mugs left %d, orders %d", sold, s.stock("lamp"), s.stock("mug"), s.count("SELECT count(*) FROM orders"))
		}
	})
}

// TestOrdersForTheSameArticlesDoNotBlockEachOther lets orders name their articles in both orders.
func TestOrdersForTheSameArticlesDoNotBlockEachOther(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		bodies := []string{
			change(`[{"sku":"mug","quantity":2}]`, `[{"sku":"mug","quantity":1},{"sku":"vase","quantity":1},{"sku":"bowl","quantity":1}]`),
			change(`[{"sku":"mug","quantity":2}]`, `[{"sku":"bowl","quantity":1},{"sku":"vase","quantity":1},{"sku":"mug","quantity":1}]`),
		}
		for i, got := range together(t, 40, func(i int) (answer, error) {
			return s.try(t.Context(), call{path: "/v1/orders", key: newKey(), body: bodies[i%2]})
		}) {
			if got.Status != 201 {
				t.Errorf("order %d: %d %s", i, got.Status, got.Body)
			}
		}
		if got := s.stock("vase"); got != 960 {
			t.Errorf("vases left: %d, want 960", got)
		}
	})
}

// TestAPriceThatChangedBeforeTheCommitIsTheNewPrice: the remembered price list may be old, an order
// never is.
func TestAPriceThatChangedBeforeTheCommitIsTheNewPrice(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		wantStatus(t, "order at the old price", s.order(newKey(), mugOrder), 201)
		s.exec("UPDATE products SET price = 2000 WHERE sku = 'mug'")
		if remembered, err := s.db.Prices(t.Context()); err != nil || remembered["mug"].Price.Amount != 1850 {
			t.Fatalf("the old price is not remembered: %v, %v", remembered["mug"], err)
		}
		wantStatus(t, "order at the new price", s.order(newKey(), mugOrder), 201)
		if got := s.count("SELECT total FROM orders ORDER BY created_at DESC LIMIT 1"); got != 2*2000+495 {
			t.Errorf("total %d, want %d", got, 2*2000+495)
		}
		if got := s.count("SELECT sum(unit_price * quantity) FROM order_lines"); got != 2*1850+2*2000 {
			t.Errorf("lines %d, want %d", got, 2*1850+2*2000)
		}
		if got := s.count("SELECT count(*) FROM orders"); got != 2 {
			t.Errorf("orders: got %d, want 2", got)
		}
	})
}
