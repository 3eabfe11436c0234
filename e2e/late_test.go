package e2e

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// T15: the second tab still has the details form of an order that was placed meanwhile.
func TestB25_AFormOfAPlacedOrderIsNotUsedAgain(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		for _, scripts := range []bool{true, false} {
			w := newWorld(t, database{dir: t.TempDir(), url: db.url})
			before := w.counts().orders
			b := w.visitor()
			if !scripts {
				b.withoutScripts()
			}
			b.toReview("tok_ok")
			other := b.another()
			if !scripts {
				other.withoutScripts()
			}
			other.open(strings.TrimSuffix(b.path(), "/review"))
			other.write("field-city", "Utrecht")
			b.click("pay")
			b.shows("order-paid")
			number := b.text("order-number")
			other.click("to-review")
			other.says("form-used", "This form was already used for order "+number+". Start a new order to change it.")
			other.click("see-order")
			other.shows("order-paid")
			if got := other.text("order-number"); got != number {
				t.Errorf("the link leads to order %s, want %s", got, number)
			}
			if main := other.js("document.querySelector('main').innerText"); !strings.Contains(main, "Amsterdam") || strings.Contains(main, "Utrecht") {
				t.Error("the order's address was changed")
			}
			w.wants(counts{orders: before + 1, paid: before + 1, charges: before + 1, mails: before + 1})
		}
	})
}

func TestB25_TheAPIRefusesAKeyWithAnotherBody(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.open("/") // from a page's script, as a shop's front end calls it
		b.shows("product-mug")
		key := newKey()
		send := func(email string) string {
			b.js(`(window.said = undefined, fetch("/v1/orders", {method: "POST", body: ` + quote(orderOf(email)) + `, headers: {
				"Authorization": "Bearer demo-alpha", "Content-Type": "application/json", "Idempotency-Key": ` + quote(key) + `}})
				.then(async (r) => { window.said = r.status + " " + r.headers.get("Retry-After") + " " + await r.text() }), "sent")`)
			b.until("!!window.said")
			return b.js("window.said")
		}
		if first := send("sanne@example.nl"); !strings.HasPrefix(first, "201 ") {
			t.Fatalf("the order is answered with %s", first)
		}
		if got := send("eva@example.nl"); !strings.HasPrefix(got, "409 null ") || !strings.Contains(got, `"code":"idempotency_key_reused"`) {
			t.Errorf("another body under the same key is answered with %s", got)
		}
		w.wants(counts{orders: 1})
	})
}

// age makes every checkout as if it was begun so long ago: its age is the time in its keys.
func (w *world) age(d time.Duration) {
	w.t.Helper()
	at := time.Now().Add(-d)
	_, err := w.sql.ExecContext(w.t.Context(), fmt.Sprintf("UPDATE drafts SET order_key = '%s', payment_key = '%s'", keyOf(at), keyOf(at)))
	if err != nil {
		w.t.Fatal(err)
	}
}

// keyOf makes the UUIDv7 of a moment.
func keyOf(at time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	for i, ms := 5, at.UnixMilli(); i >= 0; i, ms = i-1, ms>>8 {
		b[i] = byte(ms)
	}
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// filled checks that the details page holds what was typed and chosen before.
func (b *tab) filled(card string) {
	b.t.Helper()
	for field, want := range map[string]string{
		"email": "sanne@example.nl", "name": "Sanne de Vries", "line1": "Keizersgracht 1", "postal_code": "1015 CJ", "city": "Amsterdam", "country": "NL",
	} {
		if got := b.value(field); got != want {
			b.t.Errorf("the field %s holds %q, want %q", field, got, want)
		}
	}
	if b.js(find("method-"+card)+".checked") != "true" {
		b.t.Errorf("the choice %s is not kept", card)
	}
}

func TestB27_ACheckoutOf71HoursWorks(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		w.age(71 * time.Hour)
		b.open(strings.TrimSuffix(b.path(), "/review"))
		b.shows("details-form")
		b.filled("tok_ok")
		b.click("to-review")
		b.shows("pay-form")
		b.click("pay")
		b.shows("order-paid")
		w.wants(once)
	})
}

