package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// T04: neither press shows an error.
func TestB01_DoubleClickWithoutScriptsPaysOnce(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		doubleClickWithoutScripts(t, db, "en", "Thank you, your order is paid")
	})
}

func TestB01_DubbelklikZonderScriptsBetaaltEenKeer(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		doubleClickWithoutScripts(t, db, "nl", "Bedankt, je bestelling is betaald")
	})
}

func doubleClickWithoutScripts(t *testing.T, db database, language, thanks string) {
	w := newWorld(t, db)
	b := w.visitor().in(language).withoutScripts()
	b.toReview("tok_ok")
	w.bankAwaits(2, 800*time.Millisecond)
	b.doubleClick("pay")
	b.shows("order-paid")
	if got := b.js("document.querySelector('h1').innerText"); got != thanks {
		t.Errorf("the page says %q, want %q", got, thanks)
	}
	if failures := b.seen(&b.failures); slices.ContainsFunc(failures, func(f string) bool { return strings.Contains(f, " answers ") }) {
		t.Errorf("an error was shown on the way: %v", failures)
	}
	w.wants(once)
	w.sawPresses(2)
}

// sawPresses: the test is void when the server did not see the presses that it is about.
func (w *world) sawPresses(atLeast int) {
	w.t.Helper()
	if n := w.front.count("/pay"); n < atLeast {
		w.t.Errorf("the server saw %d presses, want at least %d", n, atLeast)
	}
}

// replayed: one of the presses got the first one's answer, from its record or by waiting for it.
func (w *world) replayed(route string) {
	w.t.Helper()
	line := regexp.MustCompile(`route=` + regexp.QuoteMeta(route) + ` .*outcome=(replayed|waited)`)
	eventually(w.t, patience, func() string { return "a press of " + route + " is given the answer of the first" },
		func() bool { return line.MatchString(w.shop.out.String()) })
}

func TestB02_DoubleClickWithScriptsSendsOnce(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		w.slowBank(3 * time.Second)
		b.doubleClick("pay")
		b.until(find("pay") + ".getAttribute('aria-disabled') === 'true'")
		if got := b.text("pay"); got != "Working on it" {
			t.Errorf("the button says %q, want Working on it", got)
		}
		if b.js("getComputedStyle("+find("pay")+".querySelector('.spin')).display") == "none" {
			t.Error("the button shows no sign of work")
		}
		b.shows("order-paid")
		w.wants(once)
		if n := w.front.count("/pay"); n != 1 {
			t.Errorf("the server saw %d presses, want 1", n)
		}
	})
}

func TestB03_EnterTwicePaysOnce(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor().withoutScripts()
		b.toReview("tok_ok")
		w.bankAwaits(2, 800*time.Millisecond)
		b.focus("pay")
		sent := w.front.count("")
		b.press(enter)
		time.Sleep(100 * time.Millisecond)
		b.awaitPost(sent)
		b.press(enter)
		b.shows("order-paid")
		w.wants(once)
		w.sawPresses(2)
	})
}

// T11: while the first press waits for the bank, no other one asks it.
func TestB04_FiveClicksInTwoSecondsPayOnce(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor().withoutScripts()
		b.toReview("tok_ok")
		w.slowBank(2500 * time.Millisecond)
		b.clicks("pay", 5, 400*time.Millisecond)
		b.shows("order-paid")
		w.wants(once)
		w.sawPresses(2)
		if n := w.bank.count("/charges"); n != 1 {
			t.Errorf("the provider was asked %d times, want once", n)
		}
	})
}

func TestB05_AQuickAnswerShowsNoWaitingPage(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		b.js("new MutationObserver(() => sessionStorage.setItem('said', " + find("wait") + ".textContent)).observe(" +
			find("wait") + ", {childList: true, subtree: true})")
		b.click("pay")
		b.shows("order-paid")
		if said := b.js("sessionStorage.getItem('said')"); said != "" {
			t.Errorf("while the answer was on its way the page said %q", said)
		}
		if n := w.front.countGets("/status"); n != 0 {
			t.Errorf("the waiting page was asked for %d times", n)
		}
		w.wants(once)
	})
}

