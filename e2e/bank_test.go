package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// toBank orders a mug and goes to the bank's page.
func (b *tab) toBank(method string) {
	b.t.Helper()
	b.toReview(method)
	b.click("pay")
	b.atBank()
}

// atBank waits until the tab is at the bank, which asks for a choice.
func (b *tab) atBank() {
	b.t.Helper()
	b.until("location.origin === " + quote(b.pages) + " && document.readyState === 'complete' && !!" + choice("approve"))
}

func choice(name string) string { return `document.querySelector('button[value="` + name + `"]')` }

// choose presses one of the bank's buttons.
func (b *tab) choose(name string) {
	b.t.Helper()
	b.atBank()
	b.clickOn(choice(name))
}

// says waits until an element says something.
func (b *tab) says(id, sentence string) {
	b.t.Helper()
	b.shows(id)
	b.until(find(id) + "?.innerText.includes(" + quote(sentence) + ")")
}

// paymentID is the id of the nth payment.
func (w *world) paymentID(n int) (id string) {
	w.t.Helper()
	query := fmt.Sprintf("SELECT id FROM payments ORDER BY id LIMIT 1 OFFSET %d", n-1)
	if err := w.sql.QueryRowContext(w.t.Context(), query).Scan(&id); err != nil {
		w.t.Fatal(err)
	}
	return id
}

func TestB15_ApprovedAtTheBank(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		b := w.visitor()
		b.toBank("ideal")
		w.wants(counts{orders: 1})
		b.choose("approve")
		b.shows("order-paid")
		w.wants(once)
	})
}

func TestB15_GoedgekeurdBijDeBankZonderScripts(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		b := w.visitor().in("nl").withoutScripts()
		b.toReview("tok_3ds")
		w.bankAwaits(2, 800*time.Millisecond)
		b.doubleClick("pay")
		b.choose("approve")
		b.shows("order-paid")
		if got := b.js("location.pathname"); !strings.HasPrefix(got, "/nl/orders/") {
			t.Errorf("the bank led back to %s, want the Dutch page", got)
		}
		w.wants(once)
		w.sawPresses(2)
	})
}

func TestB15_DeclinedAtTheBankAndPaidByCard(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		b := w.visitor()
		b.toBank("tok_3ds")
		b.choose("decline")
		b.says("declined", "Your bank declined this card. Nothing was charged.")
		w.wants(counts{orders: 1})
		b.click("method-tok_ok")
		b.click("to-review")
		b.click("pay")
		b.shows("order-paid")
		w.wants(once)
	})
}

func TestB16_CancelledAtTheBankIsNotCharged(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		b := w.visitor()
		b.toBank("ideal")
		b.choose("cancel")
		b.says("declined", "You cancelled at the bank, or the time there ran out. Nothing was charged.")
		w.wants(counts{orders: 1})
		b.click("method-ideal")
		b.click("to-review")
		b.click("pay")
		b.choose("approve")
		b.shows("order-paid")
		w.wants(once)
	})
}

func TestB17_ApprovedAndNeverReturned(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		b := w.visitor()
		b.toReview("ideal")
		attempt := strings.TrimSuffix(b.path(), "/review")
		b.click("pay")
		b.choose("stay")
		b.until("!" + choice("approve"))
		w.wants(once) // without anybody at the shop
		later := b.another()
		later.open(attempt)
		later.shows("already-paid")
		later.click("see-order")
		later.shows("order-paid")
		later.shows("mail-sent")
		w.wants(once)
	})
}

func TestB18_BackBeforeTheNews(t *testing.T) {
	needBrowser(t)
	for _, scripts := range []bool{true, false} {
		t.Run(map[bool]string{true: "WithScripts", false: "WithoutScripts"}[scripts], func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, db database) {
				w := newWorldWithBank(t, db)
				b := w.visitor()
				if !scripts {
					b.withoutScripts()
				}
				b.toBank("ideal")
				held := make(chan struct{})
				w.news.on("", -1, func(p *proxy, out http.ResponseWriter, r *http.Request) {
					<-held
					p.forward.ServeHTTP(out, r)
				})
				b.choose("approve")
				b.says("at-bank", "The bank has not told us yet whether you paid.")
				if strings.Contains(b.text("payment-status"), "othing was charged") {
					t.Error("the page guesses")
				}
				number := b.text("order-number")
				close(held)
				b.shows("order-paid") // by itself
				if got := b.text("order-number"); got != number {
					t.Errorf("the order is %s, the waiting page said %s", got, number)
				}
				w.wants(once)
			})
		})
	}
}

// The visitor's cookie comes along from the bank, which is another site (S19): without it the page would be
// the plain one.
func TestB19_TheNewsBeforeTheReturn(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		b := w.visitor()
		b.toBank("ideal")
		b.choose("stay")
		b.until("!" + choice("approve"))
		w.wants(once)
		b.clickOn("document.querySelector('.away a')")
		b.shows("order-paid")
		if n := w.front.countGets("/status"); n != 1 {
			t.Errorf("the waiting page was asked for %d times, want once, on the way", n)
		}
		w.wants(once)
	})
}

