package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// edges is a script that says how the borders of an element are drawn, colours apart; "" when they are not.
const edges = `((e) => {
	const s = getComputedStyle(e);
	const drawn = ["Top", "Right", "Bottom", "Left"].map((side) => [s["border" + side + "Width"], s["border" + side + "Style"]])
		.filter(([width, style]) => parseFloat(width) >= 1 && style !== "none").join(" ");
	const outline = s.outlineStyle === "none" ? "" : " and " + s.outlineWidth + " " + s.outlineStyle;
	return drawn && s.borderTopColor !== s.backgroundColor ? drawn + outline : "";
})`

// edge is how the border of the first element that a selector finds is drawn. It must be.
func (b *tab) edge(selector string) string {
	b.t.Helper()
	drawn := b.js(edges + "(document.querySelector(" + quote(selector) + "))")
	if drawn == "" {
		b.t.Errorf("%s has no border on %s", selector, b.where())
	}
	return drawn
}

// differs: who sees no colours sees by the border which of two is in some state.
func (b *tab) differs(one, other string) {
	b.t.Helper()
	if a, c := b.edge(one), b.edge(other); a == c {
		b.t.Errorf("%s and %s look the same on %s: %s", one, other, b.where(), a)
	}
}

// TestBordersCarryEveryState covers B40 for people whose system gives every page its own few colours.
func TestBordersCarryEveryState(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	w := newWorld(t, database{dir: t.TempDir()})
	b := w.visitor()
	b.prefers("light", &emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	b.open("/")
	b.until("matchMedia('(forced-colors: active)').matches")
	for _, part := range []string{".button", ".button.quiet", ".tile", ".tag", ".demobar", ".how", ".foot", ".head"} {
		b.edge(part)
	}
	b.putInBasket("mug")
	for _, part := range []string{".count", ".notice.ok", "#quantity"} {
		b.edge(part)
	}
	b.open("/basket")
	b.edge(".side")
	b.click("to-checkout")
	b.shows("details-form")
	b.click("to-review")
	b.shows("error-summary")
	b.edge(".notice.danger")
	b.differs("#line1", "#country") // what is wrong from what is right
	b.edge(".field-bad")
	b.differs(".choice:has(:checked)", ".choice:not(:has(:checked))")
	b.differs(".now .step-sign", "li:not(.now) .step-sign")
	b.fillDetails("tok_ok")
	b.click("to-review")
	b.shows("pay-form")
	ready := b.edge(`[data-testid="pay"]`)
	held := &holder{release: make(chan struct{})}
	w.front.on("/pay", -1, held.answer)
	b.click("pay")
	b.until(find("wait") + ".innerText.trim() !== ''")
	if busy := b.edge(`[data-testid="pay"]`); busy == ready {
		t.Errorf("one does not see that the button works: %s", busy)
	}
	b.edge(".wait")
	close(held.release)
	b.shows("order-paid")
	for _, part := range []string{".done-head", ".panel-sign", ".side"} {
		b.edge(part)
	}
	b.open("/nothing")
	b.shows("problem")
	b.edge(".panel")
}

// TestPagesAskForLittle: a page, its two style sheets, its two scripts and its sign; and nobody else is asked
// for anything, which every tab checks.
func TestPagesAskForLittle(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	w := newWorld(t, database{dir: t.TempDir()})
	b := w.visitor()
	b.toReview("tok_ok")
	review := b.path()
	for _, path := range []string{"/", "/nl", "/p/mug", "/basket", strings.TrimSuffix(review, "/review"), review, "/contact", "/mailbox", "/nothing"} {
		b.mu.Lock()
		b.requests = nil
		b.mu.Unlock()
		b.open(path)
		b.until("document.readyState === 'complete' && performance.getEntriesByType('resource').length >= 4")
		asked := map[string]bool{}
		for _, address := range b.seen(&b.requests) {
			if !strings.HasPrefix(address, "data:") {
				asked[address] = true
			}
		}
		if len(asked) < 5 || len(asked) > 7 { // the way to a contact form is one more
			t.Errorf("%s asks for %d things: %v", path, len(asked), asked)
		}
	}
}
