package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestADoubleClickIsSeenOnTheOrdersPage: the customer's own page says how often the order was sent and what
// that made, and its timeline shows the press that changed nothing.
func TestADoubleClickIsSeenOnTheOrdersPage(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor().withoutScripts()
		b.toReview("tok_ok")
		w.bankAwaits(2, 800*time.Millisecond)
		b.doubleClick("pay")
		b.shows("order-paid")
		w.wants(once)
		w.sawPresses(2)
		b.shows("sent-panel")
		sent := strconv.Itoa(w.front.count("/pay"))
		for id, want := range map[string]string{"sent-times": sent, "sent-orders": "1", "sent-charges": "1", "sent-mails": "1"} {
			if got := b.text(id); got != want {
				t.Errorf("%s: %s, want %s", id, got, want)
			}
		}
		b.click("to-timeline")
		b.shows("timeline")
		kinds := strings.Fields(b.js("[...document.querySelectorAll('[data-kind]')].map((e) => e.dataset.kind).join(' ')"))
		seen := map[string]int{}
		for _, kind := range kinds {
			seen[kind]++
		}
		// The second press is told at both keys: of the order, whose answer is there, and of the payment.
		if seen["finished"] != 2 || seen["calling"] != 1 || seen["called"] != 1 || seen["replayed"] < 1 || seen["mismatch"] > 0 {
			t.Errorf("the timeline tells %v", kinds)
		}
	})
}

// TestATimelineIsDrawnAnewWhileThePaymentRuns, by the script, until it has ended.
func TestATimelineIsDrawnAnewWhileThePaymentRuns(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		w.slowBank(3 * time.Second)
		b.click("pay")
		eventually(t, patience, func() string { return "an order" }, func() bool { return w.number("SELECT count(*) FROM orders") == 1 })
		var number, token string
		if err := w.sql.QueryRowContext(t.Context(), "SELECT number, token FROM orders").Scan(&number, &token); err != nil {
			t.Fatal(err)
		}
		watcher := b.another()
		watcher.open("/orders/" + number + "/timeline?t=" + token)
		watcher.shows("timeline-live")
		watcher.shows("event-calling")
		watcher.until("document.querySelector('[data-testid=timeline-live]') === null")
		watcher.shows("event-called")
		b.shows("order-paid")
		w.wants(once)
	})
}
