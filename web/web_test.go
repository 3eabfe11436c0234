package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web"
)

func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := web.New(web.Config{})
	for _, name := range []string{"PlaceOrder", "PayOrder", "SubmitContact", "Reader", "Drafts", "BaseURL", "SessionSecret"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("New does not name %s: %v", name, err)
		}
	}
}

func TestEveryMutatingRouteIsListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	listed := map[string]bool{}
	for _, r := range web.MutatingRoutes {
		listed[r.Method+" "+r.Pattern] = r.Why != ""
	}
	for _, r := range b.router.Routes() {
		name := r.Method + " " + r.Path
		if r.Method != http.MethodGet && !listed[name] {
			t.Errorf("%s is not in MutatingRoutes", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("%s is listed and does not exist", name)
	}
}

func TestOrderAndPayFromTheFirstPageToTheLast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ prefix, button, thanks string }{
		{"", "Order and pay €41.95", "Thank you, your order is paid"},
		{"/nl", "Bestellen en betalen, €\u00a041,95", "Bedankt, je bestelling is betaald"},
	} {
		b := setup(t)
		b.review(tt.prefix, "tok_ok")
		if !strings.Contains(b.last.body, tt.button) {
			t.Errorf("the button does not say %q", tt.button)
		}
		if !strings.Contains(b.last.body, "1012 AB") {
			t.Error("the postcode is not written as postcodes are")
		}
		b.wantEffects(0, 0, 0)
		b.pay()
		b.want(200, tt.prefix+"/orders/EM-7K4Q-1M?t=token1", "order-paid", "mail-sent")
		b.wantEffects(1, 1, 1)
		if !strings.Contains(b.last.body, tt.thanks) || !strings.Contains(b.last.body, "s...@example.nl") || strings.Contains(b.last.body, "sanne@") {
			t.Error("the order page does not thank or does not mask the address")
		}
		if b.get(tt.prefix + "/basket"); !b.last.has("basket-empty") {
			t.Error("what was ordered is still in the basket")
		}
	}
}

func TestPayPressedAgainLeadsToTheSameOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	page := b.last
	for range 3 {
		b.last = page
		b.pay()
		b.want(200, "/orders/EM-7K4Q-1M", "order-paid")
	}
	b.wantEffects(1, 1, 1)
	if b.replays < 4 {
		t.Errorf("replays = %d, want the later presses to be answered by the record", b.replays)
	}
}

func TestPayPressedManyTimesAtOnceLeadsToOneOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	path, form := b.last.form(t, "/pay")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			req, _ := http.NewRequest(http.MethodPost, b.server.URL+path, strings.NewReader(form.Encode()))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			res, err := client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
			if to := res.Header.Get("Location"); res.StatusCode != 303 || !strings.HasPrefix(to, "/orders/EM-7K4Q-1M") && !strings.HasPrefix(to, "/checkout/"+attempt) {
				t.Errorf("%d to %s", res.StatusCode, to)
			}
		})
	}
	wg.Wait()
	b.wantEffects(1, 1, 1)
}

func TestAPaidCheckoutNeverAsksAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	b.pay()
	for _, page := range []string{"", "/review", "/pay"} {
		b.get("/checkout/" + attempt + page)
		b.want(200, "/checkout/"+attempt, "already-paid", "see-order", "new-order")
	}
	b.get("/checkout/" + attempt + "/status")
	b.want(200, "/orders/EM-7K4Q-1M")
	b.post("/checkout/"+attempt, details("tok_declined")) // asks for nothing new: a payment's choice is made elsewhere
	b.want(200, "/checkout/"+attempt, "already-paid")
	b.post("/checkout/"+attempt+"/payments", url.Values{"payment_key": {b.drafts[attempt].PaymentKey}, "method": {"tok_ok"}})
	b.want(200, "/orders/EM-7K4Q-1M")
	b.wantEffects(1, 1, 1)
}

func TestASecondOrderIsAskedAboutAndThenMade(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	b.pay()
	b.get("/checkout/" + attempt)
	path, form := b.last.form(t, "/checkout")
	b.post(path, form)
	b.want(200, "/checkout/"+form.Get("attempt"), "details-form")
	if !strings.Contains(b.last.body, `value="Damrak 1"`) {
		t.Error("the answers of the first order are not filled in")
	}
	b.post(b.last.path, details("tok_ok"))
	b.want(200, "/checkout/"+form.Get("attempt")+"/review", "same-order")
	b.pay()
	b.want(200, "/orders/EM-7K4Q-2M")
	b.wantEffects(2, 2, 2)
}

