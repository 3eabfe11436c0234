package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
)

// paidOrder lets a customer order and pay.
func (w *world) paidOrder() (number string) {
	w.t.Helper()
	b := w.visitor()
	b.toReview("tok_ok")
	b.click("pay")
	b.shows("order-paid")
	return b.text("order-number")
}

// staff is a browser window that is signed in at the desk.
func (w *world) staff() *tab { w.t.Helper(); return w.visitor().atTheDesk() }

// atTheDesk signs in as the demo lets everybody.
func (b *tab) atTheDesk() *tab {
	b.t.Helper()
	b.open("/admin")
	b.click("sign-in")
	b.shows("staff")
	return b
}

// TestARefundByADoubleClickIsOne covers T17 at the desk: two real presses without scripts, and one refund
// in the books of both sides.
func TestARefundByADoubleClickIsOne(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		for _, scripts := range []bool{false, true} {
			w := newWorldOfItsOwn(t, database{dir: t.TempDir(), url: freshURL(t, db)})
			number := w.paidOrder()
			b := w.visitor()
			if !scripts {
				b.withoutScripts()
			}
			b.atTheDesk()
			b.click("order-" + number)
			b.click("to-refund")
			b.shows("action-form")
			form := b.path()
			b.write("field-amount", "5.00")
			presses := 2
			if scripts {
				presses = 1 // the page's script keeps the second one back
			}
			w.front.on(form, -1, holdUntil(form, presses))
			b.doubleClick("do")
			b.shows("done")
			if said := b.text("done"); !strings.Contains(said, "€5.00") {
				t.Errorf("the page says %q", said)
			}
			if got := w.front.count(form); got < presses {
				t.Errorf("the server saw %d presses, want %d", got, presses)
			}
			eventually(t, patience, func() string { return "the provider gave €5.00 back" },
				func() bool { return ledger(t, w.psp.addr, number)[0].Refunded == 500 })
			b.open(form) // Back, or a bookmark: it shows what it did
			b.shows("done")
			w.wants(counts{orders: 1, paid: 1, charges: 1, mails: 2})
			if n := w.number("SELECT count(*) FROM modifications"); n != 1 {
				t.Errorf("%d refunds", n)
			}
			if got := ledger(t, w.psp.addr, number); len(got) != 1 || got[0].Refunded != 500 {
				t.Errorf("the ledger has %+v", got)
			}
			if n := w.number("SELECT count(*) FROM staff_actions WHERE staff = 'staff' AND action = 'refund'"); n != 1 {
				t.Errorf("%d actions are noted", n)
			}
		}
	})
}

// holdUntil lets the server do its work at once and gives its answer when it has seen so many presses: on a
// busy machine the second half of a double click comes late.
func holdUntil(suffix string, presses int) func(*proxy, http.ResponseWriter, *http.Request) {
	return func(p *proxy, w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		p.forward.ServeHTTP(recorded, r)
		for end := time.Now().Add(5 * time.Second); p.count(suffix) < presses && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		pass(w, recorded)
	}
}

// freshURL gives every world of a test a database of its own.
func freshURL(t *testing.T, db database) string {
	t.Helper()
	if db.url == "" {
		return ""
	}
	return newPostgres(t)
}

