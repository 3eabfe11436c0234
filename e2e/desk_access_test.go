package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// longLists gives the desk as many flags and mismatches as a page has, and some more.
func (w *world) longLists() {
	w.t.Helper()
	kinds := []string{"paid_in_vain", "payment_unknown", "event_poison", "mail_dead", "delivery_dead", "refund_failed"}
	for i := range 60 {
		id := w.flagged(kinds[i%len(kinds)], newKey(), fmt.Sprintf("order EM-0000-%04d: somebody has to look at this", i))
		w.exec(fmt.Sprintf(`INSERT INTO mismatches (consumer_id, endpoint_id, key, key_short, sum, fields, first_request, first_seen, request_id, first_at, last_at, times)
			VALUES (1, (SELECT min(id) FROM endpoints), '%s', '%s', x'%064x', 'items shipping.address.line1', 'a', 1, 'b', 1, %d, 1)`, id, id[:13], i, 1764500000000000+i))
	}
}

// TestALongListLooksRight: wherever the keyboard goes in it, one sees it, however narrow the screen.
func TestALongListLooksRight(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	w := newWorldOfItsOwn(t, database{dir: t.TempDir()})
	w.longLists()
	b := w.visitor().in("nl").atTheDesk()
	for path, row := range map[string]string{"/admin/attention": "flag-row", "/admin/mismatches": "mismatch-row"} {
		b.open(path)
		b.shows(row)
		b.looksRight("many "+path[1:], "nl")
		b.click("older")
		b.shows("newer")
	}
}

// TestBordersCarryEveryStateOfTheDesk covers B40 at the desk, for people whose system gives every page its own
// few colours.
func TestBordersCarryEveryStateOfTheDesk(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	w := newWorldOfItsOwn(t, database{dir: t.TempDir()})
	number := w.paidOrder()
	b := w.visitor()
	b.prefers("light", &emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	b.atTheDesk()
	b.until("matchMedia('(forced-colors: active)').matches")
	b.open("/admin/orders")
	b.shows("order-row")
	for _, part := range []string{".head", ".demobar", "#q", ".button.quiet", ".table-region", ".desk-tag", ".foot"} {
		b.edge(part)
	}
	for _, list := range []string{"header .desk-nav", "main .desk-nav"} {
		outline := func(selector string) string {
			return b.js(`getComputedStyle(document.querySelector(` + quote(list+" "+selector) + `)).outlineStyle`)
		}
		if here, other := outline("[aria-current]"), outline("a:not([aria-current])"); here == "none" || here == other {
			t.Errorf("in %s one does not see where one is: %s and %s", list, here, other)
		}
	}
	b.click("order-" + number)
	b.shows("payment")
	b.edge(".box")
	b.click("to-refund")
	b.shows("action-form")
	b.write("field-amount", "many")
	b.click("do")
	b.shows("error-summary")
	for _, part := range []string{".notice.danger", ".field-bad", "#amount", `[data-testid="do"]`} {
		b.edge(part)
	}
	b.open("/admin/dead")
	b.edge(".desk-empty")
	b.open("/admin/nothing")
	b.shows("problem")
	for _, part := range []string{".panel", `[data-testid="way-on"]`} {
		b.edge(part)
	}
}

// TestTheDeskIsPrinted looks at a list, an order and a flag as a printer does: all that they tell, in ink on
// paper, and nothing to press.
func TestTheDeskIsPrinted(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	w := newWorldOfItsOwn(t, database{dir: t.TempDir()})
	number := w.paidOrder()
	flag := w.flagged("paid_in_vain", newKey(), "order EM-0000-0000 was paid already")
	b := w.visitor().in("nl").atTheDesk()
	for path, parts := range map[string][]string{
		"/admin/orders": {number, "sanne@example.nl", "Betaald"}, "/admin/orders/" + number: {number, "Keizersgracht", "Betalingen", "Sleutels"},
		"/admin/attention/" + flag: {"EM-0000-0000"},
	} {
		b.open(path)
		b.until("document.readyState === 'complete'")
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		for _, part := range parts {
			if b.js("document.body.innerText.includes("+quote(part)+")") != "true" {
				t.Errorf("%s does not print %q", path, part)
			}
		}
		if seen := b.js("[...document.querySelectorAll('button, input, nav, .demobar, footer')].filter((e) => e.checkVisibility()).length"); seen != "0" {
			t.Errorf("%s prints %s things to press", path, seen)
		}
		if text := b.js("getComputedStyle(document.body).color"); text != "rgb(28, 27, 25)" {
			t.Errorf("%s is printed in %s", path, text)
		}
		if cut := b.js("[...document.querySelectorAll('.table-region')].filter((e) => getComputedStyle(e).overflowX !== 'visible').length"); cut != "0" {
			t.Errorf("%s cuts off what is wide", path)
		}
		b.keepWhole("print " + path[1:])
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	}
}