func TestB06_AnAnswerThatTakesSecondsIsTold(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		w.slowBank(3500 * time.Millisecond)
		b.click("pay")
		b.until(find("wait") + ".innerText.match(/We are checking your payment \\(\\d seconds\\)/) !== null")
		if role := b.js(find("wait") + ".getAttribute('role')"); role != "status" {
			t.Errorf("the sentence stands in an element with role %q, want status", role)
		}
		b.shows("order-paid")
		w.wants(once)
	})
}

func TestB07_AnAnswerThatTakesLongIsExplained(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		longWait(t, db, "en", "Trying again does not charge you twice", "You can leave: your order is kept", "Check now")
	})
}

func TestB07_EenAntwoordDatLangDuurtWordtUitgelegd(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		longWait(t, db, "nl", "je betaalt niet dubbel", "je bestelling blijft bewaard", "Nu controleren")
	})
}

func longWait(t *testing.T, db database, language string, sentences ...string) {
	w := newWorld(t, db)
	b := w.visitor().in(language)
	b.toReview("tok_ok")
	w.front.on("/pay", -1, holdAnswer(14*time.Second))
	b.click("pay")
	b.until(find("wait") + ".innerText.includes('EM-')")
	said := b.text("wait")
	for _, sentence := range sentences {
		if !strings.Contains(said, sentence) {
			t.Errorf("the page says %q, want %q in it", said, sentence)
		}
	}
	b.shows("order-paid")
	if number := b.text("order-number"); !strings.Contains(said, number) {
		t.Errorf("the page said %q, want the order %s in it", said, number)
	}
	w.wants(once)
}

// T06: what the button said in the end is not that nothing happened.
func TestB08_AfterADeadlineTheScriptAsksAgain(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		w.slowBank(2500 * time.Millisecond)
		b.js("Object.assign(" + find("pay-form") + ".dataset, {deadline: 1000})")
		b.click("pay")
		b.shows("order-paid")
		w.wants(once)
		w.sawPresses(2)
		presses := w.front.seen("/pay")
		if first, last := presses[0], presses[len(presses)-1]; first.key == "" || last.key != first.key || first.retry != "" || last.retry == "" {
			t.Errorf("the first press was %+v and the last %+v; want one key, and a Retry-Attempt in the last only", first, last)
		}
		w.replayed("/checkout/:attempt/pay")
	})
}

func TestB09_AnAnswerThatIsLostOnceIsFound(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor().withoutScripts()
		b.toReview("tok_ok")
		w.front.on("/pay", 1, dropAnswer)
		b.click("pay")
		// Chromium sends the form again by itself, unless the connection was new: then it says so.
		b.until("!!" + find("order-paid") + " || location.protocol === 'chrome-error:'")
		if !b.has("order-paid") {
			b.reloadError()
		}
		b.shows("order-paid")
		w.wants(once)
		w.sawPresses(2)
	})
}

func TestB09_WithScriptsALostAnswerIsAskedForAgain(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		w.front.on("/pay", 2, dropAnswer)
		b.click("pay")
		b.shows("order-paid")
		w.wants(once)
		w.sawPresses(2)
	})
}

// T03: nobody has seen a confirmation, so they press again.
func TestB10_WhenEveryAnswerIsLostAReloadFindsTheOrder(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor().withoutScripts()
		b.toReview("tok_ok")
		w.front.on("/pay", -1, dropAnswer)
		b.click("pay")
		b.until("location.protocol === 'chrome-error:'")
		w.front.heal()
		b.reloadError()
		b.shows("order-paid")
		w.wants(once)
		w.sawPresses(2)
	})
}

func TestB10_WithScriptsTheStatusPageFindsTheOrder(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		w.front.on("/pay", -1, dropAnswer)
		b.js("Object.assign(" + find("pay-form") + ".dataset, {tries: 3})")
		b.click("pay")
		b.shows("order-paid")
		w.wants(once)
		w.sawPresses(3)
	})
}

func TestB11_OfflineNothingIsSentAndTheFormIsKept(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		b.offline(true)
		b.click("pay")
		b.until(find("wait") + ".innerText.includes('You are offline. Nothing was sent. Your form is kept.')")
		w.wants(counts{})
		b.offline(false)
		b.until("!" + find("pay") + ".hasAttribute('aria-disabled')")
		b.click("pay")
		b.shows("order-paid")
		w.wants(once)
	})
}

func TestB13_ADeclinedCardKeepsTheOrder(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		declined(t, db, "en", "Your bank declined this card. Nothing was charged. Choose another way to pay.", "Card that is declined")
	})
}

