package e2e

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a page may take to show what it should.
const patience = 30 * time.Second

// tab is one tab of the browser. Tabs of one visitor share their cookies.
type tab struct {
	t      *testing.T
	ctx    context.Context //nolint:containedctx // how chromedp holds a tab
	base   string          // the shop's address
	prefix string          // of the language: "" or "/nl"
	front  *proxy          // in front of the shop
	pages  string          // the bank's address, where a tab may go too; empty: nowhere
	plain  bool            // runs no scripts

	mu       sync.Mutex
	troubles []string // what no page may do: foreign requests, violated policies, failing scripts
	failures []string // requests that failed; some tests make them fail
	requests []string // all of them
}

// visitor is a browser window of somebody new.
func (w *world) visitor() *tab { w.t.Helper(); return newTab(w.t, browser, w.front, w.pages, true) }

// visitorWithMemory has a browser whose Back restores a page as it was left, forms and all.
func (w *world) visitorWithMemory() *tab {
	w.t.Helper()
	other, err := restoring()
	if err != nil {
		w.t.Fatal(err)
	}
	return newTab(w.t, other, w.front, w.pages, true)
}

// another opens a second tab of the same visitor.
func (b *tab) another() *tab {
	b.t.Helper()
	second := newTab(b.t, b.ctx, b.front, b.pages, false)
	second.prefix = b.prefix
	return second
}

func newTab(t *testing.T, parent context.Context, front *proxy, pages string, person bool) *tab {
	t.Helper()
	var options []chromedp.ContextOption
	if person {
		options = append(options, chromedp.WithNewBrowserContext())
	}
	ctx, cancel := chromedp.NewContext(parent, options...)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 4*time.Minute) // no test waits longer for one tab
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx, base: front.url, front: front, pages: pages}
	b.do(chromedp.EmulateViewport(1200, 900))
	call(b, network.Enable, network.EnableParams{})
	b.watch()
	t.Cleanup(func() {
		for _, trouble := range b.seen(&b.troubles) {
			t.Error(trouble)
		}
		if t.Failed() {
			t.Logf("the tab is at %s and shows:\n%s", b.js("location.href"), b.js("document.body?.innerText"))
		}
	})
	return b
}

// watch collects what goes wrong behind a page.
func (b *tab) watch() {
	requests := chromedp.Events(b.ctx, network.RequestWillBeSent)
	responses := chromedp.Events(b.ctx, network.ResponseReceived)
	failures := chromedp.Events(b.ctx, network.LoadingFailed)
	console := chromedp.Console(b.ctx)
	go func() {
		for ev, err := range requests {
			if err != nil {
				return
			}
			b.add(&b.requests, ev.Request.URL)
			ours := strings.HasPrefix(ev.Request.URL, b.base+"/") || b.pages != "" && strings.HasPrefix(ev.Request.URL, b.pages+"/testbank/")
			if !ours && !strings.HasPrefix(ev.Request.URL, "data:") {
				b.add(&b.troubles, "a request to somebody else: "+ev.Request.URL)
			}
		}
	}()
	go func() {
		for ev, err := range responses {
			if err != nil {
				return
			}
			if ev.Response.Status >= 400 {
				b.add(&b.failures, fmt.Sprintf("%s answers %d", ev.Response.URL, ev.Response.Status))
			}
		}
	}()
	go func() {
		for ev, err := range failures {
			if err != nil {
				return
			}
			b.add(&b.failures, fmt.Sprintf("a request (%s) failed: %s", ev.Type, ev.ErrorText))
		}
	}()
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			if m.Source == "network" {
				continue // the failures above, once more
			}
			switch m.Type {
			case chromedp.ConsoleError, chromedp.ConsoleException, chromedp.ConsoleWarning:
				b.add(&b.troubles, fmt.Sprintf("the browser's console says %s: %s (%s:%d)", m.Type, m.Text, m.URL, m.Line+1))
			default:
			}
		}
	}()
}

func (b *tab) add(list *[]string, what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*list = append(*list, what)
}

func (b *tab) seen(list *[]string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), *list...)
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// withoutScripts makes a browser that runs no scripts.
func (b *tab) withoutScripts() *tab {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.plain = true
	return b
}

// in makes a browser that prefers a language, on the pages in that language.
func (b *tab) in(language string) *tab {
	b.t.Helper()
	if language == "nl" {
		b.prefix = "/nl"
	}
	call(b, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": language}})
	return b
}

// open goes to a page of the shop, in the visitor's language.
func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + b.prefix + path))
}

