package web_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

func lookUp(number, email string) url.Values {
	return url.Values{"number": {number}, "email": {email}}
}

func TestAnOrderIsFoundByItsNumberAndItsEmail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ordered("tok_ok")
	b.client.Jar = nil // another device
	for _, prefix := range []string{"", "/nl"} {
		b.get(prefix + "/orders")
		b.want(200, prefix+"/orders", "find-form")
		for _, number := range []string{"EM-7K4Q-1M", " em-7k4q-1m "} {
			b.post(prefix+"/orders", lookUp(number, "Sanne@Example.nl "))
			b.want(200, prefix+"/orders/EM-7K4Q-1M?t=token1", "order-paid")
		}
	}
}

// TestAnUnpaidOrderLeadsBackToItsCheckout: after a decline the order's page has the way to pay it, in the
// browser that made it and in no other, and until it is paid.
func TestAnUnpaidOrderLeadsBackToItsCheckout(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "/nl"} {
		b := setup(t)
		attempt := b.ordered("tok_declined")
		page := prefix + "/orders/EM-7K4Q-1M?t=token1"
		b.get(page)
		b.want(200, page, "order-awaiting_payment", "to-pay")
		if want := `href="` + prefix + "/checkout/" + attempt + `"`; !strings.Contains(b.last.body, want) {
			t.Errorf("the page does not lead to %s", want)
		}
		mine := b.client.Jar
		b.client.Jar = nil // another device
		if b.get(page); b.last.has("to-pay") {
			t.Error("somebody else is led to the checkout")
		}
		b.client.Jar = mine
		b.get("/checkout/" + attempt)
		path, form := b.last.form(t, "/payments")
		form.Set("method", "tok_ok")
		b.now = b.now.Add(time.Minute)
		b.post(path, form)
		b.pay()
		b.get(page)
		if b.want(200, page, "order-paid"); b.last.has("to-pay") {
			t.Error("a paid order can be paid")
		}
	}
}

// TestAForgottenOrderLeadsToNoCheckout: who forgets the orders of a device leaves no way into them behind.
func TestAForgottenOrderLeadsToNoCheckout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ordered("tok_declined")
	b.post("/orders", url.Values{"forget": {"1"}})
	b.get("/orders/EM-7K4Q-1M?t=token1")
	if b.want(200, "/orders/EM-7K4Q-1M", "order-awaiting_payment"); b.last.has("to-pay") {
		t.Error("the order's page still leads into the checkout")
	}
}

// A number that exists tells nobody so.
func TestAWrongEmailIsAnsweredAsAWrongNumber(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ordered("tok_ok")
	b.client.Jar = nil
	shown := func(number, email string) string {
		got := b.post("/orders", lookUp(number, email))
		b.want(422, "/orders", "order-unknown", "find-form")
		if !strings.Contains(got.body, `value="`+number+`"`) || !strings.Contains(got.body, `value="`+email+`"`) {
			t.Error("what was typed is lost")
		}
		if got.header.Get("Set-Cookie") != "" {
			t.Error("the answer sets a cookie")
		}
		return strings.NewReplacer(number, "N", email, "E").Replace(got.body)
	}
	wrongEmail := shown("EM-7K4Q-1M", "eva@example.nl")
	wrongNumber := shown("EM-7K4Q-9M", "sanne@example.nl")
	if wrongEmail != wrongNumber {
		t.Error("a wrong email address and a wrong number can be told apart")
	}
	b.post("/orders", lookUp("", ""))
	b.want(422, "/orders", "error-summary", "error-number", "error-email")
}

