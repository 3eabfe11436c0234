package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// TestEveryState looks at what a walk through the shop and the bank does not come by: what happens seldom,
// or for a moment only.
func TestEveryState(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	for _, language := range []string{"en", "nl"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			w := newWorldWithBank(t, database{dir: t.TempDir()})
			s := &statesWalk{tab: w.visitor().in(language), w: w, language: language}
			s.shop()
			s.moments()
			s.review()
			s.orders()
			s.lateForms()
			s.bank()
			s.broken()
		})
	}
}

type statesWalk struct {
	*tab
	w        *world
	language string
}

func (s *statesWalk) look(name, id string) {
	s.t.Helper()
	s.shows(id)
	s.looksRight(name, s.language)
}

// change changes the database under the shop.
func (s *statesWalk) change(statement string) {
	s.t.Helper()
	if _, err := s.w.sql.ExecContext(s.t.Context(), statement); err != nil {
		s.t.Fatal(err)
	}
}

func (s *statesWalk) shop() {
	s.open("/mailbox")
	s.look("empty mailbox", "mailbox-empty")
	s.open("/p/lamp")
	s.look("few left", "add-to-basket")
	s.change("UPDATE products SET stock = 0 WHERE sku = 'lamp'")
	s.open("/p/lamp")
	s.look("sold out", "sold-out")
	s.open("/")
	s.look("home, one sold out", "product-lamp")
	s.change("UPDATE products SET stock = 3 WHERE sku = 'lamp'")
	for _, sku := range []string{"teapot", "bowl", "candle"} {
		s.putInBasket(sku)
	}
	s.open("/basket")
	s.look("full basket", "to-checkout")
	for _, sku := range []string{"teapot", "bowl", "candle"} {
		s.open("/basket")
		s.click("remove-" + sku)
		s.until("document.readyState === 'complete' && !" + find("basket-"+sku))
	}
}

// moments are what a page says while its form is on the way.
func (s *statesWalk) moments() {
	s.toReview("tok_ok")
	s.offline(true)
	s.click("pay")
	s.until(find("wait") + ".innerText.trim() !== ''")
	s.looksRight("offline", s.language)
	s.offline(false)
	s.until("!" + find("pay") + ".hasAttribute('aria-disabled')")
	held := &holder{release: make(chan struct{})}
	s.front.on("/pay", -1, held.answer)
	s.click("pay")
	s.until(find("wait") + ".innerText.trim() !== ''")
	s.looksRight("working", s.language)
	close(held.release)
	s.shows("order-paid")
	s.front.heal()
	s.failures = nil // of being offline
}

func (s *statesWalk) review() {
	s.toReview("tok_ok")
	s.look("the same again", "same-order")
	s.change("UPDATE products SET price = 1950 WHERE sku = 'mug'")
	s.click("pay")
	s.look("price changed", "price-changed")
	s.change("UPDATE products SET price = 1850 WHERE sku = 'mug'")
	other := s.another()
	other.putInBasket("lamp")
	s.open(s.path())
	s.reload()
	s.look("basket changed", "basket-changed")
	s.click("use-new-basket")
	s.shows("details-form")
	s.click("to-review")
	s.shows("pay-form")
	s.change("UPDATE products SET stock = 0 WHERE sku = 'lamp'")
	s.click("pay")
	s.look("sold out at the last moment", "sold-out")
	s.change("UPDATE products SET stock = 3 WHERE sku = 'lamp'")
	s.open("/basket")
	s.click("remove-lamp")
	s.until("document.readyState === 'complete' && !" + find("basket-lamp"))
}

// orderPage is the address of the newest order's page.
func (s *statesWalk) orderPage() string {
	s.t.Helper()
	var number, token string
	err := s.w.sql.QueryRowContext(s.t.Context(), "SELECT number, token FROM orders ORDER BY id DESC LIMIT 1").Scan(&number, &token)
	if err != nil {
		s.t.Fatal(err)
	}
	return "/orders/" + number + "?t=" + token
}

func (s *statesWalk) orders() {
	s.toReview("tok_declined")
	s.click("pay")
	s.shows("declined")
	checkout := s.path()
	s.open(s.orderPage())
	s.look("order, payment open", "order-awaiting_payment")
	s.change("UPDATE drafts SET city = 'Utrecht' WHERE id = '" + strings.TrimPrefix(checkout, "/checkout/") + "'")
	s.open(checkout)
	s.click("method-tok_ok")
	s.click("to-review")
	s.shows("pay-form")
	s.click("pay")
	s.look("form used", "form-used")
	s.change("UPDATE orders SET status = 'cancelled' WHERE status = 'awaiting_payment'")
	s.open(s.orderPage())
	s.look("order cancelled", "order-cancelled")
	s.toReview("tok_ok")
	s.w.bank.on("/charges", -1, dropAnswer)
	s.w.news.on("", -1, refuse)
	s.click("pay")
	s.shows("payment-status")
	s.open(s.orderPage())
	s.look("order, payment unknown", "order-awaiting_payment")
	s.w.bank.heal()
	s.w.news.heal()
	s.shows("order-paid") // by itself
}

// lateForms are pages that somebody left open for days.
func (s *statesWalk) lateForms() {
	s.startCheckout()
	s.change("UPDATE drafts SET order_key = '01900000-0000-7000-8000-000000000000' WHERE id = '" + strings.TrimPrefix(s.path(), "/checkout/") + "'")
	s.reload()
	s.look("expired", "expired")
	s.writeMessage("Do you repair mugs?")
	second := s.another()
	second.open(s.path())
	second.shows("contact-form")
	second.write("field-email", "sanne@example.nl")
	second.write("field-message", "Do you repair vases?")
	s.click("send")
	s.shows("received")
	second.click("send")
	second.shows("contact-again")
	second.looksRight("another message", s.language)
	s.writeMessage("Do you repair lamps?")
	heal := s.w.loseCommits()
	s.js("Object.assign(" + find("contact-form") + ".dataset, {tries: 1})")
	s.click("send")
	s.look("message in doubt", "contact-unknown")
	heal()
	s.click("send")
	s.shows("received")
}

func (s *statesWalk) bank() {
	s.toBank("ideal")
	address := s.js("location.href")
	s.choose("stay")
	s.until("!" + choice("approve"))
	s.looksRight("the bank, approved", s.language)
	s.goTo(strings.Split(address, "?")[0] + "?s=guess&lang=" + s.language)
	s.until("document.readyState === 'complete'")
	s.looksRight("the bank, no such page", s.language)
}

// broken is a shop whose database takes no orders, and one that has lost its catalogue.
func (s *statesWalk) broken() {
	s.toReview("tok_ok")
	review := s.path()
	s.change("CREATE TRIGGER refuse BEFORE INSERT ON orders BEGIN SELECT RAISE(ABORT, 'no'); END")
	s.js("Object.assign(" + find("pay-form") + ".dataset, {tries: 1})")
	s.click("pay")
	s.look("order failed at once", "order-failed")
	plain := s.another().withoutScripts()
	plain.open(review)
	plain.click("pay")
	plain.shows("order-failed")
	call(plain, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	plain.plain = false // the page is there; axe may run
	plain.looksRight("order failed", s.language)
	s.change("DROP TRIGGER refuse")
	s.change("ALTER TABLE products RENAME TO products_away")
	s.open("/")
	s.look("the shop is broken", "problem")
	s.change("ALTER TABLE products_away RENAME TO products")
}
