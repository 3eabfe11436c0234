package main

import (
	"log/slog"
	"strings"
	"testing"

	"example.com/eenmaal/store/storetest"
)

// placedTwice sends one order twice and gives its page's address.
func placedTwice(t *testing.T, a *app) (page string) {
	t.Helper()
	order := `{"email":"sanne@example.nl","name":"Sanne de Vries","address":{"line1":"Prinsengracht 1","postal_code":"1012 AB","city":"Amsterdam","country":"NL"},"items":[{"sku":"mug","quantity":2}]}`
	key := newKey()
	for range 2 {
		w := send(a.handler(), "POST", "/v1/orders", order, "Authorization", "Bearer demo-alpha", "Content-Type", "application/json", "Idempotency-Key", key)
		if w.Code != 201 {
			t.Fatalf("order: %d %s", w.Code, w.Body)
		}
	}
	row := readAll(t, a, "SELECT number, token FROM orders")[0]
	return "/orders/" + row[0] + "?t=" + row[1]
}

// TestAStopLosesNoLineOfTheJournal: what was noted is there for the next process, and was counted.
func TestAStopLosesNoLineOfTheJournal(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		environment := map[string]string{"DATABASE_URL": d.URL, "DATA_DIR": dirOf(t, d)}
		a := startApp(t, slog.New(slog.DiscardHandler), environment)
		page := placedTwice(t, a)
		a.close()
		if a.journal.Written() != 2 {
			t.Errorf("%d lines are written", a.journal.Written())
		}
		next := startApp(t, slog.New(slog.DiscardHandler), environment)
		shown := send(next.handler(), "GET", page, "").Body.String()
		if !strings.Contains(shown, `data-testid="sent-times">2<`) {
			t.Errorf("the order's page does not say that it was sent twice: %s", shown)
		}
		if metrics := send(next.handler(), "GET", "/metrics", "").Body.String(); !strings.Contains(metrics, `key_journal_lines_total{what="dropped"} 0`) {
			t.Error("dropped lines are not counted")
		}
	})
}

func TestAJournalCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	a := startApp(t, slog.New(slog.DiscardHandler), map[string]string{"DATA_DIR": t.TempDir(), "KEY_JOURNAL": "false"})
	page := placedTwice(t, a)
	if shown := send(a.handler(), "GET", page, ""); shown.Code != 200 || strings.Contains(shown.Body.String(), "sent-panel") {
		t.Errorf("%d, or a panel", shown.Code)
	}
	timeline := strings.Replace(page, "?", "/timeline?", 1)
	if got := send(a.handler(), "GET", timeline, ""); got.Code != 404 {
		t.Errorf("a timeline: %d", got.Code)
	}
	if rows := readAll(t, a, "SELECT kind FROM key_events"); len(rows) != 0 {
		t.Errorf("%d lines are kept", len(rows))
	}
}
