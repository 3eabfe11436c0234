package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
)

// keys are the hidden keys of the paying form.
func (b *tab) keys() string {
	b.t.Helper()
	b.shows("pay-form")
	order, payment := b.value("order_key"), b.value("payment_key")
	if order == "" || payment == "" || order == payment {
		b.t.Fatalf("the form has the keys %q and %q", order, payment)
	}
	return order + " " + payment
}

func TestB20_ReloadingTheOrderPageChangesNothing(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		b.click("pay")
		b.shows("order-paid")
		number, posts := b.text("order-number"), w.front.count("")
		for range 3 {
			b.reload()
			b.shows("order-paid")
			if got := b.text("order-number"); got != number {
				t.Errorf("after a reload the order is %s, before it was %s", got, number)
			}
		}
		if got := w.front.count(""); got != posts {
			t.Errorf("reloading sent %d POSTs", got-posts)
		}
		w.wants(once)
	})
}

func TestB21_BackFromTheOrderSaysAlreadyPaid(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		b.click("pay")
		b.shows("order-paid")
		number := b.text("order-number")
		b.back()
		b.shows("already-paid")
		if !strings.Contains(b.text("see-order"), number) {
			t.Errorf("the link says %q, want %s in it", b.text("see-order"), number)
		}
		b.click("see-order")
		b.shows("order-paid")
		w.wants(once)
	})
}

// T14: a page that is older than the payment still has its button: one that Back restored, or one in
// another tab. Chromium itself forgets a restorable page when cookies change, so this is a tab.
func TestB22_AnOldPagePaysAgainWithoutScripts(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor().withoutScripts()
		b.toReview("tok_ok")
		old := b.another().withoutScripts()
		old.open(b.path())
		old.shows("pay-form")
		b.click("pay")
		b.shows("order-paid")
		number := b.text("order-number")
		old.click("pay")
		old.shows("order-paid")
		if got := old.text("order-number"); got != number {
			t.Errorf("the second press leads to order %s, the first to %s", got, number)
		}
		old.back()
		old.shows("already-paid")
		w.wants(once)
		w.sawPresses(2)
		w.replayed("/checkout/:attempt/pay")
	})
}

// T08: two tabs of one checkout.
func TestB23_TwoTabsPayOnce(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		first := w.visitor()
		first.toReview("tok_ok")
		second := first.another()
		second.open(first.path())
		if a, b := first.keys(), second.keys(); a != b {
			t.Errorf("the tabs have the keys %s and %s, want the same", a, b)
		}
		w.slowBank(800 * time.Millisecond)
		first.click("pay")
		second.click("pay")
		first.shows("order-paid")
		second.shows("order-paid")
		if a, b := first.text("order-number"), second.text("order-number"); a != b {
			t.Errorf("the tabs show the orders %s and %s", a, b)
		}
		w.wants(once)
		w.sawPresses(2)
	})
}

func TestB24_AChangedBasketIsAskedAbout(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		other := b.another()
		other.putInBasket("vase")
		b.click("pay")
		b.shows("basket-changed")
		if said := b.text("basket-changed"); !strings.Contains(said, "Vase") {
			t.Errorf("the notice says %q, want the difference in it", said)
		}
		w.wants(counts{})
		b.click("pay") // the checkout as it is
		b.shows("order-paid")
		w.wants(once)
	})
}

func TestB26_ABookmarkOfAPaidCheckoutChangesNothing(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		bookmark := b.path()
		b.click("pay")
		b.shows("order-paid")
		stranger := w.visitor() // another browser, without cookies
		stranger.open(bookmark)
		stranger.shows("already-paid")
		stranger.open(strings.TrimSuffix(bookmark, "review") + "pay") // the address of the POST
		stranger.shows("already-paid")
		w.wants(once)
	})
}

func TestKeysSurviveReloadBackAndASecondTab(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		for _, memory := range []bool{false, true} {
			w := newWorld(t, database{dir: t.TempDir(), url: db.url})
			b := w.visitor()
			if memory {
				b = w.visitorWithMemory()
			}
			b.toReview("tok_ok")
			keys, review := b.keys(), b.path()
			same := func(when string, tab *tab) {
				t.Helper()
				if got := tab.keys(); got != keys {
					t.Errorf("%s the keys are %s, before they were %s", when, got, keys)
				}
			}
			b.reload()
			same("after a reload", b)
			b.back()
			b.shows("details-form")
			b.click("to-review")
			same("after Back and the form again", b)
			second := b.another()
			second.open(review)
			same("in a second tab", second)
			b.in("nl").open(review)
			same("in Dutch", b)
			stranger := w.visitor()
			stranger.open(review)
			same("in another browser", stranger)
			w.wants(counts{})
		}
	})
}

