package e2e

import (
	"regexp"
	"strings"
	"testing"
)

// TestEveryPageOfTheDesk follows every link of the desk and looks at each kind of page once. Looking changes
// nothing there either.
func TestEveryPageOfTheDesk(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	for _, language := range []string{"en", "nl"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			w := newWorldWithBank(t, database{dir: t.TempDir()})
			b := w.visitor().in(language)
			b.open("/admin")
			b.shows("sign-in-form")
			b.looksRight("the desk's door", language)
			b.click("sign-in")
			b.shows("staff")
			b.looksRight("the desk, nothing yet", language)
			b.makesBusiness()
			before := w.counts()
			seen := b.walkTheDesk(language)
			if len(seen) < 3 {
				t.Errorf("the walk came by %v only", seen)
			}
			w.wants(before)
			for _, failure := range b.seen(&b.failures) {
				if !strings.Contains(failure, " answers 4") {
					t.Errorf("on the way: %s", failure)
				}
			}
		})
	}
}

// makesBusiness gives the desk something to show: an order that is paid, one that was declined, one that
// waits at the bank, and a message.
func (b *tab) makesBusiness() {
	b.t.Helper()
	b.toReview("tok_ok")
	b.click("pay")
	b.shows("order-paid")
	b.toReview("tok_declined")
	b.click("pay")
	b.shows("declined")
	b.toBank("ideal")
	b.writeMessage("Hallo") // in any language
	b.click("send")
	b.shows("received")
}

// deskLinks are the pages of the desk that a page leads to. The console of the jobs is made elsewhere.
const deskLinks = `[...new Set([...document.querySelectorAll("a[href]:not([download])")].map((a) => a.pathname + a.search)
	.filter((p) => /^(\/nl)?\/admin(?!\/river)/.test(p)))].join("\n")`

// numbered is what differs between two pages of one kind.
var numbered = regexp.MustCompile(`EM-[0-9A-Z]{4}-[0-9A-Z]+|C-[0-9A-Z]+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9]+|=[^&]*`)

// walkTheDesk looks at one page of each kind and gives the kinds.
func (b *tab) walkTheDesk(language string) map[string]bool {
	b.t.Helper()
	seen := map[string]bool{}
	kind := func(address string) string { return numbered.ReplaceAllString(strings.TrimPrefix(address, "/nl"), "") }
	ahead := []string{b.prefix + "/admin/orders"}
	for len(ahead) > 0 && len(seen) < 60 {
		address := ahead[0]
		ahead = ahead[1:]
		if seen[kind(address)] {
			continue
		}
		seen[kind(address)] = true
		b.goTo(b.base + address)
		b.until("document.readyState === 'complete' && !!" + find("staff"))
		if !strings.Contains(b.js("location.pathname"), "/admin") || strings.Contains(address, "lang=") {
			continue
		}
		b.looksRight("the desk "+kind(address), language)
		ahead = append(ahead, strings.Fields(b.js(deskLinks))...)
	}
	return seen
}
