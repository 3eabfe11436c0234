package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web"
)

// toBank orders with a method that needs the bank, and stops at the door of the bank's page.
func (b *bundle) toBank(prefix, method string) (attempt string) {
	b.t.Helper()
	attempt = b.review(prefix, method)
	b.pay()
	if to := b.last.header.Get("Location"); b.last.status != 303 || !strings.HasPrefix(to, "https://bank.test/testbank/ch") {
		b.t.Fatalf("paying leads to %q with %d, want the bank", to, b.last.status)
	}
	return attempt
}

// payment is the id of the nth payment.
func (b *bundle) payment(n int) string { return b.payments[n-1].ID }

func TestPayingAtTheBankLeadsThereAndBack(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"tok_3ds", "ideal"} {
		for _, prefix := range []string{"", "/nl"} {
			b := setup(t)
			attempt := b.toBank(prefix, method)
			b.wantEffects(1, 0, 0)
			b.get("/return/" + b.payment(1) + "?payment=ch1")
			b.want(200, prefix+"/checkout/"+attempt+"/status", "at-bank", "to-bank", "pay-otherwise")
			b.bankSays(1, domain.PaymentPaid)
			for range 3 { // T41
				b.get("/return/" + b.payment(1))
				b.want(200, prefix+"/orders/EM-7K4Q-1M?t=token1", "order-paid", "mail-sent")
			}
			b.wantEffects(1, 1, 1)
		}
	}
}

// TestTheWayBackIsNoProof is S24: whatever its address claims, the page says that we are checking.
func TestTheWayBackIsNoProof(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.toBank("", "ideal")
	for _, claim := range []string{"?status=paid", "?payment=ch1&result=success", "?lang=nl&status=paid"} {
		b.get("/return/" + b.payment(1) + claim)
		if !strings.HasSuffix(b.last.path, "/checkout/"+attempt+"/status") || !b.last.has("at-bank") {
			t.Errorf("%s led to %s", claim, b.last.path)
		}
		if strings.Contains(b.last.body, "othing was charged") || strings.Contains(b.last.body, "niets afgeschreven") {
			t.Error("the page says that nothing was charged, which nobody knows yet")
		}
	}
	b.wantEffects(1, 0, 0)
}

// TestTheWayBackLeadsNowhereElse is S23.
func TestTheWayBackLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.toBank("", "ideal")
	for _, path := range []string{
		"/return/%2F%2Fevil.test", "/return/%5C%5Cevil.test", "/return/https:%2F%2Fevil.test", "/return/x@evil.test",
		"/return/00000000-0000-7000-8000-00000000ffff", "/return/", "/return/..%2Fcheckout",
	} {
		b.get(path)
		if b.last.status != 404 || b.last.header.Get("Location") != "" {
			t.Errorf("%s gave %d to %q", path, b.last.status, b.last.header.Get("Location"))
		}
	}
	for _, query := range []string{"?return_url=https://evil.test", "?next=//evil.test", "?to=%5Cevil.test"} {
		b.get("/return/" + b.payment(1) + query)
		b.want(200, "/checkout/")
		if strings.Contains(b.last.body, "evil") {
			t.Errorf("%s is on the page", query)
		}
	}
}

// TestTheWayBackIgnoresTheHost is S42 for these pages: a request chooses no part of where they lead.
func TestTheWayBackIgnoresTheHost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.toBank("/nl", "ideal")
	for _, prefix := range []string{"", "/nl"} {
		r, w := httptest.NewRequest(http.MethodGet, prefix+"/return/"+b.payment(1), nil), httptest.NewRecorder()
		r.Host = "evil.test"
		r.Header.Set("X-Forwarded-Host", "evil.test")
		b.router.ServeHTTP(w, r)
		if to := w.Header().Get("Location"); strings.Contains(to+w.Body.String(), "evil") || (to != "" && !strings.HasPrefix(to, "/nl/return/")) {
			t.Errorf("%s: %d to %q", prefix, w.Code, to)
		}
	}
}