// passwordHash is what the shop's own command makes of a password.
func passwordHash(t *testing.T, password string) string {
	t.Helper()
	cmd := command([]string{"password"}, nil)
	cmd.Stdin = strings.NewReader(password + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("shop password: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// newLockedWorld has a desk with a password.
func newLockedWorld(t *testing.T, db database, password string) *world {
	t.Helper()
	addr := freeAddress()
	return openWorld(&world{t: t, db: db, psp: provider, front: newProxy(t, addr),
		env: settings{"ADMIN_USER": "eva", "ADMIN_PASSWORD_HASH": passwordHash(t, password)}}, addr)
}

// TestAPasswordOpensTheDeskAndGuessesLockIt covers S36 and S37.
func TestAPasswordOpensTheDeskAndGuessesLockIt(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newLockedWorld(t, db, "correct horse battery")
		try := func(b *tab, user, password string) {
			t.Helper()
			b.open("/admin/orders?status=paid")
			b.shows("sign-in-form")
			b.write("field-user", user)
			b.write("field-password", password)
			b.click("sign-in")
		}
		b := w.visitor()
		try(b, "eva", "correct horse battery")
		b.shows("list-empty")
		if got := b.js("location.pathname + location.search"); got != "/admin/orders?status=paid" {
			t.Errorf("after the sign-in at %s", got)
		}
		b.click("sign-out")
		b.shows("sign-in-form")
		b.back() // what the desk showed is not shown again
		b.shows("sign-in-form")
		for i := range 5 {
			try(b, "eva", fmt.Sprintf("wrong %d", i))
			b.shows("sign-in-problem")
			if said := b.text("sign-in-problem"); !strings.Contains(said, "do not belong together") {
				t.Errorf("a wrong password is told as %q", said)
			}
		}
		try(b, "eva", "correct horse battery")
		b.shows("sign-in-problem")
		if said := b.text("sign-in-problem"); !strings.Contains(said, "too many attempts") || !waitMinutes.MatchString(said) {
			t.Errorf("the lockout is told as %q", said)
		}
		if n := w.number("SELECT count(*) FROM staff_sessions"); n != 0 {
			t.Errorf("%d sessions", n)
		}
	})
}

// waitMinutes allows for a machine that was slow at the guesses.
var waitMinutes = regexp.MustCompile(`Wait (9|1[0-5]) minutes`)

// TestTheDeskLooksRight looks at the desk's pages in every way that people see them.
func TestTheDeskLooksRight(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	for _, language := range []string{"en", "nl"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			w := newWorldOfItsOwn(t, database{dir: t.TempDir()})
			b := w.visitor().in(language).withoutScripts()
			look := func(name, id string) {
				t.Helper()
				b.shows(id)
				b.looksRight(name, language)
			}
			b.open("/admin")
			look("sign-in", "sign-in-form")
			b.click("sign-in")
			look("no orders", "list-empty")
			number := w.paidOrder()
			b.open("/admin/orders")
			look("orders", "order-row")
			b.write("field-q", "nobody@example.nl")
			b.click("search")
			look("nothing found", "list-empty")
			b.write("field-q", "SANNE@example.nl")
			b.click("search")
			b.shows("order-" + number)
			b.click("filter-cancelled")
			b.shows("list-empty")
			b.click("filter-all")
			b.click("order-" + number)
			look("order", "payment")
			b.click("to-refund")
			look("refund", "action-form")
			b.write("field-amount", "many")
			b.click("do")
			look("refund with an error", "error-summary")
			if got := b.value("amount"); got != "many" {
				t.Errorf("the amount is %q, want what was typed", got)
			}
			b.write("field-amount", "1")
			b.click("do")
			look("refunded", "done")
			b.click("to-cancel")
			look("cancel", "action-form")
			b.click("do")
			look("cancelled", "done")
			b.open("/admin/orders/" + number + "/cancel")
			look("cancelled already", "action-problem")
		})
	}
}

// TestTheDeskByKeyboard signs in, finds an order and gives its money back without a mouse.
func TestTheDeskByKeyboard(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	w := newWorldOfItsOwn(t, database{dir: t.TempDir()})
	number := w.paidOrder()
	b := w.visitor()
	b.open("/admin/orders")
	b.tabTo("sign-in")
	b.press(enter)
	b.typeInto("field-q", number)
	b.press(enter)
	b.until("location.search.includes('q=')")
	b.tabTo("order-" + number)
	b.press(enter)
	b.tabTo("to-refund")
	b.press(enter)
	b.tabTo("do")
	b.press(enter)
	b.shows("done")
	w.wants(counts{orders: 1, paid: 1, refunds: 1, mails: 2})
}
