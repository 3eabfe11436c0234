package e2e

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// kept are the pictures that are in the repository, by the folder that they are in: those that the README
// shows, and the one that a link to the shop is shown with. The others are for looking at.
var kept = map[string]string{"home-light": "pictures", "home-dark": "pictures", "order-paid": "pictures", "share": "../web/ui/static"}

// TestPictures takes pictures of the shop. With EENMAAL_PICTURES set it leaves those that are kept in
// their folders; EENMAAL_PICTURES_DIR is where the others are left.
func TestPictures(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	dir := t.TempDir()
	if os.Getenv("EENMAAL_PICTURES_DIR") != "" {
		dir = os.Getenv("EENMAAL_PICTURES_DIR")
	}
	w := newWorld(t, database{dir: t.TempDir()})
	b := w.visitor()
	take := func(name, id string) {
		t.Helper()
		b.shows(id)
		b.until("[...document.images].every((i) => i.complete)")
		b.js("scrollTo({top: 0, behavior: 'instant'})")
		time.Sleep(200 * time.Millisecond) // what moves comes to rest
		b.keepPicture(dir, name)
	}
	see := func(width int64, theme string) {
		t.Helper()
		b.do(chromedp.EmulateViewport(width, 800))
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
	}
	see(1200, "dark")
	b.open("/")
	take("home-dark", "product-mug")
	see(1200, "light")
	take("home-light", "product-mug")
	b.do(chromedp.EmulateViewport(1200, 630))
	b.js("document.querySelectorAll('.demobar, nav').forEach((e) => e.remove())") // what a link shows is no page
	take("share", "brand")
	see(320, "light")
	b.open("/")
	take("home-narrow", "product-mug")
	see(1200, "light")
	b.open("/p/teapot")
	take("product", "add-to-basket")
	b.putInBasket("teapot")
	b.putInBasket("mug")
	b.open("/basket")
	take("basket", "to-checkout")
	b.click("to-checkout")
	b.shows("details-form")
	b.click("to-review")
	take("details-errors", "error-summary")
	see(320, "dark")
	take("details-errors-narrow", "error-summary")
	see(1200, "light")
	b.fillDetails("tok_declined")
	b.click("to-review")
	take("review", "pay-form")
	b.click("pay")
	take("declined", "declined")
	b.click("method-tok_ok")
	b.click("to-review")
	b.shows("pay-form")
	w.bank.on("/charges", -1, dropAnswer)
	b.click("pay")
	take("payment-unknown", "payment-status")
	w.bank.heal()
	b.click("check-now")
	take("order-paid", "order-paid")
	see(320, "light")
	take("order-paid-narrow", "order-paid")
	see(1200, "light")
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.do(chromedp.EmulateViewport(794, 1123)) // A4
	take("receipt", "order-paid")
	see(1200, "light")
	b.open("/orders")
	take("orders", "device-order")
	b.open("/contact")
	take("contact", "contact-form")
	b.open("/mailbox")
	take("mailbox", "mail")
}

// keepPicture takes a picture, checks that there is something in it and writes it down.
func (b *tab) keepPicture(dir, name string) {
	b.t.Helper()
	taken := b.picture()
	picture, err := png.Decode(bytes.NewReader(taken))
	if err != nil {
		b.t.Fatal(err)
	}
	colours := map[any]bool{}
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y += 5 {
		for x := bounds.Min.X; x < bounds.Max.X; x += 5 {
			colours[picture.At(x, y)] = true
		}
	}
	if len(colours) < 10 {
		b.t.Errorf("the picture %s has %d colours: it is empty", name, len(colours))
	}
	if kept[name] != "" && len(taken) > 300<<10 {
		b.t.Errorf("the picture %s takes %d kB, want at most 300", name, len(taken)>>10)
	}
	if kept[name] != "" && os.Getenv("EENMAAL_PICTURES") != "" {
		dir = kept[name]
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), taken, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