func TestADeclineKeepsTheOrderForAnotherCard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_declined")
	first := b.drafts[attempt].PaymentKey
	b.pay()
	b.want(200, "/checkout/"+attempt, "declined", "order-kept", "payments-form")
	b.wantEffects(1, 0, 0)
	declined := b.last
	b.get("/checkout/" + attempt)
	b.get("/checkout/" + attempt)
	b.get("/checkout/" + attempt + "/review")
	b.pay() // without choosing: the same answer
	b.want(200, "/checkout/"+attempt, "declined")
	if b.drafts[attempt].PaymentKey != first || len(b.payments) != 1 {
		t.Error("looking at pages made a key or a payment")
	}
	path, form := declined.form(t, "/payments")
	b.post(path, form)
	b.want(422, path, "error-summary")
	form.Set("method", "tok_ok")
	b.now = b.now.Add(time.Minute)
	for range 2 { // pressed twice
		b.post(path, form)
		b.want(200, "/checkout/"+attempt+"/review", "pay")
	}
	if b.renewals != 1 {
		t.Errorf("the payment key was renewed %d times", b.renewals)
	}
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M", "order-paid")
	b.wantEffects(1, 1, 1)
}

func TestAnOldFormAfterASecondDeclineChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_declined")
	b.pay()
	path, form := b.last.form(t, "/payments")
	form.Set("method", "tok_declined")
	b.now = b.now.Add(time.Minute)
	b.post(path, form)
	b.now = b.now.Add(time.Minute)
	b.pay()
	b.want(200, "/checkout/"+attempt, "declined")
	form.Set("method", "tok_ok")
	b.post(path, form) // the form of the first decline
	b.want(200, "/checkout/"+attempt, "payments-form")
	if got := b.drafts[attempt].Method.Token; got != "tok_declined" {
		t.Errorf("the method became %s under a key that was used with another", got)
	}
}

func TestAnUnknownPaymentIsWaitedForAndNeverGuessed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_charged_then_timeout")
	b.pay()
	b.want(200, "/checkout/"+attempt+"/status", "payment-status", "check-now", "unknown")
	if strings.Contains(strings.ToLower(b.last.body), "nothing was charged") {
		t.Error("the page guesses")
	}
	if !strings.Contains(b.last.body, `http-equiv="refresh" content="2"`) {
		t.Error("the page does not refresh itself without scripts")
	}
	waiting := b.last
	for _, page := range []string{"", "/review", "/payments"} {
		b.get("/checkout/" + attempt + page)
		b.want(200, "/checkout/"+attempt+"/status")
	}
	b.last = waiting
	b.pay() // "Check now"
	b.want(200, "/orders/EM-7K4Q-1M", "order-paid")
	b.wantEffects(1, 1, 1)
}

func TestTroubleAfterTheOrderWaitsOnTheStatusPage(t *testing.T) {
	t.Parallel()
	for _, kind := range []domain.Kind{domain.Busy, domain.Unknown, domain.Unavailable} {
		b := setup(t)
		attempt := b.review("", "tok_ok")
		b.payFails = domain.Errorf(kind, "x", "Trouble.")
		b.pay()
		b.want(200, "/checkout/"+attempt+"/status", "check-now")
		b.wantEffects(1, 0, 0)
		b.pay()
		b.want(200, "/orders/EM-7K4Q-1M")
		b.wantEffects(1, 1, 1)
	}
}

func TestTroubleBeforeTheOrderSaysWhatIsCertain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	b.placeFails = domain.Errorf(domain.Unavailable, "retry_same_key", "Trouble.")
	b.pay()
	b.want(503, "/checkout/", "order-failed", "nothing-charged", "try-again")
	if b.last.header.Get("Retry-After") == "" || !strings.Contains(b.last.body, "Your order was not placed and nothing was charged.") {
		t.Error("the page does not say what is certain")
	}
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M")
	b.wantEffects(1, 1, 1)
}

func TestABusyOrderIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	b.placeFails = domain.Errorf(domain.Busy, "operation_in_progress", "Busy.")
	b.pay()
	b.want(200, "/checkout/"+attempt+"/status", "check-now")
}

func TestSoldOutNamesTheItemAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.post("/basket", url.Values{"sku": {"lamp"}, "quantity": {"3"}})
	attempt := b.review("/nl", "tok_ok")
	page := b.last
	b.products[4].Stock = 0
	b.pay()
	b.want(422, "/nl/checkout/"+attempt+"/pay", "sold-out", "order-rest")
	if !strings.Contains(b.last.body, "Lamp Avond is uitverkocht") || !strings.Contains(b.last.body, "<title>Fout: ") {
		t.Error("the item is not named")
	}
	b.wantEffects(0, 0, 0)
	path, form := b.last.form(t, "/checkout")
	b.post(path, form)
	b.want(200, "/nl/checkout/"+form.Get("attempt"), "line-mug")
	if b.last.has("line-lamp") || !strings.Contains(b.last.body, `value="Damrak 1"`) {
		t.Error("the rest is not kept")
	}
	b.products[4].Stock = 9 // the refusal stays the answer of its key
	b.last = page
	b.pay()
	b.want(422, "/nl/checkout/"+attempt+"/pay", "basket-changed") // by the button above
	b.pay()
	b.want(422, "/nl/checkout/"+attempt+"/pay", "sold-out")
	b.wantEffects(0, 0, 0)
}

func TestAnotherPriceIsAskedAbout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	b.products[0].Price = domain.EUR(2000)
	b.pay()
	b.want(422, "/checkout/", "price-changed", "pay")
	if !strings.Contains(b.last.body, "€41.95") || !strings.Contains(b.last.body, "Order and pay €44.95") {
		t.Error("old and new total are not shown")
	}
	b.wantEffects(0, 0, 0)
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M")
	b.wantEffects(1, 1, 1)
}

func TestAPriceThatChangesInTheMomentOfOrderingIsAskedAbout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	b.onPlace = func(f *fake) { f.products[0].Price = domain.EUR(2000) }
	b.pay()
	b.want(422, "/checkout/", "price-changed", "pay")
	b.wantEffects(1, 0, 0)
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M")
	b.wantEffects(1, 1, 1)
}

func TestABasketChangedInAnotherTabIsAskedAbout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	page := b.last
	b.post("/basket", url.Values{"sku": {"vase"}, "quantity": {"1"}})
	b.last = page
	b.pay()
	b.want(422, "/checkout/", "basket-changed", "use-new-basket", "pay")
	b.wantEffects(0, 0, 0)
	b.pay() // order what is shown after all
	b.want(200, "/orders/EM-7K4Q-1M")
	if b.get("/basket"); !b.last.has("basket-vase") {
		t.Error("the new basket was thrown away")
	}
}

func TestALostCookieStopsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	b.client.Jar = nil
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M", "order-paid")
}

func TestAnExpiredCheckoutGoesOnInANewOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	page := b.last
	b.now = b.now.Add(71 * time.Hour)
	b.get("/checkout/" + attempt + "/review")
	b.want(200, "/checkout/"+attempt+"/review", "pay")
	b.now = b.now.Add(2 * time.Hour)
	b.last = page
	b.pay()
	b.want(410, "/checkout/"+attempt, "expired", "new-attempt")
	b.wantEffects(0, 0, 0)
	path, form := b.last.form(t, "/checkout")
	b.post(path, form)
	b.want(200, "/checkout/"+form.Get("attempt"), "details-form", "line-mug")
	if !strings.Contains(b.last.body, `value="sanne@example.nl"`) {
		t.Error("the answers are lost")
	}
}

func TestAnExpiredKeyOfAPaidOrderStillLeadsToIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	page := b.last
	b.pay()
	clear(b.records)
	b.placeFails = domain.Errorf(domain.Expired, "idempotency_key_expired", "Too late.")
	b.last = page
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M")
	b.wantEffects(1, 1, 1)
}

