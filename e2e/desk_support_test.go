package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// flagged raises a flag as the program would, and gives its id.
func (w *world) flagged(kind, about, note string) (id string) {
	w.t.Helper()
	id = newKey()
	w.exec(fmt.Sprintf("INSERT INTO attention (id, kind, about, note, created_at) VALUES ('%s', '%s', '%s', '%s', '2026-11-30 13:05:00+00:00')", id, kind, about, note))
	return id
}

func (w *world) exec(statement string) {
	w.t.Helper()
	if _, err := w.sql.ExecContext(w.t.Context(), statement); err != nil {
		w.t.Fatal(err)
	}
}

// twice presses a button two times while the answer is held, so that the server sees both.
func (b *tab) twice(w *world, path, id string) {
	b.t.Helper()
	w.front.on(path, -1, holdAnswer(700*time.Millisecond))
	b.doubleClick(id)
}

// TestAFlagIsSettledByADoubleClick: two real presses without scripts are one settling, under the name of
// who pressed; it can still be looked up.
func TestAFlagIsSettledByADoubleClick(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldOfItsOwn(t, db)
		id := w.flagged("paid_in_vain", newKey(), "order EM-0000-0000 was paid already")
		b := w.visitor().withoutScripts().atTheDesk()
		b.open("/admin/attention")
		b.clickOn(`document.querySelector('[data-testid="flag-row"] a')`)
		b.shows("flag-action")
		b.twice(w, "/admin/attention/"+id+"/settle", "settle")
		b.shows("settled-by")
		if by := b.text("settled-by"); by != "staff" {
			t.Errorf("settled by %q", by)
		}
		if presses := w.front.count("/admin/attention/" + id + "/settle"); presses < 2 {
			t.Errorf("the server saw %d presses", presses)
		}
		w.front.running.Wait()
		if n := w.number("SELECT count(*) FROM staff_actions WHERE action = 'settle' AND about = '" + id + "'"); n != 1 {
			t.Errorf("%d actions are noted", n)
		}
		b.open("/admin/attention")
		b.shows("list-empty")
		b.click("filter-settled")
		b.shows("flag-row")
	})
}

// TestARedeliveryByADoubleClickIsOneDeliveryMore: the receiver gets the event once more, not twice.
func TestARedeliveryByADoubleClickIsOneDeliveryMore(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldOfItsOwn(t, db)
		var came atomic.Int32
		hook := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			came.Add(1)
			out.WriteHeader(http.StatusNoContent)
		}))
		t.Cleanup(hook.Close)
		c := client{t, "http://" + w.shop.addr}
		c.postUntilFinal("/v1/webhook-endpoints", newKey(), `{"url":"`+hook.URL+`","events":["order.paid"]}`)
		order, number := c.orderFor("sanne@example.nl", newKey())
		c.postUntilFinal("/v1/payments", newKey(), payment(order, "tok_ok"))
		delivered := func(n int) {
			t.Helper()
			eventually(t, patience, func() string { return fmt.Sprintf("%d deliveries; there were %d", n, came.Load()) }, func() bool {
				return int(came.Load()) == n && w.number("SELECT count(*) FROM deliveries WHERE state = 'delivered'") == 1
			})
		}
		delivered(1)
		b := w.visitor().withoutScripts().atTheDesk()
		b.open("/admin/deliveries?q=" + number)
		b.clickOn(`document.querySelector('[data-testid="delivery-row"] a')`)
		b.click("redeliver")
		b.shows("action-form")
		form := b.path()
		b.twice(w, form, "do")
		b.shows("tries")
		if presses := w.front.count(form); presses < 2 {
			t.Errorf("the server saw %d presses", presses)
		}
		delivered(2)
		w.front.running.Wait()
		eventually(t, patience, func() string { return "no job is left" }, func() bool {
			return w.number("SELECT count(*) FROM river_job WHERE kind = 'deliver_event' AND state <> 'completed'") == 0
		})
		if n := w.number("SELECT count(*) FROM river_job WHERE kind = 'deliver_event'"); n != 2 || came.Load() != 2 {
			t.Errorf("%d jobs, and the event came %d times", n, came.Load())
		}
	})
}

