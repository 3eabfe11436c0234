package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// payloads are what somebody types who wants his script to run at the shop's. Each would call alert.
var payloads = []string{
	`<script>alert(1)</script>`, `"><script>alert(1)</script>`, `'><script>alert(1)</script>`, `</title><script>alert(1)</script>`,
	`</textarea><script>alert(1)</script>`, `</pre><script>alert(1)</script>`, `<ScRiPt>alert(1)</sCrIpT>`, `<scr<script>ipt>alert(1)</script>`,
	`<img src=x onerror=alert(1)>`, `"><img src=x onerror=alert(1)>`, `<img src="x:x" onerror="alert(1)">`, `<svg onload=alert(1)>`,
	`<svg/onload=alert(1)>`, `<body onload=alert(1)>`, `<iframe src="javascript:alert(1)">`, `<iframe srcdoc="<script>alert(1)</script>">`,
	`<a href="javascript:alert(1)">x</a>`, `javascript:alert(1)`, `" autofocus onfocus="alert(1)`, `' autofocus onfocus='alert(1)`,
	`" onmouseover=alert(1) x="`, `<details open ontoggle=alert(1)>`, `<input autofocus onfocus=alert(1)>`, `<video><source onerror=alert(1)>`,
	`<math><mtext></math><img src=x onerror=alert(1)>`, `&lt;script&gt;alert(1)&lt;/script&gt;`, `<!--><script>alert(1)</script>-->`,
	`{{constructor.constructor('alert(1)')()}}`, `${alert(1)}`, `<base href="//evil.test/"><script src=a.js></script>`,
	`<meta http-equiv=refresh content="0;url=javascript:alert(1)">`, `<style>@import "//evil.test/";</style>`,
}

// TestWhatPeopleTypeIsText covers S21: whatever stands in a name, an address, a message, a key or the
// address of a page is the text that it is, on every page that shows it. A mail shows none of it: who gets
// one by somebody else's doing reads no words of his. That no policy is violated, every tab checks; that would say that only the policy
// had helped.
func TestWhatPeopleTypeIsText(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	w := newWorld(t, database{dir: t.TempDir()})
	b := w.victim()
	for i, payload := range payloads {
		b.ordersAs(payload)
		b.writesAs(payload, i)
	}
	b = w.victim()
	for _, payload := range payloads {
		for _, path := range []string{"/p/", "/orders/", "/checkout/", "/contact/", "/?x=", "/basket?lang=", "/return/", "/orders/EM-1?t="} {
			b.goTo(b.base + path + strings.ReplaceAll(url.QueryEscape(payload), "+", "%20"))
			b.until("document.readyState === 'complete' && !!document.querySelector('main')")
		}
	}
	b.open("/mailbox")
	b.shows("mail")
	if n := b.js(`document.querySelectorAll('[data-testid="mail"]').length`); n != fmt.Sprint(len(payloads)) {
		t.Errorf("the mailbox shows %s mails, want %d", n, len(payloads))
	}
	if mails := b.js("document.querySelector('main').innerText"); strings.Contains(mails, "alert") {
		t.Errorf("a mail says what somebody typed: %s", mails)
	}
	if wrong := b.js(`[...document.querySelectorAll("a, form, img, iframe, base")].filter((e) => /^javascript:|evil/i.test(e.href || e.action || e.src)).length`); wrong != "0" {
		t.Errorf("%s elements of the mailbox lead to the payloads", wrong)
	}
	w.victim().deskIsSafe()
	n := len(payloads)
	w.wants(counts{orders: n, paid: n, charges: n, mails: n, messages: n})
}

// victim is somebody whose browser notices a script of somebody else. No tab lives for the whole test.
func (w *world) victim() *tab {
	b := w.visitor()
	dialogs := chromedp.Events(b.ctx, page.JavascriptDialogOpening)
	go func() {
		for ev, err := range dialogs {
			if err != nil {
				return
			}
			b.add(&b.troubles, "a script of somebody else runs and says "+ev.Message)
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}
	}()
	return b
}

// ordersAs orders a mug under a name and to an address that are the payload, and reads them on the way.
func (b *tab) ordersAs(payload string) {
	b.t.Helper()
	b.putInBasket("mug")
	b.open("/basket")
	b.click("to-checkout")
	b.shows("details-form")
	details := map[string]string{"email": "sanne@example.nl", "name": payload, "line1": payload, "postal_code": "1015 CJ", "city": payload, "country": "NL"}
	b.js(b.filling("details-form", details)) // without a card: the page comes back with what was typed
	b.click("to-review")
	b.shows("error-summary")
	if got := b.value("line1"); got != payload {
		b.t.Errorf("the form holds %q, want %q", got, payload)
	}
	b.click("method-tok_ok")
	b.click("to-review")
	b.shows("pay-form")
	b.reads(payload, "the review")
	b.click("pay")
	b.shows("order-paid")
	b.reads(payload, "the order's page")
}

