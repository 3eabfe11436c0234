package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestTheDeskTellsWhatADoubleClickWas: the key's page has the press that changed nothing, and a mismatch
// that is explained by two presses is explained once.
func TestTheDeskTellsWhatADoubleClickWas(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldOfItsOwn(t, db)
		customer := w.visitor().withoutScripts()
		customer.toReview("tok_ok")
		w.front.on("/pay", -1, func(p *proxy, out http.ResponseWriter, r *http.Request) { // the browser leaves the first press; the server ends it
			holdUntil("/pay", 2)(p, out, r.WithContext(context.WithoutCancel(r.Context())))
		})
		customer.doubleClick("pay")
		customer.shows("order-paid")
		w.front.heal()
		const key = "desk-key-0123456789"
		if first, second := w.message(key, "Hello"), w.message(key, "Another"); first != http.StatusCreated || second != http.StatusConflict {
			t.Fatalf("the messages: %d and %d", first, second)
		}
		eventually(t, patience, func() string { return "a mismatch is kept" }, func() bool { return w.number("SELECT count(*) FROM mismatches") == 1 })

		b := w.visitor().withoutScripts().atTheDesk()
		b.open("/admin/keys")
		b.shows("key-row")
		b.clickOn(`[...document.querySelectorAll("[data-testid=key-row]")].find((e) => e.innerText.includes("POST /v1/orders")).querySelector("a")`)
		b.shows("key-facts")
		if kinds := b.js("[...document.querySelectorAll('[data-kind]')].map((e) => e.dataset.kind).join(' ')"); !strings.Contains(kinds, "finished") || !strings.Contains(kinds, "replayed") {
			t.Errorf("the key's page tells %s", kinds)
		}
		b.open("/admin/keys?q=" + key)
		b.shows("key-row")
		b.open("/admin/mismatches")
		b.click("explain-1")
		b.write("field-note", "A test of theirs.")
		form := b.path()
		w.front.on(form, -1, holdAnswer(700*time.Millisecond))
		b.doubleClick("do")
		b.shows("mismatch-row")
		if n := w.front.count(form); n < 2 {
			t.Errorf("the server saw %d presses", n)
		}
		if n := w.number("SELECT count(*) FROM mismatches WHERE note = 'A test of theirs.' AND explained_by = 'staff'"); n != 1 {
			t.Errorf("%d mismatches are explained", n)
		}
		if n := w.number("SELECT count(*) FROM staff_actions WHERE action = 'explain'"); n != 1 {
			t.Errorf("%d actions are noted", n)
		}
		b.open("/admin/duplicates")
		b.shows("duplicates-row")
	})
}

// message sends a contact message over the API and gives the answer's status.
func (w *world) message(key, text string) int {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.front.url+"/v1/contact-messages",
		strings.NewReader(`{"email":"sanne@example.nl","message":"`+text+`"}`))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer demo-alpha")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	status, _ := do(w.t, req)
	return status
}
