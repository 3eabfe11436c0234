package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// fillOrders makes n orders, of which every thousandth is cancelled.
func fillOrders(t *testing.T, db *store.DB, n int) {
	t.Helper()
	id, rows, now := `printf('01900000-0000-7000-8000-%012x', n)`, `WITH RECURSIVE s(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM s WHERE n < %d)`, "'2026-01-01 00:00:00+00:00'"
	if db.Postgres() {
		id, rows, now = `('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`, `WITH s AS (SELECT generate_series(%d, %d) AS n)`, "now()"
	}
	exec := func(statement string) {
		t.Helper()
		_, err := db.SQL().ExecContext(t.Context(), statement)
		must(t, err)
	}
	const batch = 10_000 // a statement may not take long
	for from := 1; from <= n; from += batch {
		exec(fmt.Sprintf(rows, from, min(n, from+batch-1)) + ` INSERT INTO orders (id, number, token, status, email, name, line1, postal_code, city, country,
			language, shipping, total, currency, consumer_id, key, created_at)
			SELECT ` + id + `, 'EM-' || n, 't', CASE WHEN n % 1000 = 0 THEN 'cancelled' ELSE 'paid' END, 'Klant' || n % 1000 || '@example.nl', 'K', 'D', '1012 AB', 'A', 'NL',
			'nl', 495, 2345, 'EUR', 1, ` + id + `, ` + now + ` FROM s`)
		exec(`INSERT INTO payments (id, order_id, status, method, amount, currency, charge_id, consumer_id, key, created_at)
			SELECT id, id, 'paid', 'card', 2345, 'EUR', 'ch_' || number, 1, key, created_at FROM orders
			WHERE id >= '` + idOf(from) + `'`)
	}
	exec("ANALYZE")
}

// TestAPageOfOrdersIsSoughtAndNotCounted: however many there are, a page is read from the index that its
// filter or search has, in the order that it is shown in.
func TestAPageOfOrdersIsSoughtAndNotCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		fillOrders(t, db, 40_000)
		const middle = "01900000-0000-7000-8000-000000004e20"
		for _, tt := range []struct {
			search string
			status domain.OrderStatus
			cursor domain.Cursor
			index  string
		}{
			{"", "", domain.Cursor{}, "orders_pkey"},
			{"", "", domain.Cursor{Before: middle}, "orders_pkey"},
			{"", "", domain.Cursor{After: middle}, "orders_pkey"},
			{"", "cancelled", domain.Cursor{Before: middle}, "orders_by_status"},
			{"klant7@example.nl", "", domain.Cursor{}, "orders_by_email"},
			{"klant7@EXAMPLE.nl", "paid", domain.Cursor{Before: middle}, "orders_by_email"},
			{"em-77", "", domain.Cursor{}, "orders_number_key"},
			{"ch_EM-77", "", domain.Cursor{}, "payments_by_charge"},
		} {
			plans := store.Explained(t.Context(), db, func(db *store.DB) {
				_, err := db.Orders(t.Context(), tt.search, tt.status, tt.cursor)
				must(t, err)
			})
			index := tt.index
			if !db.Postgres() { // it names the indexes of constraints itself
				index = map[string]string{"orders_pkey": "sqlite_autoindex_orders_1", "orders_number_key": "sqlite_autoindex_orders_2"}[index]
				if index == "" {
					index = tt.index
				}
			}
			if len(plans) != 1 || !strings.Contains(plans[0], index) {
				t.Fatalf("%+v: %d plans, and none uses %s:\n%s", tt, len(plans), index, strings.Join(plans, "\n"))
			}
			sorts := strings.Contains(plans[0], "Sort") || strings.Contains(plans[0], "TEMP B-TREE")
			if whole := strings.Contains(plans[0], "Seq Scan") || strings.Contains(plans[0], "SCAN orders\n"); whole || sorts && tt.search == "" {
				t.Errorf("%+v: reads or sorts everything:\n%s", tt, plans[0])
			}
		}
	})
}

