package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTheContractCanBeTriedOut opens /docs, calls the API from there, and calls it again: the second
// call is a replay. That nothing comes from another host and no policy is violated, every tab checks.
func TestTheContractCanBeTriedOut(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	w := newWorld(t, database{dir: t.TempDir()})
	b := w.visitor()
	b.open("/docs")
	b.until(`document.querySelectorAll(".opblock").length >= 20`)
	if dir := os.Getenv("EENMAAL_DOCS_PICTURE"); dir != "" {
		b.keepPicture(dir, "docs")
	}
	b.isAccessible("the contract", ".swagger-ui") // that part is made elsewhere, and fails

	b.tryOut("listProducts")
	b.answers("listProducts", "200")

	b.tryOut("placeOrder")
	key := b.js(operation("placeOrder") + `.querySelector('[data-param-name="Idempotency-Key"] input').value`)
	if len(key) != 36 {
		t.Errorf("the Idempotency-Key is filled with %q", key)
	}
	b.answers("placeOrder", "201")
	if got := b.answerHeaders("placeOrder"); !strings.Contains(got, "idempotent-replayed: false") {
		t.Errorf("the first answer has %s", got)
	}
	b.pressOn(operation("placeOrder") + `.querySelector(".execute")`)
	b.until(b.headersOf("placeOrder") + `.includes("idempotent-replayed: true")`)
	if dir := os.Getenv("EENMAAL_DOCS_PICTURE"); dir != "" {
		b.keepPicture(dir, "docs-replay")
	}
	w.wants(counts{orders: 1})
}

// operation is the block of one operation.
func operation(id string) string { return `document.querySelector('[id$="-` + id + `"]')` }

// tryOut opens an operation and executes its example.
func (b *tab) tryOut(id string) {
	b.t.Helper()
	b.pressOn(operation(id) + `.querySelector(".opblock-summary-control")`)
	b.pressOn(operation(id) + `?.querySelector(".execute")`)
}

// pressOn waits for an element and presses it. Not by the mouse: an operation that opens scrolls itself into
// view, for as long as the machine takes, and what the mouse aims at moves away from under it.
func (b *tab) pressOn(element string) {
	b.t.Helper()
	b.until("!!" + element)
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("("+element+".click(), true)")); err != nil {
		b.t.Fatal(err)
	}
}

// answers waits until an operation shows the status of its answer.
func (b *tab) answers(id, status string) {
	b.t.Helper()
	b.until(operation(id) + `.querySelector(".live-responses-table tbody .response-col_status")?.innerText.trim() === "` + status + `"`)
}

func (b *tab) headersOf(id string) string {
	return operation(id) + `.querySelector(".live-responses-table")?.innerText`
}

func (b *tab) answerHeaders(id string) string { return b.js(b.headersOf(id)) }