// TestAPaymentsIdOpensNoCheckout: another browser learns how the payment stands, and nothing of whose it is.
func TestAPaymentsIdOpensNoCheckout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.toBank("/nl", "ideal")
	mine := b.client.Jar
	b.client.Jar = nil
	for _, tt := range []struct {
		status domain.PaymentStatus
		says   string
		waits  bool
	}{
		{domain.PaymentPending, "De bank heeft ons nog niet verteld", true},
		{domain.PaymentUnknown, "De bank heeft ons nog niet verteld", true},
		{domain.PaymentDeclined, "Er is niets afgeschreven", false},
		{domain.PaymentFailed, "Er is niets afgeschreven", false},
		{domain.PaymentPaid, "De betaling is gelukt", false},
		{domain.PaymentDuplicate, "krijgt het geld vanzelf terug", false},
		{domain.PaymentRefunded, "terugbetaald", false},
	} {
		b.payments[0].Status = tt.status
		b.get("/return/" + b.payment(1))
		b.want(200, "/nl/return/"+b.payment(1), "return-"+string(tt.status))
		if !strings.Contains(b.last.body, tt.says) {
			t.Errorf("%s: the page does not say %q", tt.status, tt.says)
		}
		if waits := strings.Contains(b.last.body, "data-poll"); waits != tt.waits || waits != strings.Contains(b.last.body, `http-equiv="refresh"`) {
			t.Errorf("%s: the page looks again by itself: %v", tt.status, waits)
		}
		for _, secret := range []string{attempt, "token1", "EM-7K4Q", "sanne", "Sanne", "Damrak", "1012", "41,95", "bank.test"} {
			if strings.Contains(b.last.body, secret) {
				t.Errorf("%s: the page holds %q", tt.status, secret)
			}
		}
	}
	b.client.Jar = mine
	b.get("/return/" + b.payment(1) + "?lang=en") // the choice of a language stays
	b.want(200, "/checkout/"+attempt)
	b.get("/return/" + b.payment(1))
	b.want(200, "/checkout/"+attempt)
}

func TestAnOrderOfTheAPIComesBackToAPlainPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.toBank("", "tok_3ds")
	b.orders[0].Consumer = 1
	b.get("/return/" + b.payment(1))
	b.want(200, "/return/"+b.payment(1), "return-pending")
	b.orders[0].Language = "nl"
	b.get("/return/" + b.payment(1))
	b.want(200, "/nl/return/"+b.payment(1), "return-pending")
	b.get("/return/" + b.payment(1) + "?lang=en")
	b.want(200, "/return/"+b.payment(1), "return-pending")
}

func TestTheBanksNoKeepsTheOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status domain.PaymentStatus
		says   string
	}{
		{domain.PaymentDeclined, "Your bank declined this card. Nothing was charged. Choose another way to pay."},
		{domain.PaymentFailed, "You cancelled at the bank, or the time there ran out. Nothing was charged."},
	} {
		b := setup(t)
		attempt := b.toBank("", "tok_3ds")
		b.bankSays(1, tt.status)
		b.get("/return/" + b.payment(1))
		b.want(200, "/checkout/"+attempt, "declined", "order-kept", "payments-form")
		if !strings.Contains(b.last.body, tt.says) {
			t.Errorf("%s: the page does not say %q", tt.status, tt.says)
		}
		b.wantEffects(1, 0, 0)
		path, form := b.last.form(t, "/payments")
		form.Set("method", "tok_ok")
		b.now = b.now.Add(time.Minute)
		b.post(path, form)
		b.pay()
		b.want(200, "/orders/EM-7K4Q-1M", "order-paid")
		b.wantEffects(1, 1, 1)
	}
}

// TestPressedAgainAtTheBankIsTheSamePayment: Back, a second tab, or a press that was lost.
func TestPressedAgainAtTheBankIsTheSamePayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "ideal")
	page := b.last
	for range 3 {
		b.last = page
		b.pay()
		if to := b.last.header.Get("Location"); b.last.status != 303 || to != "https://bank.test/testbank/ch1?s=secret" {
			t.Errorf("%d to %s", b.last.status, to)
		}
	}
	b.get("/checkout/" + attempt + "/review")
	b.want(200, "/checkout/"+attempt+"/status", "at-bank")
	b.get("/checkout/" + attempt + "/pay")
	b.want(200, "/checkout/"+attempt+"/status", "at-bank")
	if len(b.payments) != 1 {
		t.Errorf("%d payments", len(b.payments))
	}
	b.bankSays(1, domain.PaymentPaid)
	b.last = page
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M", "order-paid")
	b.wantEffects(1, 1, 1)
}

