package e2e

import (
	"fmt"
	"testing"
)

// TestEveryPageAroundTheBank looks at what TestEveryPage does not come by: paying at the bank, leaving it,
// and being given money back.
func TestEveryPageAroundTheBank(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	for _, language := range []string{"en", "nl"} {
		for _, scripts := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, scripts %t", language, scripts), func(t *testing.T) {
				t.Parallel()
				w := newWorldWithBank(t, database{dir: t.TempDir()})
				person := func() *tab {
					b := w.visitor().in(language)
					if !scripts {
						b.withoutScripts()
					}
					return b
				}
				walkToTheBank(w, person(), person(), language)
			})
		}
	}
}

func walkToTheBank(w *world, b, stranger *tab, language string) {
	w.t.Helper()
	look := func(b *tab, name, id string) {
		w.t.Helper()
		b.shows(id)
		b.looksRight(name, language)
	}
	stranger.prefix = ""
	comesBack := func(n int, name, id string) {
		w.t.Helper()
		stranger.open("/return/" + w.paymentID(n))
		look(stranger, name, id)
	}
	b.toBank("tok_3ds")
	b.looksRight("the bank", language)
	comesBack(1, "another browser, nothing known", "return-pending")
	b.choose("cancel")
	look(b, "cancelled at the bank", "declined")
	comesBack(1, "another browser, cancelled", "return-failed")
	b.click("method-ideal")
	b.click("to-review")
	b.click("pay")
	b.atBank()
	bank := b.js("location.href")
	b.back()
	look(b, "left the bank", "at-bank")
	b.click("pay-otherwise")
	look(b, "choose another way", "still-at-bank")
	b.click("method-tok_declined")
	b.click("to-review")
	b.click("pay")
	look(b, "declined while another waits", "still-at-bank")
	b.click("method-tok_ok")
	b.click("to-review")
	b.click("pay")
	b.shows("order-paid")
	b.goTo(bank)
	b.choose("approve")
	w.wants(counts{orders: 1, paid: 1, charges: 1, refunds: 1, mails: 3})
	b.reload()
	look(b, "paid twice", "refunds")
	comesBack(2, "another browser, given back", "return-refunded")
	comesBack(4, "another browser, paid", "return-paid")
}
