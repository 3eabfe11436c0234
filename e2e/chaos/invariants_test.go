package chaos

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// rules are the invariants that the shop's own tables can break: each query gives the rows that break one.
var rules = []struct{ invariant, what, query string }{
	{"I1", "two orders for one key",
		`SELECT consumer_id || ' ' || key FROM orders GROUP BY consumer_id, key HAVING count(*) > 1`},
	{"I1", "two payments for one key",
		`SELECT consumer_id || ' ' || key FROM payments GROUP BY consumer_id, key HAVING count(*) > 1`},
	{"I1", "two changes of a payment for one key",
		`SELECT consumer_id || ' ' || kind || ' ' || key FROM modifications WHERE key IS NOT NULL GROUP BY consumer_id, kind, key HAVING count(*) > 1`},
	{"I2", "a paid order without exactly one payment that paid it",
		`SELECT o.number FROM orders o LEFT JOIN payments p ON p.order_id = o.id AND p.status IN ('paid', 'refunded') AND p.captured = o.total
			WHERE o.status = 'paid' GROUP BY o.number HAVING count(p.id) <> 1`},
	{"I2", "a payment that paid for an order which is not paid",
		`SELECT p.id::text FROM payments p JOIN orders o ON o.id = p.order_id WHERE p.status = 'paid' AND o.status <> 'paid'`},
	{"I7", "a payment that is neither done nor given up",
		`SELECT id || ' ' || status FROM payments WHERE status IN ('processing', 'unknown')`},
	{"I8", "stock that does not add up",
		fmt.Sprintf(`SELECT p.sku || ' ' || p.stock FROM products p WHERE p.stock < 0 OR p.stock + (SELECT coalesce(sum(l.quantity), 0)
			FROM order_lines l JOIN orders o ON o.id = l.order_id WHERE l.sku = p.sku AND o.status <> 'cancelled')
			<> CASE p.sku WHEN 'lamp' THEN %d ELSE %d END`, lamps, plenty)},
	{"I9", "a paid order without exactly one mail that was sent",
		`SELECT o.number FROM orders o LEFT JOIN mails m ON m.about = o.id AND m.kind = 'order_paid' AND m.sent_at IS NOT NULL
			WHERE o.status = 'paid' GROUP BY o.number HAVING count(m.id) <> 1`},
	{"I9", "a mail about an order that is not paid",
		`SELECT o.number FROM mails m JOIN orders o ON o.id = m.about AND m.kind = 'order_paid' WHERE o.status <> 'paid'`},
	{"I10", "a paid order without exactly one event",
		`SELECT o.number FROM orders o LEFT JOIN events e ON e.about = o.id AND e.type = 'order.paid'
			WHERE o.status = 'paid' GROUP BY o.number HAVING count(e.id) <> 1`},
	{"I10", "a payment without an event of its state",
		`SELECT p.id || ' ' || p.status FROM payments p LEFT JOIN events e ON e.about = p.id
				AND e.type = 'payment.' || CASE p.status WHEN 'refunded' THEN 'paid' ELSE p.status END
			WHERE p.status IN ('authorized', 'paid', 'refunded', 'declined', 'voided', 'duplicate') GROUP BY p.id, p.status HAVING count(e.id) <> 1`},
	{"I10", "an event that was not delivered",
		`SELECT e.id || ' ' || e.type FROM events e LEFT JOIN deliveries d ON d.event_id = e.id AND d.state = 'delivered'
			GROUP BY e.id, e.type HAVING count(d.id) <> 1`},
	{"I10", "a job that was given up, other than one that is made again anyway",
		`SELECT kind || ' ' || args || ' ' || coalesce(errors::text, '') FROM river_job WHERE state IN ('cancelled', 'discarded') AND kind <> 'reconcile'`},
	{"I11", "an event that is twice in the inbox",
		`SELECT event_id FROM inbox GROUP BY event_id HAVING count(*) > 1`},
	{"I13", "a payment that was paid and then something less",
		`SELECT a.about || ' ' || a.type || ' then ' || b.type FROM events a JOIN events b ON b.about = a.about AND b.sequence > a.sequence
			WHERE a.type IN ('payment.paid', 'payment.voided', 'payment.declined', 'payment.failed') AND b.type LIKE 'payment.%'`},
	{"I13", "something that happened twice",
		`SELECT about || ' ' || type FROM events GROUP BY about, type HAVING count(*) > 1`},
}