// goTo goes to an address, which may be the bank's.
func (b *tab) goTo(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// js gives the value of an expression as text, or "" while there is none, such as between two pages.
func (b *tab) js(expression string) string {
	ctx, cancel := context.WithTimeout(b.ctx, patience/2)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String(("+expression+") ?? '')"))
	if err != nil {
		return ""
	}
	return value
}

// until waits until a condition of the page is true.
func (b *tab) until(condition string) {
	b.t.Helper()
	b.untilWithin(patience, condition)
}

func (b *tab) untilWithin(within time.Duration, condition string) {
	b.t.Helper()
	eventually(b.t, within, func() string { return condition + "; the page is " + b.where() },
		func() bool { return b.js(condition) == "true" })
}

func (b *tab) where() string { return b.js("location.pathname + ' “' + document.title + '”'") }

func find(id string) string { return `document.querySelector('[data-testid="` + id + `"]')` }

// shows waits until the page is loaded and has an element with this test id.
func (b *tab) shows(id string) {
	b.t.Helper()
	b.until("document.readyState === 'complete' && !!" + find(id))
}

// has reports whether the page has an element now.
func (b *tab) has(id string) bool { return b.js("!!"+find(id)) == "true" }

// text is what an element says.
func (b *tab) text(id string) string { return b.js(find(id) + "?.innerText.trim()") }

// value is what the first input of this name holds.
func (b *tab) value(name string) string {
	return b.js(`document.querySelector('[name="` + name + `"]')?.value`)
}

// path is where the tab is, without the language.
func (b *tab) path() string { return strings.TrimPrefix(b.js("location.pathname"), b.prefix) }

// reload loads the page again, as F5 does, and waits for it.
func (b *tab) reload() {
	b.t.Helper()
	b.js("window.before = true")
	call(b, page.Reload, page.ReloadParams{})
	b.until("!window.before && document.readyState === 'complete'")
}

// reloadError presses F5 on the browser's own error page, which has no scripts to ask.
func (b *tab) reloadError() {
	b.t.Helper()
	call(b, page.Reload, page.ReloadParams{})
}

// back is the browser's Back button. It does not wait for the page, which may come from memory.
func (b *tab) back() {
	b.t.Helper()
	history := call(b, page.GetNavigationHistory, cdp.Empty{})
	if history.CurrentIndex == 0 {
		b.t.Fatal("there is no page to go back to")
	}
	call(b, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: history.Entries[history.CurrentIndex-1].ID})
}

// point scrolls to the element with a test id and gives its middle.
func (b *tab) point(id string) (x, y float64) {
	b.t.Helper()
	b.shows(id)
	return b.pointOf(find(id))
}

// pointOf gives the middle of an element, or of its first line when it goes on in the next.
func (b *tab) pointOf(element string) (x, y float64) {
	b.t.Helper()
	eventually(b.t, patience, func() string { return "where is " + element }, func() bool {
		at := b.js("(() => { const e = " + element + "; e.scrollIntoView({block: 'center', behavior: 'instant'}); " +
			"const r = e.getClientRects()[0]; return (r.x + r.width / 2) + ' ' + (r.y + r.height / 2) })()")
		_, err := fmt.Sscan(at, &x, &y)
		return err == nil
	})
	return x, y
}

// click presses the left mouse button on an element.
func (b *tab) click(id string) {
	b.t.Helper()
	b.shows(id)
	b.clickOn(find(id))
}

func (b *tab) clickOn(element string) {
	b.t.Helper()
	x, y := b.pointOf(element)
	b.do(chromedp.MouseClickXY(x, y))
}

// clicks presses several times, with pauses between the presses. The clicks of a hand that is quick
// enough count up, as in a double click.
func (b *tab) clicks(id string, times int, pause time.Duration) {
	b.t.Helper()
	x, y := b.point(id)
	sent := b.front.count("")
	for i := range times {
		count := 1
		if i > 0 {
			time.Sleep(pause)
			b.awaitPost(sent)
			if pause < 500*time.Millisecond {
				count = i + 1
			}
		}
		// No reply is waited for: the page may be leaving.
		ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
		_ = chromedp.Do(ctx, chromedp.MouseClickXY(x, y, chromedp.ClickCount(count)))
		cancel()
	}
}

// awaitPost waits, in a browser without scripts, until the server has seen more POSTs than before. On a
// busy machine a browser would otherwise make one of two presses, and there would be nothing to test.
func (b *tab) awaitPost(before int) {
	for end := time.Now().Add(5 * time.Second); b.plain && b.front.count("") <= before && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
}

// doubleClick is one: two presses a tenth of a second apart.
func (b *tab) doubleClick(id string) { b.t.Helper(); b.clicks(id, 2, 100*time.Millisecond) }

// press presses keys on the keyboard.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// focus moves the keyboard to an element.
func (b *tab) focus(id string) {
	b.t.Helper()
	b.shows(id)
	b.do(chromedp.Focus(chromedp.CSS(`[data-testid="` + id + `"]`)))
}

// enter presses the Enter key.
const enter = kb.Enter

// write replaces what a field holds.
func (b *tab) write(id, text string) {
	b.t.Helper()
	b.click(id)
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	if text == "" {
		b.press(kb.Delete)
		return
	}
	call(b, input.InsertText, input.InsertTextParams{Text: text})
}

// offline cuts the tab's network, or gives it back.
func (b *tab) offline(yes bool) {
	b.t.Helper()
	call(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: yes, DownloadThroughput: -1, UploadThroughput: -1}},
	})
	call(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: yes, DownloadThroughput: -1, UploadThroughput: -1})
}

// picture takes one of the window as it is.
func (b *tab) picture() []byte {
	b.t.Helper()
	return call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng}).Data
}

// form is a posted form as the server saw it.
func (p post) form(t *testing.T) url.Values {
	t.Helper()
	values, err := url.ParseQuery(p.body)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func quote(s string) string { return strconv.Quote(s) }
