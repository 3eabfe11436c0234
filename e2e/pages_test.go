package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestB35_EmptyFieldsAreNamed(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		emptyFields(t, db, "en", "Error: ", "Enter your email address", "There is a problem")
	})
}

func TestB35_LegeVeldenWordenGenoemd(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		emptyFields(t, db, "nl", "Fout: ", "Vul je e-mailadres in", "Er is een probleem") //nolint:misspell // Dutch
	})
}

func emptyFields(t *testing.T, db database, language, prefix, sentence, title string) {
	w := newWorld(t, db)
	for _, scripts := range []bool{true, false} {
		b := w.visitor().in(language)
		if !scripts {
			b.withoutScripts()
		}
		b.startCheckout()
		b.write("field-city", "Amsterdam")
		b.click("to-review")
		b.shows("error-summary")
		if said := b.text("error-summary"); !strings.Contains(said, sentence) || !strings.Contains(said, title) {
			t.Errorf("the summary says %q, want %q and %q in it", said, title, sentence)
		}
		b.until("document.activeElement === " + find("error-summary"))
		if got := b.js("document.title"); !strings.HasPrefix(got, prefix) {
			t.Errorf("the title is %q, want %q first", got, prefix)
		}
		if got := b.js(find("field-city") + ".value"); got != "Amsterdam" {
			t.Errorf("the city is %q, want what was typed", got)
		}
		for _, field := range []string{"email", "name", "line1", "postal_code"} {
			if b.js(find("field-"+field)+".getAttribute('aria-invalid')") != "true" || b.text("error-"+field) == "" {
				t.Errorf("the field %s has no error", field)
			}
		}
		// A link in the summary leads to its field.
		x, y := b.pointOf(`document.querySelector('[data-testid="error-summary"] a[href="#line1"]')`)
		b.do(chromedp.MouseClickXY(x, y))
		b.until("document.activeElement === " + find("field-line1"))
		// A second mistake is told like the first.
		b.click("to-review")
		b.until("document.activeElement === " + find("error-summary"))
	}
	w.wants(counts{})
}

func TestB36_APostcodeIsReadAsPeopleTypeIt(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.startCheckout()
		b.fillDetails("tok_ok")
		b.write("field-postal_code", "  1012ab ")
		b.click("to-review")
		b.shows("pay-form")
		if !strings.Contains(b.js("document.querySelector('main').innerText"), "1012 AB") {
			t.Error("the review page does not show the postcode as 1012 AB")
		}
		w.wants(counts{})
		b.click("pay")
		b.shows("order-paid")
		w.wants(once)
	})
}

// TestEveryPage walks through the shop and looks at every page in every way that people see it. The
// database makes no difference to that.
func TestEveryPage(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	for _, language := range []string{"en", "nl"} {
		for _, scripts := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, scripts %t", language, scripts), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, database{dir: t.TempDir()})
				b := w.visitor().in(language)
				if !scripts {
					b.withoutScripts()
				}
				b.walk(w, language)
			})
		}
	}
}

// walk opens every page of the shop, by pressing what leads there.
func (b *tab) walk(w *world, language string) {
	b.t.Helper()
	look := func(name, id string) {
		b.t.Helper()
		b.shows(id)
		b.looksRight(name, language)
	}
	b.open("/")
	look("home", "product-mug")
	b.open("/p/mug")
	look("product", "add-to-basket")
	b.open("/basket")
	look("empty basket", "basket-empty")
	b.putInBasket("mug")
	look("product in the basket", "in-basket")
	b.open("/basket")
	look("basket", "to-checkout")
	b.write("quantity-mug", "many")
	b.click("update-mug")
	look("basket, wrong number", "error-summary")
	b.open("/basket")
	b.click("to-checkout")
	look("details", "details-form")
	b.click("to-review")
	look("details with errors", "error-summary")
	b.fillDetails("tok_declined")
	b.click("to-review")
	look("review", "pay-form")
	review := b.path()
	b.click("pay")
	look("declined", "declined")
	b.click("to-review")
	look("declined, nothing chosen", "error-summary")
	b.click("method-tok_ok")
	b.click("to-review")
	b.shows("pay-form")
	w.bank.on("/charges", -1, dropAnswer)
	b.click("pay")
	look("payment unknown", "payment-status")
	w.bank.heal()
	b.js(find("check-now") + "?.click()") // unless the page has gone on by itself
	look("order paid", "order-paid")
	b.click("to-timeline")
	look("timeline", "timeline")
	b.open(review)
	look("already paid", "already-paid")
	b.open("/mailbox")
	look("mailbox", "mail")
	b.open("/contact")
	look("contact", "contact-form")
	b.click("send")
	look("contact with errors", "error-summary")
	b.write("field-email", "sanne@example.nl")
	b.write("field-message", "Hallo")
	b.click("send")
	look("message received", "received")
	b.open("/nothing-here")
	look("not found", "problem")
	b.open("/orders")
	look("orders", "device-order")
	b.click("find-order")
	look("orders, nothing typed", "error-summary")
	b.write("field-number", "EM-0000-0000")
	b.write("field-email", "sanne@example.nl")
	b.click("find-order")
	look("orders, none found", "order-unknown")
	b.open("/checkout/" + "00000000-0000-4000-8000-000000000000")
	look("no such checkout", "checkout-not-found")
	w.wants(counts{orders: 1, paid: 1, charges: 1, mails: 1, messages: 1})
	for _, failure := range b.seen(&b.failures) {
		if !strings.Contains(failure, " answers 4") || strings.Contains(failure, "/static/") {
			b.t.Errorf("on the way: %s", failure)
		}
	}
}