// writesAs sends a message that is the payload.
func (b *tab) writesAs(payload string, i int) {
	b.t.Helper()
	b.open("/contact")
	b.shows("contact-form")
	b.js(b.filling("contact-form", map[string]string{"email": "no address", "name": payload, "message": payload}))
	b.click("send")
	b.shows("error-summary")
	if got := b.value("message"); got != payload {
		b.t.Errorf("the form holds %q, want %q", got, payload)
	}
	b.js(b.filling("contact-form", map[string]string{"email": "sanne@example.nl", "message": payload + fmt.Sprint(i)}))
	b.click("send")
	b.shows("received")
}

// deskIsSafe searches the desk for what people typed, and opens all that it shows of it.
func (b *tab) deskIsSafe() {
	b.t.Helper()
	b.open("/admin")
	b.click("sign-in")
	b.shows("staff")
	for _, payload := range payloads {
		b.goTo(b.base + "/admin/orders?q=" + url.QueryEscape(payload))
		b.shows("staff")
		if got := b.value("q"); got != payload {
			b.t.Errorf("the desk's search holds %q, want %q", got, payload)
		}
	}
	opened := map[string]bool{}
	for ahead := []string{"/admin/orders"}; len(ahead) > 0 && len(opened) < 150; ahead = ahead[1:] {
		if opened[ahead[0]] || strings.Contains(ahead[0], "lang=") {
			continue
		}
		opened[ahead[0]] = true
		b.goTo(b.base + ahead[0])
		b.shows("staff")
		ahead = append(ahead, strings.Fields(b.js(deskLinks))...)
	}
	if len(opened) < len(payloads) {
		b.t.Errorf("the desk showed %d pages only: %v", len(opened), opened)
	}
}

// filling is a script that types into a form, and unticks what is chosen.
func (b *tab) filling(form string, fields map[string]string) string {
	script := "(() => { const form = " + find(form) + ";\n"
	script += "for (const e of form.querySelectorAll('[type=radio]')) e.checked = false;\n"
	for name, value := range fields {
		script += fmt.Sprintf("form.elements[%s].value = %s;\n", quote(name), quote(value))
	}
	return script + "})()"
}

// reads checks that the page shows a text as it was typed.
func (b *tab) reads(text, where string) {
	b.t.Helper()
	if b.js("document.querySelector('main').innerText.includes("+quote(text)+")") != "true" {
		b.t.Errorf("%s does not show %s as text", where, text)
	}
}

// TestNoPageStandsInAFrame covers S22 in the browser: a page of somebody else cannot lay the shop's buttons
// under his own.
func TestNoPageStandsInAFrame(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	w := newWorldWithBank(t, database{dir: t.TempDir()})
	b := w.visitor()
	b.toReview("ideal")
	review := b.js("location.href")
	b.click("pay")
	b.atBank()
	bank := b.js("location.href")
	evil := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(out, `<!doctype html><title>evil</title><iframe src="%s" onload="document.title = 'loaded'"></iframe>`, r.URL.Query().Get("frame"))
	}))
	t.Cleanup(evil.Close)
	for _, framed := range []string{review, bank, b.base + "/", b.base + "/nl/basket", b.base + "/mailbox", b.base + "/contact", b.base + "/nothing", b.base + "/docs", b.base + "/v1/products"} {
		b.goTo(evil.URL + "/?frame=" + url.QueryEscape(framed))
		b.until("document.title === 'loaded'")
		refused := "violates the following Content Security Policy directive: \"frame-ancestors 'none'\""
		eventually(t, patience, func() string {
			return framed + " is refused in a frame; the browser said " + fmt.Sprint(b.seen(&b.troubles))
		},
			func() bool { return strings.Contains(fmt.Sprint(b.seen(&b.troubles)), refused) })
		b.forget("")
	}
}

// forget drops the troubles that a test made on purpose, of which all say something.
func (b *tab) forget(saying string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.troubles = slices.DeleteFunc(b.troubles, func(trouble string) bool { return strings.Contains(trouble, saying) })
}