// TestWhatCustomersWriteIsTextAtTheDesk covers S21 and S49: it is read, answered once, and downloaded,
// and runs nowhere.
func TestWhatCustomersWriteIsTextAtTheDesk(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	const evil = `=HYPERLINK("http://evil.example","<script>alert(1)</script>")`
	w := newWorldOfItsOwn(t, database{dir: t.TempDir()})
	customer := w.visitor()
	customer.open("/contact")
	customer.writeMessage(evil)
	customer.click("send")
	customer.shows("reference")
	b := w.staff()
	b.open("/admin/messages?q=hyperlink")
	b.clickOn(`document.querySelector('[data-testid="message-row"] a')`)
	b.shows("message-text")
	if got := b.text("message-text"); got != evil {
		t.Errorf("the desk shows %q", got)
	}
	b.twice(w, b.path()+"/answered", "answered")
	b.shows("answered-by")
	b.open("/admin/messages?state=open")
	b.shows("list-empty")
	b.open("/admin/messages")
	b.shows("csv")
	got := b.js(`(() => { const r = new XMLHttpRequest(); r.open('GET', ` + find("csv") + `.href, false); r.send();
		return r.status + ' ' + r.getResponseHeader('Content-Disposition') + ' ' + r.responseText })()`)
	if !strings.HasPrefix(got, `200 attachment; filename="messages-`) || !strings.Contains(got, `"'=HYPERLINK(`) || strings.Count(got, "\n") != 2 {
		t.Errorf("the file is %s", got)
	}
}

// TestTheConsoleOfTheJobsRunsBehindTheSignIn: its scripts run under its policy, and nobody else's.
func TestTheConsoleOfTheJobsRunsBehindTheSignIn(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldOfItsOwn(t, db)
		w.paidOrder()
		b := w.visitor()
		b.open("/admin/river/")
		b.shows("sign-in")
		b.click("sign-in")
		b.until("location.pathname.startsWith('/admin/river/')")
		b.open("/admin/river/jobs?state=completed")
		b.until("document.body.innerText.includes('send_mail')")
		b.forget("'script-src' was not explicitly set") // its script asks whether it may make code from text, and may not
	})
}

// TestTheSupportPagesLookRight looks at them in every way that people see them.
func TestTheSupportPagesLookRight(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	for _, language := range []string{"en", "nl"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			w := newWorldOfItsOwn(t, database{dir: t.TempDir()})
			b := w.visitor().in(language).withoutScripts().atTheDesk()
			look := func(path, id string) {
				t.Helper()
				b.open(path)
				b.shows(id)
				b.looksRight(strings.ReplaceAll(path[1:], "/", "-"), language)
			}
			lists := []string{"/admin/attention", "/admin/messages", "/admin/mails", "/admin/inbox", "/admin/deliveries", "/admin/endpoints", "/admin/dead", "/admin/jobs"}
			for _, path := range lists {
				look(path, "list-empty")
			}
			c := client{t, "http://" + w.shop.addr}
			c.postUntilFinal("/v1/webhook-endpoints", newKey(), `{"url":"http://127.0.0.1:9/a-receiver-that-is-not-there","events":["order.paid"]}`)
			order, _ := c.orderFor("sanne@example.nl", newKey())
			c.postUntilFinal("/v1/payments", newKey(), payment(order, "tok_ok"))
			eventually(t, patience, func() string { return "a try" }, func() bool { return w.number("SELECT count(*) FROM deliveries WHERE tries > 0") == 1 })
			c.postUntilFinal("/v1/contact-messages", newKey(), `{"email":"sanne@example.nl","message":"`+strings.Repeat("Is the mug blue? ", 20)+`"}`)
			w.exec("UPDATE deliveries SET state = 'dead'")
			w.exec("UPDATE mails SET dead_at = created_at")
			w.exec(`INSERT INTO inbox (id, provider, event_id, type, body, event, state, tries, note, occurred_at, received_at)
				SELECT id, 'simulated', 'evt_1', 'charge.succeeded', '{"id":"evt_1"}', '{}', 'poison', 1, 'amount or reference differ from the payment''s', created_at, created_at FROM orders`)
			flag := w.flagged("payment_unknown", w.text("SELECT id FROM payments"), "order EM-0000-0000: a charge was asked for, and the provider does not tell of it")
			w.exec("UPDATE payments SET status = 'unknown'")
			for path, row := range map[string]string{"/admin/attention": "flag-row", "/admin/messages": "message-row", "/admin/mails": "mail-row", "/admin/inbox": "inbox-row",
				"/admin/deliveries": "delivery-row", "/admin/endpoints": "endpoint-row", "/admin/dead": "dead-mails",
				"/admin/attention/" + flag: "not-charged", "/admin/attention/" + flag + "/not-charged": "action-form",
				"/admin/messages/" + w.text("SELECT id FROM messages"):     "answered",
				"/admin/mails/" + w.text("SELECT id FROM mails"):           "send-again",
				"/admin/inbox/" + w.text("SELECT id FROM inbox"):           "try-again",
				"/admin/deliveries/" + w.text("SELECT id FROM deliveries"): "redeliver"} {
				look(path, row)
			}
			b.open("/admin/deliveries/" + w.text("SELECT id FROM deliveries"))
			b.click("redeliver")
			b.shows("action-form")
			b.looksRight("redeliver", language)
		})
	}
}

func (w *world) text(query string) (s string) {
	w.t.Helper()
	if err := w.sql.QueryRowContext(w.t.Context(), query).Scan(&s); err != nil {
		w.t.Fatal(err)
	}
	return s
}
