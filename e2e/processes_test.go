package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// client is a program that uses the API and tries again with the same key, as it should.
type client struct {
	t    *testing.T
	base string
}

type answer struct {
	status     int
	body       string
	retryAfter string
	location   string
}

// post sends one request, once.
func (c client) post(path, key, body string) (answer, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer demo-alpha")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	// A connection of its own, so that nothing below repeats the request by itself.
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, string(text), resp.Header.Get("Retry-After"), resp.Header.Get("Location")}, err
}

// postUntilFinal repeats a request with its key until the answer is final.
func (c client) postUntilFinal(path, key, body string) answer {
	c.t.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(250 * time.Millisecond) {
		got, err := c.post(path, key, body)
		if err == nil && got.status < 500 && got.retryAfter == "" {
			return got
		}
	}
	c.t.Fatal("the request gets no final answer")
	return answer{}
}

// newKey makes an idempotency key, as any client can.
func newKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// order places an order and gives its id and number.
func (c client) order(key string) (id, number string) {
	c.t.Helper()
	return c.orderFor("sanne@example.nl", key)
}

func (c client) orderFor(email, key string) (id, number string) {
	c.t.Helper()
	got := c.postUntilFinal("/v1/orders", key, orderOf(email))
	var order struct{ ID, Number string }
	if err := json.Unmarshal([]byte(got.body), &order); err != nil || got.status != http.StatusCreated {
		c.t.Fatalf("ordering is answered with %d: %s", got.status, got.body)
	}
	return order.ID, order.Number
}

// orderOf is the body of a request that orders a mug.
func orderOf(email string) string { return orderFor(email, "mug") }

func orderFor(email, sku string) string {
	return `{"email":"` + email + `","name":"Sanne de Vries",
		"address":{"line1":"Keizersgracht 1","postal_code":"1015 CJ","city":"Amsterdam","country":"NL"},
		"items":[{"sku":"` + sku + `","quantity":1}],"language":"en"}`
}

// payment is the body of a request that pays an order.
func payment(order, token string) string {
	return `{"order_id":"` + order + `","method":{"type":"card","token":"` + token + `"},"capture":"automatic"}`
}

// The plain command: everything in one process, the provider included. Ctrl-C comes while a payment is
// on its way.
func TestCtrlCFinishesWhatRuns(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		env := settings{"ADDR": freeAddress(), "DATA_DIR": db.dir, "DATABASE_URL": db.url}
		shop := start(t, env)
		c := client{t, "http://" + shop.addr}
		order, number := c.order(newKey())
		paymentKey := newKey()
		type result struct {
			answer
			err error
		}
		answered := make(chan result, 1)
		go func() {
			got, err := c.post("/v1/payments", paymentKey, payment(order, "tok_slow"))
			answered <- result{got, err}
		}()
		time.Sleep(1500 * time.Millisecond)
		shop.interrupt(t)
		first := <-answered
		if first.err != nil || first.status != http.StatusCreated || !strings.Contains(first.body, `"paid"`) {
			t.Fatalf("the payment that was running is answered with %d %s, %v", first.status, first.body, first.err)
		}
		if status := shop.exit(t, 20*time.Second); status != 0 {
			t.Errorf("the exit status is %d; it printed:\n%s", status, shop.out)
		}
		shop = start(t, env)
		again := c.postUntilFinal("/v1/payments", paymentKey, payment(order, "tok_slow"))
		if again.status != first.status || again.body != first.body {
			t.Errorf("after the restart the same key is answered with %d %s, before it was %d %s", again.status, again.body, first.status, first.body)
		}
		if charges := ledger(t, shop.addr, number); len(charges) != 1 {
			t.Errorf("the provider has the charges %+v, want one", charges)
		}
	})
}

// The process dies in the middle of a payment. The provider lives elsewhere and charges all the same.
func TestKillDuringAPaymentChargesOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		killDuringPayment(t, w.shop, provider.addr, w.start)
		w.wants(once)
	})
}

// The same with the provider inside the process that dies, which charges only after the restart.
func TestKillDuringAPaymentInOneProcessChargesOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		env := settings{"ADDR": freeAddress(), "DATA_DIR": db.dir, "DATABASE_URL": db.url}
		shop := start(t, env)
		killDuringPayment(t, shop, shop.addr, func() { start(t, env) })
	})
}