func TestB41_ASecondOrderNeedsANewCheckout(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		keys := b.keys()
		b.click("pay")
		b.shows("order-paid")
		number := b.text("order-number")
		b.toReview("tok_ok")
		if got := b.keys(); got == keys {
			t.Error("the new checkout has the keys of the first")
		}
		if said := b.text("same-order"); !strings.Contains(said, number) {
			t.Errorf("the question about a second order says %q, want %s in it", said, number)
		}
		b.click("see-order")
		b.shows("order-paid")
		if got := b.text("order-number"); got != number {
			t.Errorf("the first link leads to order %s, want %s", got, number)
		}
		b.back()
		b.click("order-again")
		b.click("pay")
		b.shows("order-paid")
		if got := b.text("order-number"); got == number {
			t.Error("the second order is the first")
		}
		w.wants(counts{orders: 2, paid: 2, charges: 2, mails: 2})
	})
}

func TestB41_ANewOrderFromAPaidCheckout(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor().withoutScripts()
		b.toReview("tok_ok")
		keys := b.keys()
		b.click("pay")
		b.shows("order-paid")
		b.back()
		b.shows("already-paid")
		w.front.on("/checkout", -1, holdAnswer(800*time.Millisecond))
		b.doubleClick("new-order") // begins one checkout
		b.shows("details-form")
		if got := b.value("email"); got != "sanne@example.nl" {
			t.Errorf("the new checkout begins with the email address %q", got)
		}
		b.click("to-review")
		if got := b.keys(); got == keys {
			t.Error("the new checkout has the keys of the paid one")
		}
		b.click("pay")
		b.shows("order-paid")
		w.wants(counts{orders: 2, paid: 2, charges: 2, mails: 2})
	})
}

func TestB42_TheLanguageChangesDuringTheCheckout(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		keys := b.keys()
		path := b.path()
		b.click("language")
		b.until("document.documentElement.lang === 'nl'")
		b.prefix = "/nl"
		if got := b.path(); got != path {
			t.Errorf("the switch leads to %s, want %s", got, path)
		}
		if got := b.keys(); got != keys {
			t.Errorf("in Dutch the keys are %s, in English they were %s", got, keys)
		}
		b.click("pay")
		b.shows("order-paid")
		if got := b.js("document.documentElement.lang"); got != "nl" {
			t.Errorf("the order's page is in %s, want nl", got)
		}
		w.wants(once)
	})
}

func TestB34_WhatIsSoldOutIsNamed(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.putInBasket("lamp")
		b.toReview("tok_ok") // a lamp and a mug
		if _, err := w.sql.ExecContext(t.Context(), "UPDATE products SET stock = 0 WHERE sku = 'lamp'"); err != nil {
			t.Fatal(err)
		}
		b.click("pay")
		b.shows("sold-out")
		if said := b.text("sold-out"); !strings.Contains(said, "Evening Lamp is sold out") {
			t.Errorf("the notice says %q", said)
		}
		if got := w.counts(); got != (counts{}) {
			t.Errorf("there are %s, want nothing", got)
		}
		b.click("order-rest")
		b.shows("details-form")
		b.click("to-review")
		b.shows("pay-form")
		b.click("pay")
		b.shows("order-paid")
		if b.has("line-lamp") || !b.has("line-mug") {
			t.Error("the order does not hold the mug alone")
		}
		if _, err := w.sql.ExecContext(t.Context(), "UPDATE products SET stock = 3 WHERE sku = 'lamp'"); err != nil {
			t.Fatal(err)
		}
		w.wants(once)
	})
}

func TestB33_AChangedPriceIsAskedAbout(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		if _, err := w.sql.ExecContext(t.Context(), "UPDATE products SET price = 1950 WHERE sku = 'mug'"); err != nil {
			t.Fatal(err)
		}
		b.click("pay")
		b.shows("price-changed")
		if said := b.text("price-changed"); !strings.Contains(said, "€23.45") || !strings.Contains(said, "€24.45") {
			t.Errorf("the notice says %q, want the old total €23.45 and the new one €24.45", said)
		}
		w.wants(counts{})
		b.click("pay")
		b.shows("order-paid")
		w.wants(once)
	})
}

func TestB29_LostCookiesLoseNothing(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		call(b, network.ClearBrowserCookies, cdp.Empty{})
		b.click("pay")
		b.shows("order-paid")
		w.wants(once)
	})
}

// The script's answers are all lost and then the network is gone: the address in the bar still leads to
// the order once it is back.
func TestB12_OfflineDuringThePayment(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		w.slowBank(1500 * time.Millisecond)
		w.front.on("/pay", -1, dropAnswer)
		b.js("Object.assign(" + find("pay-form") + ".dataset, {tries: 2})")
		b.click("pay")
		b.until(find("pay") + ".ariaDisabled === 'true'")
		b.offline(true)
		eventually(t, patience, func() string { return "an order is paid" }, func() bool { return w.counts() == once })
		b.until("document.querySelector('[data-wait]').textContent.includes('We do not know yet')")
		w.front.heal()
		b.offline(false)
		b.shows("order-paid")
		w.wants(once)
	})
}