func TestAFormUsedForAnotherOrderLeadsToThatOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_declined")
	b.pay() // places the order
	d := b.drafts[attempt]
	d.Address.City = "Utrecht"
	b.drafts[attempt] = d
	b.get("/checkout/" + attempt + "/review")
	b.pay()
	b.want(409, "/checkout/"+attempt+"/pay", "form-used", "see-order", "new-order")
	if !strings.Contains(b.last.body, "already used for order EM-7K4Q-1M") || b.last.header.Get("Retry-After") != "" {
		t.Error("the order is not named")
	}
	b.wantEffects(1, 0, 0)
}

func TestAnotherKeyThanTheCheckoutsDoesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	path, form := b.last.form(t, "/pay")
	other := url.Values{"order_key": form["order_key"], "payment_key": {"00000000-0000-7000-8000-000000000000"}}
	b.post(path, other)
	b.want(200, "/checkout/"+attempt, "details-form")
	b.wantEffects(0, 0, 0)
	for _, header := range []string{"another-key-1234567890", "short", ""} {
		b.do(http.MethodPost, path, form, http.Header{"Idempotency-Key": {header}})
		b.want(400, path, "problem")
	}
	b.wantEffects(0, 0, 0)
	b.do(http.MethodPost, path, form, http.Header{"Idempotency-Key": {`"` + form.Get("payment_key") + `"`}, "Retry-Attempt": {"2"}})
	b.want(200, "/orders/EM-7K4Q-1M")
}

func TestStartingACheckoutTwiceStartsItOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.post("/basket", url.Values{"sku": {"mug"}, "quantity": {"2"}})
	path, form := b.last.form(t, "/checkout")
	b.post(path, form)
	first := b.last.path
	keys := b.drafts[form.Get("attempt")]
	b.post(path, form)
	if b.last.path != first || len(b.drafts) != 1 || b.drafts[form.Get("attempt")].OrderKey != keys.OrderKey {
		t.Errorf("the second start led to %s", b.last.path)
	}
	// The same page from memory, with a basket that has changed since.
	b.post("/basket", url.Values{"sku": {"mug"}, "quantity": {"5"}})
	for range 2 {
		b.post(path, form)
		b.want(200, "/checkout/")
		if !strings.Contains(b.last.body, "5 × Early Mug") || len(b.drafts) != 2 {
			t.Error("the changed basket did not get a checkout of its own")
		}
	}
}

func TestDetailsThatBreakRulesAreNamedAndKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.begin("/nl")
	b.post("/nl/checkout/"+attempt, url.Values{})
	b.want(422, "/nl/checkout/"+attempt, "error-summary", "error-email", "error-name", "error-line1", "error-postal_code", "error-city", "error-country", "error-payment")
	if !strings.Contains(b.last.body, "<title>Fout: ") || !strings.Contains(b.last.body, `href="#email"`) {
		t.Error("the title or the links of the summary are wrong")
	}
	typed := details("tok_slow")
	typed.Set("postal_code", "12")
	b.post("/nl/checkout/"+attempt, typed)
	b.want(422, "/nl/checkout/"+attempt, "error-postal_code")
	for range 2 { // at once, and when the page is opened again
		for _, kept := range []string{`value="sanne@example.nl"`, `value="Damrak 1"`, `value="12"`, `value="Amsterdam"`} {
			if !strings.Contains(b.last.body, kept) {
				t.Errorf("%s was not kept", kept)
			}
		}
		if !regexp.MustCompile(`value="tok_slow"[^>]* checked`).MatchString(b.last.body) {
			t.Error("the chosen card was not kept")
		}
		b.get("/nl/checkout/" + attempt)
	}
	b.get("/nl/checkout/" + attempt + "/review")
	b.want(200, "/nl/checkout/"+attempt, "details-form")
}

func TestFieldsCarryTheAutofillTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.begin("")
	for _, token := range []string{"email", "name", "shipping address-line1", "shipping postal-code", "shipping address-level2", "shipping country"} {
		if !strings.Contains(b.last.body, `autocomplete="`+token+`"`) {
			t.Errorf("no field has autocomplete %q", token)
		}
	}
}

func TestTroubleCardsExistInTheDemoAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *web.Config) { c.Demo = false })
	attempt := b.begin("")
	if !b.last.has("method-tok_ok") || b.last.has("method-tok_declined") {
		t.Error("the choice of cards is wrong")
	}
	b.post("/checkout/"+attempt, details("tok_declined"))
	b.want(422, "/checkout/"+attempt, "error-payment")
	if b.get("/mailbox").status != 404 {
		t.Error("the mailbox is open")
	}
}