// TestTroubleWithTheNewsPaysOnce: late, three times, before the answer, out of order, or answered into
// the void.
func TestTroubleWithTheNewsPaysOnce(t *testing.T) {
	needBrowser(t)
	for _, trouble := range []string{"late", "thrice", "early", "disorder", "lost"} {
		t.Run(trouble, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, db database) {
				w := newWorldWithBank(t, db)
				b := w.visitor()
				b.toBank("ideal")
				button, atLeast := trouble, 1
				switch trouble {
				case "thrice":
					atLeast = 3
				case "disorder":
					atLeast = 2
				case "lost":
					w.news.on("", 2, dropAnswer)
					button, atLeast = "approve", 3
				}
				told := w.news.count("")
				b.choose(button)
				b.shows("order-paid")
				eventually(t, patience, func() string { return "as many events as the trouble makes" },
					func() bool { return w.news.count("")-told >= atLeast })
				w.wants(once)
			})
		})
	}
}

// TestTheNewsThatNeverComes: the bank was told to say nothing, so the shop asks by itself. The customer
// does nothing but wait.
func TestTheNewsThatNeverComes(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		b := w.visitor()
		b.toBank("ideal")
		told := w.news.count("")
		b.choose("never")
		b.says("at-bank", "The bank has not told us yet whether you paid.")
		eventually(t, 90*time.Second, func() string { return "an order that is paid; there are " + w.counts().String() },
			func() bool { return w.counts().paid == 1 })
		b.shows("order-paid") // by itself
		w.wants(once)
		if n := w.news.count(""); n != told {
			t.Errorf("the bank has told something after all: %d events, %d before", n, told)
		}
	})
}

func TestBackFromTheBankFindsThePayment(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		for _, b := range []*tab{w.visitor(), w.visitorWithMemory()} {
			before := w.counts()
			b.toBank("ideal")
			b.back()
			b.shows("at-bank")
			b.click("to-bank")
			b.choose("approve")
			b.shows("order-paid")
			w.wants(counts{orders: before.orders + 1, paid: before.paid + 1, charges: before.charges + 1, mails: before.mails + 1})
		}
	})
}

func TestTwoTabsAtTheBankPayOnce(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		first := w.visitor()
		first.toReview("ideal")
		second := first.another()
		second.open(first.path())
		second.shows("pay-form")
		first.click("pay")
		second.click("pay")
		first.atBank()
		second.atBank()
		if a, b := first.js("location.href"), second.js("location.href"); a != b {
			t.Errorf("the tabs are at %s and %s, want one payment", a, b)
		}
		first.choose("approve")
		first.shows("order-paid")
		second.clickOn(choice("approve"))
		second.until("!" + choice("approve"))
		second.clickOn("document.querySelector('.away a')")
		second.shows("order-paid")
		w.wants(once)
		w.sawPresses(2)
	})
}

// TestPaidInTwoWaysIsKeptOnce: the customer leaves the bank, pays by card, and approves at the bank after
// all. What is too much is given back by itself.
func TestPaidInTwoWaysIsKeptOnce(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		b := w.visitor()
		b.toBank("ideal")
		atBank := b.another()
		atBank.goTo(b.js("location.href"))
		b.back()
		b.click("pay-otherwise")
		b.says("still-at-bank", "what you paid twice comes back to you by itself")
		b.click("method-tok_ok")
		b.click("to-review")
		b.click("pay")
		b.shows("order-paid")
		w.wants(once)
		atBank.choose("approve")
		atBank.shows("order-paid")
		w.wants(counts{orders: 1, paid: 1, charges: 1, refunds: 1, mails: 3})
		b.reload()
		b.says("refunds", "You paid twice. We kept one payment and gave €23.45 back.")
	})
}

// TestAnotherBrowserLearnsLittle: the customer's bank may open its app, and that another browser. S23, S24.
func TestAnotherBrowserLearnsLittle(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		b := w.visitor()
		b.toBank("ideal")
		payment := w.paymentID(1)
		other := w.visitor()
		for range 3 { // T41
			other.open("/return/" + payment + "?status=paid")
			other.shows("return-pending")
		}
		w.wants(counts{orders: 1})
		b.choose("approve")
		b.shows("order-paid")
		other.shows("return-paid") // by itself
		number := b.text("order-number")
		if page := other.js("document.documentElement.outerHTML"); strings.Contains(page, number) || strings.Contains(page, "sanne") {
			t.Error("the page tells whose payment it is")
		}
		w.wants(once)
	})
}

func TestAnAPIsCustomerComesBackToAPlainPage(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorldWithBank(t, db)
		c := client{t, w.front.url}
		order, _ := c.order(newKey())
		got := c.postUntilFinal("/v1/payments", newKey(), `{"order_id":"`+order+`","method":{"type":"ideal"},"capture":"automatic"}`)
		var payment struct {
			Next struct {
				URL string `json:"redirect_url"`
			} `json:"next_action"`
		}
		if err := json.Unmarshal([]byte(got.body), &payment); err != nil || got.status != http.StatusAccepted {
			t.Fatalf("paying is answered with %d: %s", got.status, got.body)
		}
		b := w.visitor()
		b.goTo(payment.Next.URL)
		b.choose("approve")
		b.shows("return-paid")
		w.wants(once)
	})
}