// check compares what everybody was told with what there is.
func (w *world) check(t *testing.T, dir string) {
	t.Helper()
	for _, rule := range rules {
		broken, err := w.texts(rule.query)
		if err != nil {
			t.Fatalf("%s, %s: %v", rule.invariant, rule.what, err)
		}
		for _, row := range broken[:min(5, len(broken))] {
			w.violation(rule.invariant, "%s: %s (%d in all)", rule.what, row, len(broken))
		}
	}
	for name, check := range map[string]func() error{
		"owners": w.checkOwners, "ledger": w.checkLedger, "stored answers": w.checkStored, "answers": w.checkTold, "mails": w.checkMails, "events": w.checkEvents,
	} {
		if err := check(); err != nil {
			t.Fatalf("check %s: %v", name, err)
		}
	}
	for _, story := range judgeHistory(w.history.attempts(), dir) {
		w.violation("I4, I5, I14", "the history has no explanation: %s", story)
	}
}

// checkLedger compares the provider's books with the shop's, charge by charge (I2, I7).
func (w *world) checkLedger() error {
	charges, err := w.ledger()
	if err != nil {
		return err
	}
	payments, err := w.pairs(`SELECT provider_key || chr(31) || status || ' ' || amount || ' ' || captured || ' ' || refunded FROM payments`)
	if err != nil {
		return err
	}
	charged, kept := map[string]bool{}, map[string]int{}
	for _, c := range charges {
		if charged[c.Key] {
			w.violation("I2", "the provider has two charges for the key %s of order %s", c.Key, c.Reference)
		}
		charged[c.Key] = true
		if c.Captured > c.Refunded {
			kept[c.Reference]++
		}
		if c.Status == "declined" && c.Captured != 0 {
			w.violation("I2", "charge %s was declined and took %d", c.ID, c.Captured)
		}
		if ours, theirs := payments[c.Key], fmt.Sprintf("%s %d %d %d", asPayment(c), c.Amount, c.Captured, c.Refunded); ours != theirs {
			w.violation("I7", "order %s: the provider has %q, the shop %q", c.Reference, theirs, ours)
		}
	}
	for number, n := range kept {
		if n > 1 {
			w.violation("I2", "order %s was charged %d times", number, n)
		}
	}
	for _, key := range sorted(payments) {
		if !charged[key] && !strings.HasPrefix(payments[key], "failed ") {
			w.violation("I7", "the shop has the payment %q, of which the provider knows nothing", payments[key])
		}
	}
	return nil
}

// asPayment is what the shop calls the state of a charge.
func asPayment(c charge) string {
	switch {
	case c.Status == "succeeded" && c.Captured > 0 && c.Refunded == c.Captured:
		return "refunded"
	case c.Status == "succeeded":
		return "paid"
	case c.Status == "canceled":
		return "failed"
	default:
		return c.Status
	}
}

// parameter is one in the path of an endpoint, as the shop's tables write it.
var parameter = regexp.MustCompile(`/:(\w+)`)

// checkStored compares what was answered with what is kept (I4).
func (w *world) checkStored() error {
	rows, err := w.pairs(`SELECT c.name || ' ' || e.pattern || ' ' || coalesce(k.key_text, k.key::text)
		|| chr(31) || k.status || ' ' || convert_from(k.body, 'UTF8')
		FROM idempotency_keys k JOIN endpoints e ON e.id = k.endpoint_id JOIN consumers c ON c.id = k.consumer_id WHERE k.state = 3`)
	if err != nil {
		return err
	}
	stored := map[string]string{}
	for scope, answer := range rows {
		stored[parameter.ReplaceAllString(scope, "/{$1}")] = answer
	}
	for _, a := range w.history.finals() {
		if want := fmt.Sprintf("%d %s", a.Status, a.body); stored[a.scope()] != want {
			w.violation("I4", "%s was answered with %s, and kept is %s", a.scope(), want, stored[a.scope()])
		}
	}
	return nil
}

