package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
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
	b.click("check-now")
	look("order paid", "order-paid")
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

// looksRight checks what every page owes everybody, on a narrow and a wide screen, by day and by night.
func (b *tab) looksRight(name, language string) {
	b.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		for _, width := range []int64{320, 1200} {
			b.do(chromedp.EmulateViewport(width, 900))
			report, ok := strings.CutPrefix(b.js("("+pageProblems+")("+quote(language)+").join('\\n')"), "looked")
			if !ok {
				b.t.Fatalf("%s: the page cannot be looked at", name)
			}
			for problem := range strings.Lines(strings.TrimSpace(report)) {
				b.t.Errorf("%s (%s, %d pixels wide): %s", name, theme, width, strings.TrimSpace(problem))
			}
		}
	}
}

// pageProblems lists what is wrong with the page, after a first word that says it has been looked at.
const pageProblems = `(language) => {
	const wrong = ["looked"];
	const name = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (e.dataset.testid ? "[" + e.dataset.testid + "]" : "") +
		" “" + (e.textContent || "").trim().slice(0, 30) + "”";
	const all = (selector) => [...document.querySelectorAll(selector)];
	const seen = (e) => e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && e.getBoundingClientRect().width > 1;
	if (document.documentElement.lang !== language) wrong.push("its language is " + document.documentElement.lang);
	if (!document.title) wrong.push("it has no title");
	if (all("h1").length !== 1) wrong.push("it has " + all("h1").length + " main headings");
	const foreign = language === "nl" ? /\b(the|and|your|you|with|order|this|from|email|pay)\b/i
		: /\b(het|een|en|niet|je|wij|voor|bestelling|betalen|naar|wordt|mandje)\b/i;
	for (const e of all("body, body *, title")) {
		if (e.closest("[lang]").lang !== language || e.matches("script, pre")) continue;
		const own = [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data);
		const told = ["aria-label", "title", "alt", "placeholder"].map((a) => e.getAttribute(a) ?? "").concat(e.matches("form") ? Object.values(e.dataset) : []);
		for (const text of own.concat(told)) if (foreign.test(text)) wrong.push("in another language: " + text.trim());
	}
	if (all("main").length !== 1) wrong.push("it has no main part");
	const wide = document.scrollingElement.scrollWidth;
	if (wide > innerWidth) {
		const who = all("body *").filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map(name).slice(0, 3);
		wrong.push("it is " + wide + " pixels wide, so it scrolls sideways: " + who.join(", "));
	}
	const ids = all("[id]").map((e) => e.id);
	for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) wrong.push("the id " + id + " is used twice");
	for (const e of all("input:not([type=hidden]), select, textarea")) {
		if (![...e.labels].some((l) => l.textContent.trim()) && !e.ariaLabel) wrong.push("without a label: " + name(e));
	}
	for (const e of all("a[href], button")) {
		if (!e.textContent.trim() && !e.ariaLabel && e.ariaHidden !== "true") wrong.push("without a name: " + name(e));
	}
	for (const e of all("[aria-describedby], [aria-labelledby]")) {
		for (const id of ((e.getAttribute("aria-describedby") ?? "") + " " + (e.getAttribute("aria-labelledby") ?? "")).trim().split(/\s+/)) {
			if (!document.getElementById(id)) wrong.push(name(e) + " refers to #" + id + ", which is not there");
		}
	}
	for (const e of all("a[href^='#']")) {
		if (!document.getElementById(e.hash.slice(1))) wrong.push(name(e) + " leads to " + e.hash + ", which is not there");
	}
	for (const e of all("button, input:not([type=hidden]), select, textarea").filter(seen)) {
		const r = e.getBoundingClientRect();
		if (r.width < 24 || r.height < 24) wrong.push("too small to hit (" + Math.round(r.width) + " by " + Math.round(r.height) + "): " + name(e));
	}
	const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const rgba = (color) => {
		paint.clearRect(0, 0, 1, 1);
		paint.fillStyle = color;
		paint.fillRect(0, 0, 1, 1);
		return [...paint.getImageData(0, 0, 1, 1).data];
	};
	const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const ground = (e) => {
		for (; e; e = e.parentElement) {
			const color = rgba(getComputedStyle(e).backgroundColor);
			if (color[3] === 255) return color;
		}
		return rgba("Canvas");
	};
	const texts = new Set();
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) if (walker.currentNode.data.trim()) texts.add(walker.currentNode.parentElement);
	for (const e of [...texts].filter(seen)) {
		const style = getComputedStyle(e);
		const [a, b] = [light(rgba(style.color)), light(ground(e))];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		const size = parseFloat(style.fontSize);
		if (ratio < (size >= 24 || (size >= 18.6 && style.fontWeight >= 700) ? 3 : 4.5)) wrong.push("contrast " + ratio.toFixed(1) + ": " + name(e));
	}
	return wrong;
}`

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