func TestTheLanguageOfACheckoutCanBeSwitched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	before := b.drafts[attempt]
	b.get("/nl/checkout/" + attempt + "/review?lang=nl")
	b.want(200, "/nl/checkout/"+attempt+"/review", "pay")
	if b.drafts[attempt].OrderKey != before.OrderKey || b.drafts[attempt].PaymentKey != before.PaymentKey {
		t.Error("the keys changed")
	}
	b.pay()
	b.want(200, "/nl/orders/EM-7K4Q-1M")
}

func TestOnlyTheFirstHomePageIsNegotiated(t *testing.T) {
	t.Parallel()
	dutch := http.Header{"Accept-Language": {"nl-NL,nl;q=0.9,en;q=0.5"}}
	for _, tt := range []struct {
		path, want string
	}{{"/", "/nl"}, {"/p/mug", "/p/mug"}, {"/basket", "/basket"}, {"/nl", "/nl"}} {
		b := setup(t)
		if got := b.do(http.MethodGet, tt.path, nil, dutch).path; got != tt.want {
			t.Errorf("%s led to %s, want %s", tt.path, got, tt.want)
		}
	}
	b := setup(t)
	b.get("/?lang=en")
	b.want(200, "/")
	if got := b.do(http.MethodGet, "/", nil, dutch).path; got != "/" {
		t.Errorf("the choice for English led to %s", got)
	}
	if vary := b.last.header.Get("Vary"); !strings.Contains(vary, "Accept-Language") {
		t.Errorf("Vary = %q", vary)
	}
}

func TestABasketThatSomebodyElseWroteIsEmpty(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.post("/basket", url.Values{"sku": {"mug"}, "quantity": {"2"}})
	home, _ := url.Parse(b.server.URL)
	cookie := b.client.Jar.Cookies(home)[0]
	_, mac, _ := strings.Cut(cookie.Value, ".")
	for _, value := range []string{"bXVnOjk5." + mac, "bXVnOjk5.", "bXVnOjk5", "", "." + mac, cookie.Value + "x"} {
		b.client.Jar.SetCookies(home, []*http.Cookie{{Name: cookie.Name, Value: value, Path: "/"}})
		if b.get("/basket"); !b.last.has("basket-empty") {
			t.Errorf("cookie %q was believed", value)
		}
	}
}

func TestAddingTwiceFromOnePageAddsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.get("/p/vase")
	path, form := b.last.form(t, "/basket")
	form.Set("quantity", "2")
	for range 2 {
		b.post(path, form)
		b.want(200, "/p/vase", "in-basket")
		if !strings.Contains(b.last.body, "In your basket: 2") {
			t.Error("the basket does not hold two")
		}
	}
	_, form = b.last.form(t, "/basket")
	form.Set("quantity", "1")
	b.post(path, form)
	if !strings.Contains(b.last.body, "In your basket: 3") {
		t.Error("the reloaded page does not add one more")
	}
	for _, wrong := range []string{"-1", "100", "1.5", "x", "", "99999999999999999999"} {
		b.post("/basket", url.Values{"sku": {"vase"}, "quantity": {wrong}})
		b.want(422, "/basket", "error-summary")
	}
	b.post("/basket", url.Values{"sku": {"vase"}, "quantity": {"0"}})
	b.want(200, "/basket", "basket-empty")
	b.post("/basket", url.Values{"sku": {"anvil"}, "quantity": {"1"}})
	b.want(404, "/basket")
}

func TestAnOrderIsOpenedByItsTokenAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	b.pay()
	absent := b.get("/orders/EM-NONE?t=token1")
	for _, path := range []string{"/orders/EM-7K4Q-1M", "/orders/EM-7K4Q-1M?t=", "/orders/EM-7K4Q-1M?t=token2", "/orders/EM-7K4Q-1M?t=token1x"} {
		got := b.get(path)
		b.want(404, path, "not-found")
		same := func(a answer) string { return regexp.MustCompile(`/orders/[^"]*`).ReplaceAllString(a.body, "") }
		if same(got) != same(absent) {
			t.Error("a wrong token and an unknown number can be told apart")
		}
	}
}