// The process dies in the middle of a payment, and nobody asks again: the next process finishes it when
// the lease of the dead one has ended.
func TestKillDuringAPaymentIsFinishedWithoutARetry(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		c := client{t, "http://" + w.shop.addr}
		order, number := c.order(newKey())
		key, gone := newKey(), make(chan error, 1)
		go func() {
			_, err := c.post("/v1/payments", key, payment(order, "tok_slow"))
			gone <- err
		}()
		eventually(t, patience, func() string { return "the provider is not asked" }, func() bool { return len(w.bank.seen("/charges")) == 1 })
		w.shop.kill()
		if err := <-gone; err == nil {
			t.Fatal("the payment was answered before the process died: the test is void")
		}
		eventually(t, patience, func() string { return "the provider does not charge" }, func() bool { return len(ledger(t, w.psp.addr, number)) == 1 })
		w.start()
		begin := time.Now()
		eventually(t, 75*time.Second, func() string { return w.counts().String() }, func() bool { return w.counts().paid == 1 })
		t.Logf("the payment was finished %s after the restart", time.Since(begin).Round(time.Second))
		w.wants(once)
		got := c.postUntilFinal("/v1/payments", key, payment(order, "tok_slow"))
		if got.status != http.StatusCreated || !strings.Contains(got.body, `"paid"`) {
			t.Errorf("a late retry is answered with %d: %s", got.status, got.body)
		}
		w.wants(once)
	})
}

func killDuringPayment(t *testing.T, shop *process, bank string, restart func()) {
	t.Helper()
	c := client{t, "http://" + shop.addr}
	order, number := c.order(newKey())
	paymentKey := newKey()
	gone := make(chan error, 1)
	go func() {
		_, err := c.post("/v1/payments", paymentKey, payment(order, "tok_slow"))
		gone <- err
	}()
	time.Sleep(1500 * time.Millisecond)
	shop.kill()
	if err := <-gone; err == nil {
		t.Fatal("the payment was answered before the process died: the test is void")
	}
	restart()
	begin := time.Now()
	got := c.postUntilFinal("/v1/payments", paymentKey, payment(order, "tok_slow"))
	t.Logf("the retry got its final answer %s after the restart", time.Since(begin).Round(time.Second))
	if got.status != http.StatusCreated || !strings.Contains(got.body, `"paid"`) {
		t.Errorf("the retry is answered with %d: %s", got.status, got.body)
	}
	if again := c.postUntilFinal("/v1/payments", paymentKey, payment(order, "tok_slow")); again != got {
		t.Errorf("one more retry is answered with %+v, the first one with %+v", again, got)
	}
	if charges := ledger(t, bank, number); len(charges) != 1 || charges[0].Status != "succeeded" {
		t.Errorf("the provider has the charges %+v, want one that succeeded", charges)
	}
}

// start starts the plain command and ends it with the test.
func start(t *testing.T, env settings, args ...string) *process {
	t.Helper()
	p, err := startProcess(args, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the shop printed:\n%s", p.out)
		}
	})
	return p
}

func TestB30_TheShopRestartsDuringAPayment(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.toReview("tok_slow")
		b.click("pay")
		b.until(find("wait") + ".innerText.match(/\\(\\d seconds\\)/) !== null")
		w.shop.kill()
		w.start()
		// The script asks again; the waiting page goes on when it has given up.
		for range 8 {
			b.untilWithin(30*time.Second, "!!"+find("order-paid")+" || (!!"+find("check-now")+" && !"+find("check-now")+".ariaDisabled)")
			if b.has("order-paid") {
				break
			}
			b.click("check-now")
			time.Sleep(3 * time.Second)
		}
		b.shows("order-paid")
		w.wants(once)
	})
}

// Two processes share a database and Redis, and each serves one tab.
func TestB23_TwoTabsOnTwoProcessesPayOnce(t *testing.T) {
	needBrowser(t)
	t.Parallel()
	db := database{dir: t.TempDir(), url: newPostgres(t)}
	redis := os.Getenv("TEST_REDIS_URL")
	if redis == "" && everything {
		t.Fatal("TEST_REDIS_URL is empty")
	}
	w := newWorld(t, db)
	w.shop.kill()
	w.env["REDIS_URL"] = redis
	w.start()
	other := w.startAnother(settings{"ADDR": freeAddress(), "DATA_DIR": t.TempDir()})
	side := newProxy(t, other.addr)

	first := w.visitor()
	first.toReview("tok_ok")
	second := first.another()
	second.base, second.front = side.url, side
	second.open(first.path())
	if a, b := first.keys(), second.keys(); a != b {
		t.Errorf("the processes show the keys %s and %s, want the same", a, b)
	}
	w.slowBank(800 * time.Millisecond)
	first.click("pay")
	second.click("pay")
	first.shows("order-paid")
	second.shows("order-paid")
	if a, b := first.text("order-number"), second.text("order-number"); a != b {
		t.Errorf("the processes show the orders %s and %s", a, b)
	}
	w.wants(once)
	if w.front.count("/pay") < 1 || side.count("/pay") < 1 {
		t.Errorf("the processes saw %d and %d presses, want both to see one", w.front.count("/pay"), side.count("/pay"))
	}
}

func TestEveryWrongSettingIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	cmd := command(nil, settings{
		"ADDR": "nowhere", "BASE_URL": "shop", "MODE": "test", "DATABASE_URL": "mysql://", "PSP": "acme", "TTL_ORDERS": "1h",
	})
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // the status is looked at
	if got := cmd.ProcessState.ExitCode(); got != 2 {
		t.Errorf("the exit status is %d, want 2", got)
	}
	for _, name := range []string{"ADDR", "BASE_URL", "MODE", "DATABASE_URL", "PSP", "TTL_ORDERS", "RETRY_WINDOW"} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("nothing is said about %s in:\n%s", name, out.String())
		}
	}
}

func TestTheBannerTellsWhatRuns(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		shop := start(t, settings{"DATA_DIR": db.dir, "DATABASE_URL": db.url})
		engine := "SQLite"
		if db.url != "" {
			engine = "Postgres"
		}
		base := "http://" + shop.addr
		eventually(t, 5*time.Second, func() string { return shop.out.String() }, func() bool { return strings.Contains(shop.out.String(), "/docs\n") })
		for _, part := range []string{"mode demo", engine, "48h", "72h", "168h", "24h", base + "/\n", base + "/mailbox", base + "/docs"} {
			if !strings.Contains(shop.out.String(), part) {
				t.Errorf("%q is missing in:\n%s", part, shop.out)
			}
		}
		for _, path := range []string{"/", "/mailbox", "/healthz", "/readyz", "/metrics"} {
			if status, body := get(t, base+path); status != http.StatusOK {
				t.Errorf("%s answers %d: %s", path, status, body)
			}
		}
	})
}

func TestHealthcheckTellsByItsExitStatus(t *testing.T) {
	t.Parallel()
	shop := start(t, settings{"DATA_DIR": t.TempDir()})
	check := func() int {
		cmd := command([]string{"healthcheck"}, settings{"ADDR": shop.addr})
		_ = cmd.Run() // the status is looked at
		return cmd.ProcessState.ExitCode()
	}
	if got := check(); got != 0 {
		t.Errorf("the shop runs and the exit status is %d", got)
	}
	shop.kill()
	if got := check(); got != 1 {
		t.Errorf("the shop does not run and the exit status is %d", got)
	}
}

func TestProductionHasNothingOfTheDemo(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		shop := start(t, settings{
			"MODE": "production", "BASE_URL": "https://shop.example", "DATA_DIR": db.dir, "DATABASE_URL": db.url,
			"PSP_URL": "http://" + provider.addr, "SESSION_SECRET": strings.Repeat("secret ", 6),
			"API_CONSUMERS": "acme=" + strings.Repeat("acme", 10), "WEBHOOK_SECRET": "whsec_" + strings.Repeat("c2VjcmV0", 4),
		})
		base := "http://" + shop.addr
		if strings.Contains(shop.out.String(), "ailbox") {
			t.Errorf("the banner speaks of a mailbox:\n%s", shop.out)
		}
		for _, path := range []string{"/mailbox", "/psp/v1/charges?reference=x", "/testbank/ch_x?s=x"} {
			if status, _ := get(t, base+path); status != http.StatusNotFound {
				t.Errorf("%s answers %d, want 404", path, status)
			}
		}
		if status, home := get(t, base+"/"); status != http.StatusOK || bytes.Contains(home, []byte("mailbox")) || bytes.Contains(home, []byte("Demo")) {
			t.Errorf("the home page answers %d and may speak of the demo:\n%s", status, home)
		}
		for secret, want := range map[string]int{"demo-alpha": 401, "demo-beta": 401, strings.Repeat("acme", 10): 404} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/orders/00000000-0000-7000-8000-000000000000", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+secret)
			if status, body := do(t, req); status != want {
				t.Errorf("the API answers %.10s... with %d %s, want %d", secret, status, body, want)
			}
		}
	})
}
