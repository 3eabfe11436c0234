package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web"
)

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