func TestMailboxShowsTheOneMail(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.open("/mailbox")
		b.shows("mailbox-empty")
		b.toReview("tok_ok")
		b.click("pay")
		b.shows("order-paid")
		number := b.text("order-number")
		if said := b.text("mail-sent"); !strings.Contains(said, "@example.nl") || strings.Contains(said, "sanne@") {
			t.Errorf("the order page says %q, want the address without the name in full", said)
		}
		b.open("/mailbox")
		b.shows("mail")
		if n := b.js(`document.querySelectorAll('[data-testid="mail"]').length`); n != "1" {
			t.Errorf("the mailbox shows %s mails", n)
		}
		mail := b.text("mail")
		if !strings.Contains(mail, number) || !strings.Contains(mail, "sanne@example.nl") {
			t.Errorf("the mail says %q", mail)
		}
		link := b.js(`document.querySelector('[data-testid="mail"] pre').textContent.match(/http\S+/)[0]`)
		if !strings.HasPrefix(link, b.base+"/orders/"+number) {
			t.Fatalf("the mail leads to %q", link)
		}
		b.click("mail-link")
		b.shows("order-paid")
		stranger := w.visitor()
		stranger.open(strings.TrimPrefix(link, b.base))
		stranger.shows("order-paid")
		stranger.open("/orders/" + number + "?t=guess")
		stranger.shows("not-found")
		w.wants(once)
	})
}

func TestAFirstVisitIsInTheBrowsersLanguage(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor().in("nl")
		b.prefix = ""
		b.open("/")
		b.until("location.pathname === '/nl' && document.documentElement.lang === 'nl'")
		b.click("language")
		b.until("location.pathname === '/' && document.documentElement.lang === 'en'")
		b.open("/")
		b.until("location.pathname === '/' && document.documentElement.lang === 'en'") // the choice is kept
	})
}

// tabTo moves the keyboard forward to an element, as a person without a mouse does.
func (b *tab) tabTo(id string) {
	b.t.Helper()
	b.shows(id)
	for range 100 {
		if b.js("document.activeElement === "+find(id)) == "true" {
			if b.js("getComputedStyle(document.activeElement).outlineStyle") == "none" {
				b.t.Errorf("one does not see that the keyboard is at %s", id)
			}
			return
		}
		b.press(kb.Tab)
	}
	b.t.Fatalf("the Tab key does not lead to %s on %s", id, b.where())
}

// typeInto moves the keyboard to a field and types.
func (b *tab) typeInto(id, text string) {
	b.t.Helper()
	b.tabTo(id)
	call(b, input.InsertText, input.InsertTextParams{Text: text})
}

func TestB40_TheWholeShopByKeyboard(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		for _, scripts := range []bool{true, false} {
			w := newWorld(t, database{dir: t.TempDir(), url: db.url})
			before := w.counts().orders
			b := w.visitor()
			if !scripts {
				b.withoutScripts()
			}
			b.open("/p/mug")
			b.tabTo("add-to-basket")
			b.press(enter)
			b.tabTo("see-basket")
			b.press(enter)
			b.tabTo("to-checkout")
			b.press(enter)
			b.typeInto("field-email", "sanne@example.nl")
			b.typeInto("field-name", "Sanne de Vries")
			b.typeInto("field-line1", "Keizersgracht 1")
			b.typeInto("field-postal_code", "1015 CJ")
			b.typeInto("field-city", "Amsterdam")
			b.tabTo("method-tok_ok")
			b.press(" ")
			b.tabTo("to-review")
			b.press(enter)
			b.tabTo("pay")
			b.press(enter)
			b.shows("order-paid")
			w.wants(counts{orders: before + 1, paid: before + 1, charges: before + 1, mails: before + 1})
		}
	})
}
