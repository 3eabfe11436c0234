package e2e

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestFivePressesAtTwoProcessesAreOne is T01: five copies of one paying form at once, over two processes
// that share a database, and five of one API request.
func TestFivePressesAtTwoProcessesAreOne(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	w := newWorld(t, database{dir: t.TempDir(), url: newPostgres(t)})
	other := w.startAnother(settings{"ADDR": freeAddress(), "DATA_DIR": t.TempDir()})
	bases := []string{"http://" + w.shop.addr, "http://" + other.addr}
	b := w.visitor()
	b.toReview("tok_ok")
	form := url.Values{"order_key": {b.value("order_key")}, "payment_key": {b.value("payment_key")}, "total": {b.value("total")}, "basket": {b.value("basket")}}
	path := strings.TrimSuffix(b.path(), "/review") + "/pay"
	fiveTimes(t, func(i int) (*http.Request, error) {
		req, err := http.NewRequest(http.MethodPost, bases[i%2]+path, strings.NewReader(form.Encode())) //nolint:noctx // ends by itself
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return req, err
	}, http.StatusSeeOther)
	w.wants(once)
	key := newKey()
	fiveTimes(t, func(i int) (*http.Request, error) {
		req, err := http.NewRequest(http.MethodPost, bases[i%2]+"/v1/orders", strings.NewReader(orderOf("sanne@example.nl"))) //nolint:noctx // ends by itself
		if err == nil {
			req.Header = http.Header{"Authorization": {"Bearer demo-alpha"}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
		}
		return req, err
	}, http.StatusCreated)
	w.wants(counts{orders: 2, paid: 1, charges: 1, mails: 1})
}

// fiveTimes sends five copies of a request at once and wants five equal answers.
func fiveTimes(t *testing.T, request func(i int) (*http.Request, error), status int) {
	t.Helper()
	stay := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var answers [5]string
	var sent sync.WaitGroup
	for i := range answers {
		sent.Go(func() {
			req, err := request(i)
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := stay.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = resp.Body.Close() }()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != status {
				t.Errorf("press %d is answered with %d, want %d (%v)", i+1, resp.StatusCode, status, err)
			}
			answers[i] = resp.Header.Get("Location") + "\n" + string(body)
		})
	}
	sent.Wait()
	for i, got := range answers {
		if got != answers[0] || got == "\n" {
			t.Errorf("press %d is answered with %q, the first with %q", i+1, got, answers[0])
		}
	}
}

// TestTwoBrowsersPayOneCheckout is T02, T09 and T10: two browsers send one checkout at the same moment.
// One order is made, with all its lines, and both people land on it.
func TestTwoBrowsersPayOneCheckout(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.putInBasket("vase")
		b.toReview("tok_ok") // a vase and a mug
		other := w.visitor()
		other.open(b.path())
		other.shows("pay-form")
		w.bankAwaits(2, 800*time.Millisecond)
		b.click("pay")
		other.click("pay")
		b.shows("order-paid")
		other.shows("order-paid")
		if b, other := b.text("order-number"), other.text("order-number"); b != other {
			t.Errorf("the browsers show the orders %s and %s", b, other)
		}
		w.wants(once)
		w.sawPresses(2)
		if n := w.number("SELECT count(*) FROM order_lines"); n != 2 {
			t.Errorf("the order has %d lines, want 2", n)
		}
	})
}

// TestTwoHundredClicksAreTwentyOrders is T07: a guard that is quick to switch the button off may also
// stop what it should let through. Twenty times ten clicks come at random moments.
func TestTwoHundredClicksAreTwentyOrders(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, twoHundredClicks)
}

func twoHundredClicks(t *testing.T, db database) {
	w := newWorld(t, db)
	b := w.visitor()
	const rounds, clicks = 20, 10
	for n := range rounds {
		if n == 0 {
			b.toReview("tok_ok")
		} else {
			b.putInBasket("mug")
			b.open("/basket")
			b.click("to-checkout")
			b.shows("details-form")
			b.fillDetails("tok_ok")
			b.click("to-review")
			b.shows("pay-form")
		}
		x, y := b.point("pay")
		for range clicks {
			// No reply is waited for: the page may be leaving.
			ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
			_ = chromedp.Do(ctx, chromedp.MouseClickXY(x, y))
			cancel()
			time.Sleep(rand.N(60 * time.Millisecond))
		}
		b.shows("order-paid")
		want := counts{orders: n + 1, paid: n + 1, charges: n + 1, mails: n + 1}
		eventually(t, patience, func() string { return want.String() + "; there are " + w.counts().String() }, func() bool { return w.counts() == want })
	}
	w.wants(counts{orders: rounds, paid: rounds, charges: rounds, mails: rounds})
}
