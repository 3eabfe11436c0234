package e2e

import (
	"testing"
	"time"
)

// writeMessage opens the contact form and fills it in.
func (b *tab) writeMessage(text string) {
	b.t.Helper()
	b.open("/contact")
	b.shows("contact-form")
	b.write("field-name", "Sanne de Vries")
	b.write("field-email", "sanne@example.nl")
	b.write("field-message", text)
}

var message = counts{messages: 1}

// T17 and, without scripts, T19.
func TestB37_DoubleClickSendsOneMessage(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		for _, scripts := range []bool{true, false} {
			w := newWorld(t, database{dir: t.TempDir(), url: db.url})
			before := w.counts().messages
			b := w.visitor()
			if !scripts {
				b.withoutScripts()
			}
			b.writeMessage("Do you repair mugs?")
			path := b.path()
			w.front.on(path, -1, holdAnswer(1500*time.Millisecond))
			b.doubleClick("send")
			b.shows("received")
			reference := b.text("reference")
			b.reload()
			b.shows("received")
			if got := b.text("reference"); reference == "" || got != reference {
				t.Errorf("the reference is %q, and after a reload %q", reference, got)
			}
			w.wants(counts{messages: before + 1})
			switch n := w.front.count(path); {
			case scripts && n != 1:
				t.Errorf("with scripts the server saw %d presses, want 1", n)
			case !scripts && n < 2:
				t.Errorf("without scripts the server saw %d presses, want at least 2", n)
			}
		}
	})
}

func TestB38_AfterADeadlineTheMessageIsSentAgain(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.writeMessage("Do you repair mugs?")
		path := b.path()
		w.front.on(path, 1, holdAnswer(3*time.Second))
		w.front.on(path, 1, dropAnswer)
		b.js("Object.assign(" + find("contact-form") + ".dataset, {deadline: 700})")
		b.click("send")
		b.shows("received")
		w.wants(message)
		presses := w.front.seen(path)
		if len(presses) < 3 {
			t.Fatalf("the server saw %d presses, want at least 3", len(presses))
		}
		for _, press := range presses {
			if press.key == "" || press.key != presses[0].key || press.form(t).Get("key") != press.key {
				t.Errorf("a press has the key %q in its header and %q in its form, the first had %q", press.key, press.form(t).Get("key"), presses[0].key)
			}
		}
	})
}

// T19: no scripts, and the browser itself sends the form once more.
func TestB38_ANativeFormIsSentAgainByReload(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor().withoutScripts()
		b.writeMessage("Do you repair mugs?")
		path := b.path()
		w.front.on(path, -1, dropAnswer)
		b.click("send")
		b.until("location.protocol === 'chrome-error:'")
		w.front.heal()
		b.reloadError()
		b.shows("received")
		w.wants(message)
		if n := w.front.count(path); n < 2 {
			t.Errorf("the server saw %d presses, want at least 2", n)
		}
	})
}

// Back restores the form; a changed text is another message, which is sent only when the person says so.
func TestB39_BackAndOtherTextOffersANewMessage(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitorWithMemory().withoutScripts()
		b.writeMessage("Do you repair mugs?")
		b.click("send")
		b.shows("received")
		b.back()
		b.until("!" + find("received"))
		if !b.has("contact-form") {
			t.Fatal("the browser did not restore the page from memory: the test is void")
		}
		b.offersNewMessage(w)
	})
}

// A second tab has the same form. With scripts both tabs also have the same key.
func TestB39_ASecondTabWithOtherTextOffersANewMessage(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.writeMessage("Do you repair mugs?")
		second := b.another()
		second.open(b.path())
		second.shows("contact-form")
		second.write("field-email", "sanne@example.nl")
		b.click("send")
		b.shows("received")
		second.offersNewMessage(w)
	})
}

func (b *tab) offersNewMessage(w *world) {
	b.t.Helper()
	b.write("field-message", "Do you repair vases?")
	b.click("send")
	b.shows("contact-again")
	if got := b.js(find("field-message") + ".value"); got != "Do you repair vases?" {
		b.t.Errorf("the form holds %q, want what was typed", got)
	}
	if got := b.text("send"); got != "Send a new message" {
		b.t.Errorf("the button says %q, want Send a new message", got)
	}
	w.wants(message)
	b.click("send")
	b.shows("received")
	w.wants(counts{messages: 2})
}

func TestContactFormKeepsItsKey(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.writeMessage("Do you repair mugs?")
		path := b.path()
		w.front.on(path, -1, refuse)
		b.js("Object.assign(" + find("contact-form") + ".dataset, {tries: 1})")
		b.click("send")
		b.until(find("wait") + ".innerText.includes('We do not know yet if this arrived.')")
		w.wants(counts{})
		b.reload()
		b.shows("contact-form")
		b.write("field-email", "sanne@example.nl")
		b.write("field-message", "Do you repair mugs?")
		w.front.heal()
		b.click("send")
		b.shows("received")
		w.wants(message)
		presses := w.front.seen(path)
		if first, last := presses[0], presses[len(presses)-1]; first.key == "" || first.key != last.key {
			t.Errorf("before the reload the key was %q, after it %q", first.key, last.key)
		}
		b.click("send-new")
		b.shows("contact-form")
		if b.path() == path {
			t.Error("a new message has the address of the old one")
		}
	})
}

// The form comes back as it was left, while another tab has sent its message: it gives way to the truth.
func TestAPageRestoredFromMemoryAsksForTheTruth(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitorWithMemory()
		b.writeMessage("Do you repair mugs?")
		b.js("addEventListener('pageshow', (e) => sessionStorage.setItem('restored', e.persisted))")
		second := b.another()
		second.open(b.path())
		second.shows("contact-form")
		second.write("field-email", "sanne@example.nl")
		second.write("field-message", "Do you repair mugs?")
		b.click("brand")
		b.shows("product-mug")
		second.click("send")
		second.shows("received")
		b.back()
		b.shows("received")
		if b.js("sessionStorage.getItem('restored')") != "true" {
			t.Error("the browser did not restore the page from memory: the test is void")
		}
		w.wants(message)
	})
}
