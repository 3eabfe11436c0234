package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// TestAnOrderIsFoundAgain: in the browser that made it by the list, in another one by its number and its
// email address, which stand in no address and no log.
func TestAnOrderIsFoundAgain(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		b.click("pay")
		b.shows("order-paid")
		number := b.text("order-number")
		b.click("nav-orders")
		b.shows("device-order")
		if got := b.text("device-order"); got != number {
			t.Errorf("the list has %s, want %s", got, number)
		}
		b.click("device-order")
		b.shows("order-paid")

		other := w.visitor().in("nl").withoutScripts()
		other.open("/orders")
		other.shows("find-form")
		if other.has("device-order") {
			t.Error("another browser lists the order")
		}
		other.click("find-order")
		other.shows("error-summary")
		other.write("field-number", number)
		other.write("field-email", "eva@example.nl")
		other.click("find-order")
		other.says("order-unknown", "Er is geen bestelling met dit nummer en dit e-mailadres.")
		if at := other.js("location.href"); strings.Contains(at, "eva") || strings.Contains(at, number) {
			t.Errorf("the address is %s", at)
		}
		other.write("field-email", "Sanne@example.nl")
		other.click("find-order")
		other.shows("order-paid")
		if got := other.text("order-number"); got != number {
			t.Errorf("the order is %s, want %s", got, number)
		}
		other.open("/orders")
		other.shows("device-order")
		for _, private := range []string{"eva@", "anne@", number} {
			if strings.Contains(w.shop.out.String(), private) {
				t.Errorf("the log holds %q", private)
			}
		}
		w.wants(once)
	})
}

// TestAReceiptIsPrinted looks at the order's page as a printer does.
func TestAReceiptIsPrinted(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, printsReceipts)
}

func printsReceipts(t *testing.T, db database) {
	for language, parts := range map[string][]string{
		"en": {"Eenmaal", "127.0.0.1", "Receipt", "1 × Early Mug", "€18.50", "€4.95", "€23.45", "Of which VAT (21%)", "€4.07", "Paid with\nCard, ", "Amsterdam", "Placed"},
		"nl": {"Eenmaal", "127.0.0.1", "Bon", "1 × Mok Vroeg", "€\u00a018,50", "€\u00a04,95", "€\u00a023,45", "Waarvan btw (21%)", "€\u00a04,07", "Betaald met\nKaart, ", "Amsterdam", "Geplaatst"},
	} {
		t.Run(language, func(t *testing.T) {
			w := newWorld(t, database{dir: t.TempDir(), url: db.url})
			b := w.visitor().in(language)
			b.toReview("tok_ok")
			b.click("pay")
			b.shows("order-paid")
			number := b.text("order-number")
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
			printed := b.js("document.body.innerText")
			for _, part := range append(parts, number) {
				if !strings.Contains(printed, part) {
					t.Errorf("the receipt does not say %q:\n%s", part, printed)
				}
			}
			for _, part := range []string{"Contact", "Basket", "Mandje", "Nederlands", "English", "Back to the shop", "Terug naar de winkel", "Demo"} {
				if strings.Contains(printed, part) {
					t.Errorf("the receipt says %q", part)
				}
			}
			if seen := b.js("[...document.querySelectorAll('a, button, input, [data-testid=sent-panel]')].filter((e) => e.checkVisibility()).length"); seen != "0" {
				t.Errorf("the receipt shows %s things to press", seen)
			}
			if text := b.js("getComputedStyle(document.body).color"); text != "rgb(28, 27, 25)" {
				t.Errorf("the receipt is printed in %s", text)
			}
		})
	}
}