func TestABrowserRemembersTenOrdersAndNobody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 12 {
		b.ordered("tok_ok")
		b.want(200, "/orders/")
		b.now = b.now.Add(time.Hour)
	}
	b.ordered("tok_declined") // placed, not paid: it is kept too
	b.get("/nl/orders")
	numbers := regexp.MustCompile(`href="/nl/orders/(EM-[^?]+)\?t=[^"]+"`).FindAllStringSubmatch(b.last.body, -1)
	if len(numbers) != 10 || numbers[0][1] != "EM-7K4Q-13M" || numbers[9][1] != "EM-7K4Q-4M" {
		t.Errorf("the page lists %v", numbers)
	}
	kept := b.client.Jar
	b.client.Jar = newJar(t)
	b.post("/orders", lookUp("EM-7K4Q-1M", "sanne@example.nl"))
	if b.get("/orders"); !b.last.has("device-order") {
		t.Error("an order that was looked up is not listed")
	}
	path, forget := b.last.form(t, "/orders")
	for range 2 {
		if b.post(path, forget); b.last.has("device-order") || b.last.path != "/orders" {
			t.Errorf("at %s: the orders are not forgotten", b.last.path)
		}
	}
	b.client.Jar = kept
	home, _ := url.Parse(b.server.URL)
	for _, cookie := range b.client.Jar.Cookies(home) {
		encoded, _, _ := strings.Cut(cookie.Value, ".")
		value, _ := base64.RawURLEncoding.DecodeString(encoded)
		for _, secret := range []string{"sanne", "Damrak", "1012", "token", "EM-"} {
			if strings.Contains(string(value), secret) {
				t.Errorf("the cookie %s holds %q", cookie.Name, value)
			}
		}
		if cookie.Name == "orders" {
			b.client.Jar.SetCookies(home, []*http.Cookie{{Name: "orders", Value: encoded + ".AAAA", Path: "/"}})
		}
	}
	if b.get("/orders"); b.last.has("device-order") {
		t.Error("a cookie that somebody else wrote is believed")
	}
}

func TestAPaidOrderHoldsAReceipt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ordered("tok_ok")
	b.want(200, "/orders/", "receipt", "paid-with")
	for _, part := range []string{"Receipt", "shop.test", "EM-7K4Q-1M", "Card, 30\u00a0November\u00a02026 14:05", "2 × Early Mug", "€7.28", "€41.95"} {
		if !strings.Contains(b.last.body, part) {
			t.Errorf("the receipt does not say %q", part)
		}
	}
	b.orders[0].Status, b.payments[0].Status = "awaiting_payment", "declined"
	if b.get(b.last.path); b.last.has("receipt") || b.last.has("paid-with") {
		t.Error("there is a receipt of what was not paid")
	}
}

// T15: a form of an order that stands is never dropped unseen.
func TestDetailsChangedAfterTheOrderOfferANewOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.ordered("tok_declined")
	changed := details("tok_ok")
	changed.Set("city", "Utrecht")
	b.post("/checkout/"+attempt, changed)
	b.want(409, "/checkout/"+attempt, "form-used", "see-order", "new-order")
	path, form := b.last.form(t, "/checkout")
	b.post(path, form)
	b.want(200, "/checkout/"+form.Get("attempt"), "details-form", "line-mug")
	if !strings.Contains(b.last.body, `value="Utrecht"`) || !regexp.MustCompile(`value="tok_ok"[^>]* checked`).MatchString(b.last.body) {
		t.Error("what was typed did not come along")
	}
	b.post("/checkout/"+attempt, details("tok_ok"))
	b.want(200, "/checkout/"+attempt, "declined") // says nothing new
	b.wantEffects(1, 0, 0)
}

func TestTheQuestionAboutASecondOrderIsForAnEqualOneOfAMomentAgo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(b *bundle)
		asks   bool
	}{
		{"at once", func(*bundle) {}, true},
		{"after 9 minutes", func(b *bundle) { b.now = b.now.Add(9 * time.Minute) }, true},
		{"after 11 minutes", func(b *bundle) { b.now = b.now.Add(11 * time.Minute) }, false},
		{"with something else", func(b *bundle) { b.post("/basket", url.Values{"sku": {"vase"}, "quantity": {"1"}}) }, false},
		{"to another city", func(b *bundle) { b.orders[0].Address.City = "Utrecht" }, false},
		{"when the first was not paid", func(b *bundle) { b.orders[0].Status = "cancelled" }, false},
		{"in another browser", func(b *bundle) { b.client.Jar = newJar(b.t) }, false},
	} {
		b := setup(t)
		b.ordered("tok_ok")
		tt.change(b)
		b.review("", "tok_ok")
		if b.last.has("same-order") != tt.asks || b.last.has("order-again") != tt.asks {
			t.Errorf("%s: asked %v, want %v", tt.name, !tt.asks, tt.asks)
		}
	}
}
