package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/domain"
)

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
