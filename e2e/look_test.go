package e2e

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// pageProblems lists what is wrong with a page.
//
//go:embed look.js
var pageProblems string

// looksRight checks what every page owes everybody: on a phone, on a screen, on a screen at twice the size,
// by day and by night. With EENMAAL_PICTURES_DIR set it leaves a picture of each there.
func (b *tab) looksRight(name, language string) {
	b.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		b.prefers(theme)
		for _, width := range []int64{320, 640, 1280} {
			b.do(chromedp.EmulateViewport(width, 900))
			how := fmt.Sprintf("%s (%s, %s, %d pixels wide)", name, language, theme, width)
			b.reports(how, "", "("+pageProblems+")("+quote(language)+").join('\\n')")
			// Colours and sizes have nothing to do with each other, so two of the pairs are enough for axe.
			if !b.plain && (theme == "light") == (width == 1280) && width != 640 {
				b.isAccessible(how)
			}
			if width != 640 {
				b.keepWhole(fmt.Sprintf("%s-%s-%s-%d", name, language, theme, width))
			}
		}
	}
}

// reports evaluates a script that gives the word "looked" and then a line for everything that is wrong. A
// page that goes on by itself is looked at again where it goes.
func (b *tab) reports(how, whose, script string) {
	b.t.Helper()
	var problems string
	eventually(b.t, patience, func() string { return how + " is looked at" }, func() (ok bool) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		report, err := chromedp.Run(ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
		problems, ok = strings.CutPrefix(report, "looked")
		return ok && err == nil
	})
	for problem := range strings.Lines(strings.TrimSpace(problems)) {
		b.t.Errorf("%s: %s%s", how, whose, strings.TrimSpace(problem))
	}
}

// prefers makes a browser that likes light or dark, and little motion.
func (b *tab) prefers(theme string, more ...*emulation.MediaFeature) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: append([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}, more...)})
}

// axe is a collection of checks of accessibility. It is put into pages by the browser's own tools, so that
// the pages' policy stays as it is.
var axe = sync.OnceValues(func() (string, error) {
	source, err := os.ReadFile(filepath.Join("..", ".tools", "axe.min.js"))
	return string(source), err
})

// violations runs axe and lists what it is sure of.
const violations = `axe.run({exclude: [%s]}, {preload: false, resultTypes: ["violations"], rules: {"target-size": {enabled: true}}}).then((found) => "looked" +
	found.violations.map((v) => "\n" + v.id + ", " + v.help + ": " + v.nodes.map((n) => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).join("; ")).join(""))`

// isAccessible checks the page with axe, as it is now, but for the parts that selectors name.
func (b *tab) isAccessible(how string, except ...string) {
	b.t.Helper()
	source, err := axe()
	if err != nil {
		if everything {
			b.t.Fatalf("axe is not there: make .tools/axe.min.js fetches it: %v", err)
		}
		b.t.Log("NOT TESTED with axe: make .tools/axe.min.js fetches it")
		return
	}
	for i, selector := range except {
		except[i] = quote(selector)
	}
	b.reports(how, "axe: ", source+";\n"+fmt.Sprintf(violations, strings.Join(except, ", ")))
}

// keepWhole leaves a picture of the whole page for people to look at.
func (b *tab) keepWhole(name string) {
	b.t.Helper()
	dir := os.Getenv("EENMAAL_PICTURES_DIR")
	if dir == "" || b.plain {
		return
	}
	name = strings.NewReplacer(",", "", " ", "-", "/", "-").Replace(name)
	width, _ := strconv.ParseInt(b.js("innerWidth"), 10, 64)
	height, _ := strconv.ParseInt(b.js("document.scrollingElement.scrollHeight"), 10, 64)
	b.do(chromedp.EmulateViewport(width, height))
	time.Sleep(100 * time.Millisecond) // what moves comes to rest
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b.picture(), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(width, 900))
}