// checkTold looks for everything that clients were told of, in the state they were told or a later one
// (I3), under their own consumer (I6) and with the payload that owns the key (I5).
func (w *world) checkTold() error {
	orders, err := w.pairs(`SELECT o.id || chr(31) || c.name || ' ' || o.status || ' ' || coalesce((SELECT string_agg(l.quantity || ' ' || l.sku, ',')
		FROM order_lines l WHERE l.order_id = o.id), '') FROM orders o JOIN consumers c ON c.id = o.consumer_id`)
	if err != nil {
		return err
	}
	payments, err := w.pairs(`SELECT p.id || chr(31) || c.name || ' ' || p.status FROM payments p JOIN consumers c ON c.id = p.consumer_id`)
	if err != nil {
		return err
	}
	changes, err := w.pairs(`SELECT m.id || chr(31) || c.name || ' ' || m.kind || ' ' || m.status FROM modifications m JOIN consumers c ON c.id = m.consumer_id`)
	if err != nil {
		return err
	}
	for _, a := range w.history.finals() {
		var told struct {
			ID      string
			OrderID string `json:"order_id"`
			Status  any    // a text, or in a problem a number
		}
		if err := json.Unmarshal(a.body, &told); err != nil {
			w.violation("I3", "%s was answered with %d %s", a.scope(), a.Status, a.body)
			continue
		}
		ok := true
		switch {
		case a.Status >= 400 && a.Endpoint != "POST /v1/payments":
			// A refusal leaves nothing behind: the counts of the other checks would show it.
		case a.Endpoint == "POST /v1/orders":
			ok = strings.HasPrefix(orders[told.ID], a.Consumer+" ") && strings.HasSuffix(orders[told.ID], " "+a.Print)
		case strings.HasSuffix(a.Endpoint, "/cancellations"):
			ok = strings.HasPrefix(orders[told.OrderID], a.Consumer+" cancelled ")
		case a.Endpoint == "POST /v1/payments" && told.ID != "":
			owner, status, _ := strings.Cut(payments[told.ID], " ")
			said := fmt.Sprint(told.Status)
			ok = owner == a.Consumer && rank[status] >= rank[said] && (!refused[said] || refused[status])
		case strings.HasSuffix(a.Endpoint, "s") && told.ID != "" && strings.Contains(a.Endpoint, "/payments/"):
			ok = strings.HasPrefix(changes[told.ID], a.Consumer+" ") && strings.HasSuffix(changes[told.ID], " succeeded")
		}
		if !ok {
			w.violation("I3", "%s (payload %q) was answered with %d %s, and there is order %q, payment %q, change %q",
				a.scope(), a.Print, a.Status, a.body, orders[told.ID], payments[told.ID], changes[told.ID])
		}
	}
	return nil
}

// refused are the states of a payment that say for good that nothing was charged.
var refused = map[string]bool{"declined": true, "failed": true, "voided": true}

// rank orders the states of a payment: it never goes back.
var rank = map[string]int{"pending": 1, "authorized": 2, "declined": 3, "failed": 3, "voided": 3, "paid": 3, "duplicate": 4, "refunded": 4}

// checkMails compares the mails that came with those that the shop says it sent (I9).
func (w *world) checkMails() error {
	came, _ := w.mails.all(func(id, one, other string) { w.violation("I9", "copies of mail %s differ:\n%s\n%s", id, one, other) })
	sent, err := w.pairs(`SELECT message_id || chr(31) || subject FROM mails`)
	if err != nil {
		return err
	}
	w.compare("I9", "mail", sent, came)
	return nil
}

// checkEvents compares the events that came with those that happened (I10).
func (w *world) checkEvents() error {
	came, _ := w.events.all(func(id, one, other string) { w.violation("I10", "copies of event %s differ:\n%s\n%s", id, one, other) })
	happened, err := w.pairs(`SELECT id || chr(31) || type FROM events`)
	if err != nil {
		return err
	}
	w.compare("I10", "event", happened, came)
	return nil
}

func (w *world) compare(invariant, what string, ours, came map[string]string) {
	for _, id := range sorted(ours) {
		if _, ok := came[id]; !ok {
			w.violation(invariant, "%s %s (%s) never came", what, id, ours[id])
		}
	}
	for _, id := range sorted(came) {
		if _, ok := ours[id]; !ok {
			w.violation(invariant, "%s %s came, and the shop knows nothing of it: %s", what, id, came[id])
		}
	}
}
