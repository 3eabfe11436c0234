package store_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestATableMayGrowWhileTheShopReadsIt: a new release adds a column while the old one still runs, on
// connections that have read the table before. The old one must not notice.
func TestATableMayGrowWhileTheShopReadsIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		d.Pool = 1 // the same connection before and after
		db := storetest.Seeded(t, d, nil)
		before := readEverything(t, db)
		for name := range before {
			if strings.Contains(before[name], "cached plan") {
				t.Fatalf("%s: %s", name, before[name])
			}
		}
		for _, table := range []string{"products", "orders", "order_lines", "payments", "modifications", "mails", "messages", "events", "inbox",
			"drafts", "attention", "mismatches", "webhook_endpoints", "deliveries", "endpoints", "consumers", "idempotency_keys", "reconciliations"} {
			_, err := db.SQL().ExecContext(t.Context(), "ALTER TABLE "+table+" ADD COLUMN grown integer")
			must(t, err)
		}
		for name, after := range readEverything(t, db) {
			if after != before[name] {
				t.Errorf("reading %s gave %q, and when the table had grown %q", name, before[name], after)
			}
		}
	})
}

// readEverything tells what the reads of rows say of their errors: most find nothing, which is an answer.
func readEverything(t *testing.T, db *store.DB) map[string]string {
	t.Helper()
	ctx, id, said := t.Context(), uuid.Nil.String(), map[string]string{}
	say := func(name string, err error) {
		said[name] = "read"
		if err != nil {
			said[name] = err.Error()
		}
	}
	_, err := db.Products(ctx)
	say("products", err)
	_, err = db.Order(ctx, id)
	say("an order", err)
	_, err = db.Payment(ctx, id)
	say("a payment", err)
	_, err = db.PaymentsOf(ctx, id)
	say("payments", err)
	_, err = db.Modification(ctx, id)
	say("a modification", err)
	_, err = db.ModificationsOf(ctx, id)
	say("modifications", err)
	_, err = db.Mail(ctx, id)
	say("a mail", err)
	_, err = db.Mails(ctx, 10)
	say("mails", err)
	_, _, err = db.MessageOf(ctx, -1)
	say("a message", err)
	_, err = db.Event(ctx, id)
	say("an event", err)
	_, err = db.ListInbox(ctx, domain.Listing{Limit: 10})
	say("the inbox", err)
	_, err = db.Draft(ctx, id)
	say("a draft", err)
	_, err = db.Attention(ctx)
	say("attention", err)
	_, err = db.ListMismatches(ctx, domain.Listing{Limit: 10})
	say("mismatches", err)
	_, err = db.WebhookEndpoint(ctx, id)
	say("a webhook endpoint", err)
	_, err = db.WebhookEndpoints(ctx, 1)
	say("webhook endpoints", err)
	_, err = db.DeliveriesOf(ctx, id)
	say("deliveries", err)
	_, err = db.Endpoints(ctx, nil)
	say("endpoints", err)
	_, err = db.ConsumerBySecret(ctx, "demo-alpha")
	say("a consumer", err)
	_, err = db.PaymentsByProviderKeys(ctx, []string{"key"})
	say("payments by their charges", err)
	_, err = db.PaymentsClaimingMoney(ctx, db.Now(), db.Now(), "", 10)
	say("payments that claim money", err)
	_, err = db.Reconciliations(ctx)
	say("reconciliations", err)
	_, _, err = db.Claim(ctx, scope(t))
	say("a claim", err)
	return said
}