// TestPagesOfOrdersMeetWithoutGapOrOverlap walks to the end and back.
func TestPagesOfOrdersMeetWithoutGapOrOverlap(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		if part, err := db.Orders(t.Context(), "", "", domain.Cursor{}); err != nil || len(part.Items) != 0 || part.Older != "" || part.Newer != "" {
			t.Fatalf("without orders: %+v %v", part, err)
		}
		const all = 2*store.OrdersPerPage + 10
		fillOrders(t, db, all)
		var walked []string
		var sizes []int
		cursor := domain.Cursor{}
		for range 4 {
			part, err := db.Orders(t.Context(), "", "", cursor)
			must(t, err)
			if (part.Newer == "") != (len(walked) == 0) {
				t.Errorf("after %d orders, newer is %q", len(walked), part.Newer)
			}
			for _, o := range part.Items {
				walked = append(walked, o.Number)
			}
			sizes = append(sizes, len(part.Items))
			if cursor = (domain.Cursor{Before: part.Older}); part.Older == "" {
				break
			}
		}
		if fmt.Sprint(sizes) != "[50 50 10]" || walked[0] != "EM-110" || walked[all-1] != "EM-1" || walked[50] != "EM-60" {
			t.Errorf("pages of %v, walked %v", sizes, walked)
		}
		last, err := db.Orders(t.Context(), "", "", domain.Cursor{Before: idOf(11)})
		must(t, err)
		back, err := db.Orders(t.Context(), "", "", domain.Cursor{After: last.Newer})
		must(t, err)
		if back.Items[49].Number != "EM-11" || back.Items[0].Number != "EM-60" || back.Older != idOf(11) || back.Newer != idOf(60) {
			t.Errorf("back from the end: %s to %s, %q, %q", back.Items[0].Number, back.Items[49].Number, back.Older, back.Newer)
		}
		first, err := db.Orders(t.Context(), "", "", domain.Cursor{After: back.Newer})
		must(t, err)
		if first.Items[0].Number != "EM-110" || first.Newer != "" || first.Older != idOf(61) {
			t.Errorf("back at the beginning: %s, %q, %q", first.Items[0].Number, first.Newer, first.Older)
		}
		for _, odd := range []string{"x", "' OR 1=1 --", "{" + idOf(1)[1:35] + "}", strings.Repeat("9", 36)} { // S38
			if _, err := db.Orders(t.Context(), "", "", domain.Cursor{Before: odd}); domain.KindOf(err) != domain.Malformed {
				t.Errorf("the cursor %q gives %v", odd, err)
			}
			if part, err := db.Orders(t.Context(), odd, "", domain.Cursor{}); err != nil || len(part.Items) != 0 {
				t.Errorf("the search for %q gives %d orders, %v", odd, len(part.Items), err)
			}
		}
	})
}

func idOf(n int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012x", n) }

// TestTheDeskFindsWhatAnOrderWasMadeWith reads the keys of an order and of what belongs to it.
func TestTheDeskFindsWhatAnOrderWasMadeWith(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		fillOrders(t, db, 2)
		keys, err := db.KeysOf(t.Context(), idOf(1))
		must(t, err)
		if len(keys) != 2 || keys[0].What != "order" || keys[1].What != "payment" || keys[0].Endpoint != "POST /v1/orders" ||
			keys[0].Key.String() != idOf(1) || keys[0].ID != idOf(1) || keys[0].Consumer != 1 || keys[0].At.IsZero() {
			t.Errorf("got %+v", keys)
		}
		pay, err := db.Payment(t.Context(), idOf(1))
		must(t, err)
		tx, scope := db.Begin(), scope(t)
		tx.InsertModification(domain.Modification{ID: uuid.NewString(), PaymentID: pay.ID, Kind: domain.Refund, Status: domain.ModificationPending,
			Amount: domain.EUR(5), ProviderKey: "p", CreatedAt: db.Now().Add(time.Hour)}, pay, &scope)
		tx.InsertModification(domain.Modification{ID: uuid.NewString(), PaymentID: pay.ID, Kind: domain.Refund, Status: domain.ModificationPending,
			Amount: domain.EUR(5), ProviderKey: "q", CreatedAt: db.Now()}, domain.Payment{ID: pay.ID, Revision: pay.Revision + 1}, nil) // the shop's own has no key
		tx.Flag("refund_failed", pay.ID, "note")
		tx.InsertEvent(domain.Event{ID: uuid.NewString(), Type: "order.paid", About: idOf(1), Data: "{}", OccurredAt: db.Now()})
		must(t, tx.Commit(t.Context()))
		keys, err = db.KeysOf(t.Context(), idOf(1))
		must(t, err)
		if len(keys) != 3 || keys[2].What != "refund" || keys[2].Key != scope.Key || keys[2].Endpoint != "POST /v1/payments/:id/refunds" {
			t.Errorf("got %+v", keys)
		}
		about := []string{idOf(1), pay.ID}
		events, err := db.EventsAbout(t.Context(), about)
		must(t, err)
		flags, err := db.AttentionAbout(t.Context(), about)
		must(t, err)
		if len(events) != 1 || len(flags) != 1 || events[0].Type != "order.paid" || flags[0].Kind != "refund_failed" {
			t.Errorf("events %+v, flags %+v", events, flags)
		}
		if mails, err := db.MailsOf(t.Context(), about); err != nil || len(mails) != 0 {
			t.Errorf("mails %v %v", mails, err)
		}
	})
}