func contactForm(b *bundle) (path string, form url.Values) {
	path, form = b.get("/contact").form(b.t, strings.TrimPrefix(b.last.path, "/"))
	form.Set("email", "sanne@example.nl")
	form.Set("message", "Is the teapot heavy?\r\nRegards")
	return path, form
}

func TestAMessageSentTwiceIsReceivedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path, form := contactForm(b)
	b.contactFails = domain.Errorf(domain.Unavailable, "retry_same_key", "Trouble.")
	b.post(path, form)
	b.want(503, path, "contact-again", "contact-form")
	if !strings.Contains(b.last.body, "Is the teapot heavy?") {
		t.Error("what was typed is lost")
	}
	for range 3 {
		b.post(path, form)
		b.want(200, path+"/received", "received", "reference")
	}
	if len(b.messages) != 1 || !strings.Contains(b.last.body, "C-58") {
		t.Errorf("%d messages", len(b.messages))
	}
	b.get(path)
	b.want(200, path+"/received")
}

func TestAKeyMadeByTheScriptCountsOnceToo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path, form := contactForm(b)
	form.Set("key", "019e2f00-0000-7000-8000-00000000000a")
	for range 2 {
		b.do(http.MethodPost, path, form, http.Header{"Idempotency-Key": form["key"]})
		b.want(200, path+"/received")
	}
	form.Set("key", strings.TrimPrefix(path, "/contact/")) // the same form with scripts off
	b.post(path, form)
	b.want(200, path+"/received")
	if len(b.messages) != 1 {
		t.Errorf("%d messages", len(b.messages))
	}
}

func TestAnotherTextInAUsedFormBecomesANewMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path, form := contactForm(b)
	b.post(path, form)
	form.Set("message", "Another question <script>alert(1)</script>")
	b.post(path, form)
	b.want(409, path, "contact-again", "see-earlier", "send")
	if !strings.Contains(b.last.body, "Another question &lt;script&gt;") || len(b.messages) != 1 {
		t.Error("the new text is lost, or was sent")
	}
	next := regexp.MustCompile(`action="(/contact/[^"]+)"`).FindStringSubmatch(b.last.body)[1]
	if next == path {
		t.Fatal("the new message would be sent by the used form")
	}
	_, again := b.last.form(t, next)
	again.Set("email", form.Get("email"))
	again.Set("message", form.Get("message"))
	for range 2 {
		b.post(next, again)
		b.want(200, next+"/received")
	}
	if len(b.messages) != 2 {
		t.Errorf("%d messages, want 2", len(b.messages))
	}
}

func TestAContactFormThatIsTooOldKeepsItsText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path, form := contactForm(b)
	b.contactFails = domain.Errorf(domain.Expired, "idempotency_key_expired", "Too old.")
	b.post(path, form)
	b.want(410, path, "contact-again", "send")
	if !strings.Contains(b.last.body, "Is the teapot heavy?") || strings.Contains(b.last.body, `action="`+path+`"`) {
		t.Error("the text is lost or would be sent by the old form")
	}
}

func TestBrokenFormsAreRefusedBeforeAnythingHappens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	for _, tt := range []struct {
		name, value string
		want        int
	}{
		{"email", "a\x00b@example.nl", 400},
		{"name", "\xff\xfe", 400},
		{"name", strings.Repeat("x", 70<<10), 413},
	} {
		form := details("tok_ok")
		form.Set(tt.name, tt.value)
		if got := b.post("/checkout/"+attempt, form).status; got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := b.post("/checkout", url.Values{"attempt": {"../../evil"}}).status; got != 400 {
		t.Errorf("a strange attempt gave %d", got)
	}
	for _, path := range []string{"/checkout/nope", "/checkout/00000000-0000-4000-8000-000000000000", "/contact/nope", "/p/nope", "/nl/nope", "/static/nope"} {
		if got := b.get(path).status; got != 404 {
			t.Errorf("%s gave %d", path, got)
		}
	}
}

func TestEveryPageIsGuardedByItsHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|<script(?:[^>]*)>[^<]|\son[a-z]+=|javascript:`)
	pages := []string{"/", "/nl", "/p/mug", "/basket", "/checkout/" + attempt, "/checkout/" + attempt + "/review", "/checkout/" + attempt + "/status", "/contact", "/mailbox", "/nope", "/orders/x", "/checkout/nope"}
	for _, page := range pages {
		got := b.get(page)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s = %q", page, name, got.header.Get(name))
			}
		}
		if m := inline.FindString(got.body); m != "" {
			t.Errorf("%s holds %q", page, m)
		}
		if strings.Contains(got.body, "_key") && got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s holds a key and may be stored", page)
		}
		if !strings.Contains(got.body, `<html lang="en">`) && !strings.HasPrefix(page, "/nl") {
			t.Errorf("%s has no language", page)
		}
	}
	b.readFails = fmt.Errorf("secret: connect to 10.0.0.1")
	for _, page := range pages[:5] {
		if got := b.get(page); got.status != 503 || strings.Contains(got.body, "10.0.0.1") || !strings.Contains(got.body, "<title>") {
			t.Errorf("%s gave %d, or told too much", page, got.status)
		}
	}
}

func TestCookiesAreClosed(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *web.Config) { c.BaseURL = "https://shop.test" })
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	var lines []string
	lines = append(lines, b.post("/basket", url.Values{"sku": {"mug"}, "quantity": {"2"}}).header.Values("Set-Cookie")...)
	lines = append(lines, b.get("/?lang=en").header.Values("Set-Cookie")...)
	if len(lines) != 2 {
		t.Fatalf("cookies: %v", lines)
	}
	for _, line := range lines {
		for _, part := range []string{"__Host-", "Path=/", "HttpOnly", "Secure", "SameSite=Lax"} {
			if !strings.Contains(line, part) {
				t.Errorf("%q has no %s", line, part)
			}
		}
	}
	if b.last.header.Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS")
	}
}

func TestStaticFilesMayBeKeptForEverUnderTheirHash(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.get("/")
	for _, path := range regexp.MustCompile(`/static/[a-z.]+\?v=[0-9a-f]+`).FindAllString(b.last.body, -1) {
		if got := b.get(path); got.status != 200 || !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, %s", path, got.status, got.header.Get("Cache-Control"))
		}
		bare, _, _ := strings.Cut(path, "?")
		if got := b.get(bare); got.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s may be kept: %s", bare, got.header.Get("Cache-Control"))
		}
	}
}

// TestALinkToTheShopHasAPicture: where people share it, its public pages are shown with one, whatever host
// they were asked from. Pages of one visitor are not shown.
func TestALinkToTheShopHasAPicture(t *testing.T) {
	t.Parallel()
	b := setup(t)
	picture := regexp.MustCompile(`<meta property="og:image" content="http://shop\.test(/static/share\.png\?v=[0-9a-f]+)"`)
	for _, page := range []string{"/", "/nl", "/p/mug"} {
		found := picture.FindStringSubmatch(b.get(page).body)
		if found == nil {
			t.Fatalf("%s has no picture", page)
		}
		if got := b.get(found[1]); got.status != 200 || got.header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: %d %s", found[1], got.status, got.header.Get("Content-Type"))
		}
	}
	for _, page := range []string{"/basket", "/contact", "/mailbox"} {
		if body := b.get(page).body; strings.Contains(body, "og:") || !strings.Contains(body, `content="noindex"`) {
			t.Errorf("%s is shown to search engines", page)
		}
	}
}

func TestIdsAndGradientsAreUniqueOnAPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	for _, page := range []string{"/", "/p/mug", "/basket", "/checkout/" + attempt, "/checkout/" + attempt + "/review", "/contact"} {
		var ids []string
		for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(b.get(page).body, -1) {
			if slices.Contains(ids, m[1]) {
				t.Errorf("%s has id %q twice", page, m[1])
			}
			ids = append(ids, m[1])
		}
	}
}

func TestGetChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	before := fmt.Sprintf("%+v", b.drafts)
	for _, r := range b.router.Routes() {
		if r.Method == http.MethodGet {
			b.get(strings.NewReplacer(":attempt", attempt, ":slug", "mug", ":number", "EM-7K4Q-1M", ":submission", attempt, ":name", "app.css").Replace(r.Path))
		}
	}
	if after := fmt.Sprintf("%+v", b.drafts); after != before || len(b.orders)+len(b.payments)+len(b.messages)+len(b.mails) > 0 {
		t.Error("looking at pages changed something")
	}
}