func TestB28_ACheckoutOf73HoursGoesOnInANewOne(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		for _, scripts := range []bool{true, false} {
			w := newWorld(t, database{dir: t.TempDir(), url: db.url})
			before := w.counts().orders
			b := w.visitor()
			if !scripts {
				b.withoutScripts()
			}
			b.toReview("tok_ok")
			keys := b.keys()
			w.age(73 * time.Hour)
			b.click("pay") // the button of the page that was open all the time
			b.says("expired", "This checkout expired. Your basket and your details are kept.")
			w.wants(counts{orders: before, paid: before, charges: before, mails: before})
			b.click("new-attempt")
			b.shows("details-form")
			b.filled("tok_ok")
			if !b.has("line-mug") {
				t.Error("the basket is lost")
			}
			b.click("to-review")
			if got := b.keys(); got == keys {
				t.Error("the new checkout has the keys of the expired one")
			}
			b.click("pay")
			b.shows("order-paid")
			w.wants(counts{orders: before + 1, paid: before + 1, charges: before + 1, mails: before + 1})
		}
	})
}

// refuseOrders lets the database refuse every new order until the returned function is called.
func (w *world) refuseOrders() (heal func()) {
	w.t.Helper()
	exec := func(statement string) {
		w.t.Helper()
		if _, err := w.sql.ExecContext(w.t.Context(), statement); err != nil {
			w.t.Fatal(err)
		}
	}
	if w.db.url == "" {
		exec("CREATE TRIGGER no_orders BEFORE INSERT ON orders BEGIN SELECT RAISE(ABORT, 'no orders now'); END")
		return func() { w.t.Helper(); exec("DROP TRIGGER no_orders") }
	}
	exec("CREATE FUNCTION no_orders() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no orders now'; END $$")
	exec("CREATE TRIGGER no_orders BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION no_orders()")
	return func() { w.t.Helper(); exec("DROP TRIGGER no_orders ON orders") }
}

func TestB31_AnErrorBeforeTheOrderSaysThatNothingHappened(t *testing.T) {
	needBrowser(t)
	for _, scripts := range []bool{true, false} {
		t.Run(map[bool]string{true: "WithScripts", false: "WithoutScripts"}[scripts], func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, db database) {
				w := newWorld(t, db)
				b := w.visitor()
				if !scripts {
					b.withoutScripts()
				}
				b.toReview("tok_ok")
				heal := w.refuseOrders()
				if scripts {
					b.js("Object.assign(" + find("pay-form") + ".dataset, {tries: 2})")
				}
				b.click("pay")
				b.says("order-failed", "Your order was not placed and nothing was charged.")
				if title := b.js("document.querySelector('h1').innerText"); title != "There is a problem" {
					t.Errorf("the page says %q, want There is a problem", title)
				}
				w.wants(counts{})
				if scripts {
					w.sawPresses(2) // the script has tried again by itself
				}
				if asked := w.bank.count("/charges"); asked != 0 {
					t.Errorf("the provider was asked %d times", asked)
				}
				heal()
				b.click("try-again")
				b.shows("order-paid")
				w.wants(once)
			})
		})
	}
}

// What something on the way says in the shop's place is no answer: the outcome is unknown then.
func TestAProxysErrorPageIsNotBelieved(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		w.front.on("/pay", -1, func(p *proxy, out http.ResponseWriter, r *http.Request) {
			p.forward.ServeHTTP(httptest.NewRecorder(), r) // the shop works, and its answer is replaced
			http.Error(out, "Bad Gateway", http.StatusBadGateway)
		})
		b.js("Object.assign(" + find("pay-form") + ".dataset, {tries: 1})")
		b.click("pay")
		b.shows("order-paid") // found by the status page
		if w.front.countGets("/status") != 1 {
			t.Error("the status page was not asked")
		}
		w.wants(once)
	})
}
