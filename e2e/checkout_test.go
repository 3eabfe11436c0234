package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// putInBasket puts one of an article in the basket.
func (b *tab) putInBasket(sku string) {
	b.t.Helper()
	b.open("/p/" + sku)
	b.shows("nav-basket")
	count := "Number(" + find("nav-basket") + "?.dataset.count)"
	more := count + " === " + b.js(count+" + 1")
	b.click("add-to-basket")
	b.until(more + " && document.readyState === 'complete'")
}

// startCheckout puts a mug in the basket and goes to the details page.
func (b *tab) startCheckout() {
	b.t.Helper()
	b.putInBasket("mug")
	b.open("/basket")
	b.click("to-checkout")
	b.shows("details-form")
}

// fillDetails fills the details page in and chooses a card.
func (b *tab) fillDetails(card string) {
	b.t.Helper()
	b.write("field-email", "sanne@example.nl")
	b.write("field-name", "Sanne de Vries")
	b.write("field-line1", "Keizersgracht 1")
	b.write("field-postal_code", "1015 CJ")
	b.write("field-city", "Amsterdam")
	b.click("method-" + card)
}

// toReview puts a mug in the basket and goes to the page with the paying button.
func (b *tab) toReview(card string) {
	b.t.Helper()
	b.startCheckout()
	b.fillDetails(card)
	b.click("to-review")
	b.shows("pay-form")
}

// slowBank makes the payment provider take its time.
func (w *world) slowBank(d time.Duration) { w.bank.on("/charges", -1, delay(d)) }

// bankAwaits makes the payment provider take its time, and more of it as long as the server has not seen
// that many presses: on a busy machine a second click comes late.
func (w *world) bankAwaits(presses int, atLeast time.Duration) {
	w.bank.on("/charges", -1, func(p *proxy, out http.ResponseWriter, r *http.Request) {
		time.Sleep(atLeast)
		for end := time.Now().Add(2500 * time.Millisecond); w.front.count("/pay") < presses && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		p.forward.ServeHTTP(out, r)
	})
}

// TestNoOrderIsCalledKeptBeforeThereIsOne: the press hangs on its way to the shop, so nothing is kept yet,
// and the page that waits does not say so. The database makes no difference to that.
func TestNoOrderIsCalledKeptBeforeThereIsOne(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	w := newWorld(t, database{dir: t.TempDir()})
	b := w.visitor()
	b.toReview("tok_ok")
	held := &holder{release: make(chan struct{})}
	w.front.on("/pay", -1, held.request)
	b.click("pay")
	b.until(find("wait") + ".innerText.includes('Trying again does not charge you twice')")
	eventually(t, patience, func() string { return "the page has asked for the order" }, func() bool { return w.front.countGets("/status") > 0 })
	if said := b.text("wait"); strings.Contains(said, "kept") || strings.Contains(said, "EM-") {
		t.Errorf("the page says %q, and there is no order", said)
	}
	close(held.release)
	b.shows("order-paid")
	w.wants(once)
}