func TestB13_EenGeweigerdeKaartHoudtDeBestelling(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		declined(t, db, "nl", "Je bank weigerde deze kaart. Er is niets afgeschreven. Kies een andere betaalwijze.", "Kaart die wordt geweigerd")
	})
}

func declined(t *testing.T, db database, language, sentence, card string) {
	w := newWorld(t, db)
	b := w.visitor().in(language)
	b.toReview("tok_declined")
	b.click("pay")
	b.shows("declined")
	if said := b.text("declined"); !strings.Contains(said, sentence) || !strings.Contains(said, card) {
		t.Errorf("the page says %q, want %q and %q in it", said, sentence, card)
	}
	if b.js("!!document.querySelector('form [data-testid=declined]')") != "true" {
		t.Error("the message does not stand with the choice of a way to pay")
	}
	if !b.has("method-tok_ok") || !b.has("line-mug") {
		t.Error("the page does not offer another card, or does not show the order any more")
	}
	w.wants(counts{orders: 1})
}

func TestB14_AnotherCardPaysTheSameOrder(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_declined")
		b.click("pay")
		b.shows("declined")
		b.reload() // is no new attempt
		b.shows("declined")
		b.click("method-tok_ok")
		b.click("to-review")
		b.shows("pay-form")
		b.click("pay")
		b.shows("order-paid")
		w.wants(once)
		presses := w.front.seen("/pay")
		first, second := presses[0].form(t), presses[len(presses)-1].form(t)
		if first.Get("order_key") != second.Get("order_key") {
			t.Error("the second card has another order key, want the same order")
		}
		if first.Get("payment_key") == second.Get("payment_key") {
			t.Error("the second card has the payment key of the first, want a new one: it is a new attempt")
		}
	})
}

// T12: however often the payment fails, there is one order, and in the end it is paid.
func TestB14_ACardThatDeclinesTwiceIsAskedOnceEach(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor().withoutScripts()
		b.toReview("tok_declined")
		w.bankAwaits(2, 800*time.Millisecond)
		b.doubleClick("pay")
		b.shows("declined")
		w.sawPresses(2)
		b.click("method-tok_declined")
		w.front.on("/payments", -1, holdAnswer(800*time.Millisecond))
		b.doubleClick("to-review")
		b.shows("pay-form")
		b.doubleClick("pay")
		b.shows("declined")
		w.wants(counts{orders: 1})
		w.hasCharges(2)
		b.click("method-tok_ok")
		b.click("to-review")
		b.shows("pay-form")
		b.doubleClick("pay")
		b.shows("order-paid")
		w.wants(once)
		w.hasCharges(3)
	})
}

// hasCharges: the provider was asked for so many, those that it declined included.
func (w *world) hasCharges(want int) {
	w.t.Helper()
	asked := 0
	for reference := range w.references() {
		asked += len(ledger(w.t, w.psp.addr, reference))
	}
	if asked != want {
		w.t.Errorf("the provider was asked for %d charges, want one for each of the %d attempts", asked, want)
	}
}

func TestB32_AnUnknownChargeIsNotGuessed(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_ok")
		w.bank.on("/charges", -1, dropAnswer)
		b.click("pay")
		b.shows("payment-status")
		if said := b.text("payment-status"); !strings.Contains(said, "We do not know yet if your payment went through.") || strings.Contains(said, "othing was charged") {
			t.Errorf("the page says %q", said)
		}
		number := b.text("order-number")
		w.bank.heal()
		b.click("check-now")
		b.shows("order-paid")
		if got := b.text("order-number"); got != number {
			t.Errorf("the order is %s, the waiting page said %s", got, number)
		}
		w.wants(once)
	})
}

func TestTroubledCardsEndPaidOnce(t *testing.T) {
	needBrowser(t)
	for _, card := range []string{"tok_slow", "tok_charged_then_timeout", "tok_charged_then_500", "tok_unavailable"} {
		t.Run(card, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, db database) {
				w := newWorld(t, db)
				b := w.visitor().withoutScripts()
				b.toReview(card)
				b.doubleClick("pay")
				b.until("!!" + find("payment-status") + " || !!" + find("order-paid"))
				if b.has("payment-status") {
					b.click("check-now")
				}
				b.shows("order-paid")
				w.wants(once)
			})
		})
	}
}