// TestTheScriptIsToldWhereTheBankIs: a fetch may not follow a redirect to another origin.
func TestTheScriptIsToldWhereTheBankIs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "ideal")
	path, form := b.last.form(t, "/pay")
	b.do(http.MethodPost, path, form, http.Header{"Idempotency-Key": form["payment_key"]})
	if to := b.last.header.Get("Location"); b.last.status != 202 || to != "https://bank.test/testbank/ch1?s=secret" {
		t.Errorf("%d to %q", b.last.status, to)
	}
}

func TestABankWithoutAnAddressIsNotVisited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.toBank("", "ideal")
	d := b.drafts[attempt]
	for _, address := range []string{"", "javascript:alert(1)", "//evil.test", "data:text/html,x", "/relative"} {
		b.payments[0].RedirectURL = address
		b.get("/checkout/" + attempt + "/status")
		if strings.Contains(b.last.body, `href="javascript`) || strings.Contains(b.last.body, `href="data`) {
			t.Errorf("the page links to %q", address)
		}
		b.post("/checkout/"+attempt+"/pay", url.Values{"order_key": {d.OrderKey}, "payment_key": {d.PaymentKey}})
		if b.last.status != 503 || b.last.header.Get("Location") != "" {
			t.Errorf("%q: %d to %q", address, b.last.status, b.last.header.Get("Location"))
		}
	}
}

func TestWhoLeftTheBankMayPayInAnotherWay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.toBank("", "ideal")
	b.now = b.now.Add(11 * time.Minute)
	b.get("/checkout/" + attempt + "/status")
	b.want(200, "/checkout/"+attempt+"/status", "at-bank", "bank-long")
	b.get("/checkout/" + attempt)
	b.want(200, "/checkout/"+attempt, "still-at-bank", "payments-form", "order-kept")
	if strings.Contains(b.last.body, "othing was charged") {
		t.Error("the page says that nothing was charged, which nobody knows yet")
	}
	path, form := b.last.form(t, "/payments")
	form.Set("method", "tok_declined")
	for range 2 {
		b.post(path, form)
		b.want(200, "/checkout/"+attempt+"/review", "pay")
	}
	if b.renewals != 1 {
		t.Errorf("the payment key was renewed %d times", b.renewals)
	}
	b.get("/checkout/" + attempt + "/status")
	b.want(200, "/checkout/"+attempt+"/status", "at-bank")
	b.get("/checkout/" + attempt + "/review")
	b.now = b.now.Add(time.Minute)
	b.pay()
	b.want(200, "/checkout/"+attempt, "declined", "still-at-bank")
	if strings.Contains(b.last.body, "othing was charged") {
		t.Error("the page says that nothing was charged, although a payment may still come")
	}
	path, form = b.last.form(t, "/payments")
	form.Set("method", "tok_ok")
	b.now = b.now.Add(time.Minute)
	b.post(path, form)
	b.want(200, "/checkout/"+attempt+"/review", "pay")
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M", "order-paid")
	b.wantEffects(1, 1, 1)
	if b.last.has("refunds") {
		t.Error("the page speaks of a refund")
	}
	b.bankSays(1, domain.PaymentPaid) // after all
	b.get("/return/" + b.payment(1))
	b.want(200, "/orders/EM-7K4Q-1M", "order-paid", "refunds")
	if !strings.Contains(b.last.body, "You paid twice. We keep one payment; €41.95 is on its way back to you.") {
		t.Error("the page does not tell of the second payment")
	}
	b.wantEffects(1, 1, 1)
	b.changes[0].Status = domain.ModificationFailed
	b.get("/return/" + b.payment(1))
	if strings.Contains(b.last.body, "on its way back") || !strings.Contains(b.last.body, "We could not give €41.95 back yet.") {
		t.Error("the page does not tell that the refund failed")
	}
}

func TestFormsMayLeadToTheBankAndNowhereElse(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"": "form-action 'self'", "https://bank.test": "form-action 'self' https://bank.test",
		"http://127.0.0.1:9999/some/where": "form-action 'self' http://127.0.0.1:9999", "nonsense": "form-action 'self'",
	} {
		b := setup(t, func(c *web.Config) { c.PaymentPages = address })
		got := regexp.MustCompile(`form-action.*$`).FindString(b.get("/basket").header.Get("Content-Security-Policy"))
		if got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}
