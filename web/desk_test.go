package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web"
	"example.com/eenmaal/web/admin"
)

// hashed gives the desk a password.
func hashed(cfg *web.Config) {
	cfg.Desk.OneClick, cfg.Desk.User, cfg.Desk.PasswordHash = false, "eva", admin.HashPassword("correct horse battery")
}

func (b *bundle) signIn(user, password string) answer {
	return b.post("/admin/sign-in", url.Values{"user": {user}, "password": {password}, "to": {"/admin/orders"}})
}

// atTheDesk signs in and has one order that is paid.
func atTheDesk(t *testing.T) *bundle {
	t.Helper()
	b := setup(t)
	b.review("", "tok_ok")
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M", "order-paid")
	pay := &b.payments[0]
	pay.Captured, pay.Refunded, pay.ChargeID = pay.Amount, domain.EUR(0), "ch_1"
	b.signIn("", "")
	b.want(200, "/admin/orders", "order-EM-7K4Q-1M")
	return b
}

// TestNobodyComesInWithoutSigningIn covers S37: it walks the router, so that a new page of the desk without
// the guard fails, and knocks with every method.
func TestNobodyComesInWithoutSigningIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	found := 0
	for _, r := range b.router.Routes() {
		path := strings.TrimPrefix(r.Path, "/nl")
		if !strings.HasPrefix(path, "/admin") || path == "/admin/sign-in" {
			continue
		}
		found++
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			got := b.do(method, strings.ReplaceAll(r.Path, ":", "x"), url.Values{"to": {"x"}}, nil)
			switch sent := got.status == 303 && strings.HasPrefix(got.header.Get("Location"), strings.TrimSuffix(r.Path, path)+"/admin/sign-in?to="); {
			case got.status == 404, got.status == 405: // there is nothing to come in to
				if method == r.Method {
					t.Errorf("%s %s: %d", method, r.Path, got.status)
				}
			case method == "GET" || method == "HEAD":
				if !sent {
					t.Errorf("%s %s: %d to %q", method, r.Path, got.status, got.header.Get("Location"))
				}
			case got.status != 403:
				t.Errorf("%s %s: %d, want 403", method, r.Path, got.status)
			}
			if strings.Contains(got.header.Get("Set-Cookie"), "desk=") || got.header.Get("Cache-Control") != "no-store" && got.status != 404 && got.status != 405 {
				t.Errorf("%s %s: %v", method, r.Path, got.header)
			}
		}
	}
	if found < 10 {
		t.Errorf("walked %d routes", found)
	}
}

func TestWithoutADeskThereIsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, func(cfg *web.Config) { cfg.Desk = nil })
	for _, path := range []string{"/admin", "/admin/sign-in", "/nl/admin/orders"} {
		if b.get(path); b.last.status != 404 {
			t.Errorf("%s: %d", path, b.last.status)
		}
	}
	if _, err := web.New(func() web.Config { cfg := newFake().config(); cfg.Desk = &admin.Config{}; return cfg }()); err == nil {
		t.Error("a desk without anything is made")
	}
	f := newFake()
	cfg := f.config()
	f.withDesk(&cfg)
	cfg.Desk.OneClick = false
	if _, err := web.New(cfg); err == nil {
		t.Error("a desk that nobody can open is made")
	}
}

// TestSigningInGivesANewSession covers S18 and S19.
func TestSigningInGivesANewSession(t *testing.T) {
	t.Parallel()
	b := setup(t, hashed)
	b.get("/nl/admin/orders?status=paid")
	b.want(200, "/nl/admin/sign-in?to=", "sign-in-form")
	path, form := b.last.form(t, "/admin/sign-in")
	form.Set("user", "eva")
	form.Set("password", "correct horse battery")
	b.post(path, form)
	b.want(200, "/nl/admin/orders?status=paid", "list-empty", "staff")
	server, _ := url.Parse(b.server.URL)
	first := b.client.Jar.Cookies(server)
	old := first[len(first)-1]
	b.signIn("eva", "correct horse battery")
	if len(b.desk.sessions) != 1 {
		t.Errorf("%d sessions, want the old one to be over", len(b.desk.sessions))
	}
	for token := range b.desk.sessions {
		if len(token) < 26 || strings.Contains(old.Value, token) {
			t.Errorf("the token is %q, the one before was %q", token, old.Value)
		}
	}
	b.do("POST", "/admin/sign-out", nil, nil)
	b.want(200, "/admin/sign-in")
	if len(b.desk.sessions) != 0 {
		t.Error("signing out leaves the session")
	}
	if b.get("/admin/orders"); !strings.HasPrefix(b.last.path, "/admin/sign-in") {
		t.Errorf("after signing out: %s", b.last.path)
	}
}

func TestASessionEndsAfterTwelveHours(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.now = b.now.Add(12*time.Hour - time.Minute)
	b.get("/admin/orders")
	b.want(200, "/admin/orders", "staff")
	b.now = b.now.Add(time.Minute)
	b.get("/admin/orders")
	b.want(200, "/admin/sign-in", "sign-in-form")
}

func TestTheCookieIsForThisHostAlone(t *testing.T) {
	t.Parallel()
	for secure, name := range map[bool]string{false: "desk=", true: "__Host-desk="} {
		b := setup(t, func(cfg *web.Config) { cfg.Secure = secure })
		b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		cookie := b.signIn("", "").header.Get("Set-Cookie")
		for _, part := range []string{name, "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=43200"} {
			if !strings.Contains(cookie, part) {
				t.Errorf("secure %t: %q lacks %s", secure, cookie, part)
			}
		}
		if strings.Contains(cookie, "Secure") != secure {
			t.Errorf("secure %t: %q", secure, cookie)
		}
	}
}

// TestWrongPasswordAndUnknownUserGetOneAnswer covers S37.
func TestWrongPasswordAndUnknownUserGetOneAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, hashed)
	wrong := b.signIn("eva", "wrong")
	b.want(422, "/admin/sign-in", "sign-in-problem")
	unknown := b.signIn("abe", "correct horse battery")
	if wrong.status != unknown.status || strings.ReplaceAll(wrong.body, "eva", "abe") != unknown.body {
		t.Errorf("%d and %d tell them apart", wrong.status, unknown.status)
	}
	if strings.Contains(wrong.body, "wrong\"") || len(b.desk.sessions) != 0 {
		t.Error("the page repeats the password, or somebody came in")
	}
}

// TestFiveGuessesLockTheNameAndTheAddress covers S36 and S37.
func TestFiveGuessesLockTheNameAndTheAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, hashed)
	for range 5 {
		b.signIn("eva", "wrong")
		b.want(422, "/admin/sign-in")
		b.now = b.now.Add(time.Minute)
	}
	for _, user := range []string{"eva", "somebody"} { // the address is the same
		b.signIn(user, "correct horse battery")
		b.want(429, "/admin/sign-in", "sign-in-problem", "sign-in-form")
		if b.last.header.Get("Retry-After") != "601" {
			t.Errorf("Retry-After: %q", b.last.header.Get("Retry-After"))
		}
	}
	b.now = b.now.Add(9 * time.Minute)
	b.signIn("eva", "correct horse battery")
	b.want(429, "/admin/sign-in")
	b.now = b.now.Add(time.Minute)
	b.signIn("eva", "correct horse battery")
	b.want(200, "/admin/orders", "staff")
	if len(b.desk.tries) != 0 {
		t.Error("who has signed in is still counted")
	}
}

// TestWhenNobodyCountsNobodyComesIn: the lockout fails closed.
func TestWhenNobodyCountsNobodyComesIn(t *testing.T) {
	t.Parallel()
	b := setup(t, hashed)
	b.signIn("eva", "correct horse battery")
	b.want(200, "/admin/orders", "staff")
	b.desk.broken = errors.New("no database")
	b.get("/admin/orders")
	b.want(503, "/admin/orders", "problem")
	b.client.Jar = nil
	b.signIn("eva", "correct horse battery")
	b.want(503, "/admin/sign-in", "problem")
	if len(b.desk.sessions) != 1 {
		t.Error("somebody came in")
	}
}

// TestTheWayBackStaysAtTheDesk covers S23.
func TestTheWayBackStaysAtTheDesk(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/admin/orders?status=paid":     "/admin/orders?status=paid",
		"/nl/admin/orders/EM-1?done=x":  "/admin/orders/EM-1?done=x",
		"https://evil.example/admin/or": "/admin/or", // its path alone
		"//evil.example/admin":          "/admin/orders", "/\\evil.example": "/admin/orders", "https:evil.example": "/admin/orders",
		"//evil.example": "/admin/orders", "/admin/../basket": "/admin/orders", "/admin/sign-out": "/admin/orders", "/administrator": "/admin/orders",
		"javascript:alert(1)": "/admin/orders", "/admin/\r\nLocation: //evil": "/admin/orders", "%2f%2fevil.example": "/admin/orders", "": "/admin/orders",
	} {
		b := setup(t)
		b.client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
			if len(via) > 1 || strings.HasPrefix(want, "/admin/or") && r.URL.Path != "/admin" {
				return http.ErrUseLastResponse
			}
			return nil
		}
		got := b.post("/admin/sign-in", url.Values{"to": {to}})
		if location := got.header.Get("Location"); location != want {
			t.Errorf("%q leads to %q, want %q", to, location, want)
		}
	}
}

// TestAnotherSiteCanNeitherSignInNorRefund covers S16 and S17.
func TestAnotherSiteCanNeitherSignInNorRefund(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	sessions := fmt.Sprint(b.desk.sessions)
	foreign := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}}
	b.do("POST", "/admin/sign-in", url.Values{}, foreign)
	if b.last.status != 403 || b.last.header.Get("Set-Cookie") != "" || fmt.Sprint(b.desk.sessions) != sessions {
		t.Errorf("the sign-in: %d", b.last.status)
	}
	path, form := b.refundForm()
	form.Set("amount", "1")
	if b.do("POST", path, form, foreign); b.last.status != 403 || len(b.desk.changes) != 0 {
		t.Errorf("the refund: %d", b.last.status)
	}
}

func (b *bundle) refundForm() (path string, form url.Values) {
	b.t.Helper()
	b.get("/admin/orders/EM-7K4Q-1M/payments/" + b.payments[0].ID + "/refund")
	b.want(200, "/admin/orders/EM-7K4Q-1M/payments/"+b.payments[0].ID+"/refund/", "action-form", "field-amount")
	return b.last.form(b.t, b.last.path)
}

func TestARefundThatIsPressedTwiceIsOne(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.get("/admin/orders/EM-7K4Q-1M")
	b.want(200, "/admin/orders/EM-7K4Q-1M", "to-refund", "to-cancel", "payment")
	if b.last.has("to-capture") || b.last.has("to-void") {
		t.Error("the page offers what is not possible")
	}
	path, form := b.refundForm()
	if !strings.Contains(b.last.body, `value="41.95"`) {
		t.Error("the form does not offer all that is left")
	}
	form.Set("amount", "5,00")
	for range 2 {
		b.post(path, form)
		b.want(200, "/admin/orders/EM-7K4Q-1M?done=", "done", "change-refund", "action-row")
		if !strings.Contains(b.last.body, "€5.00 was refunded.") {
			t.Error("the page does not say what was done")
		}
	}
	if b.get(path); !b.last.has("done") { // Back, or a second tab
		t.Errorf("the form that was sent: %s", b.last.path)
	}
	form.Set("amount", "6.00")
	b.post(path, form) // another amount with the same key
	b.want(409, path, "action-problem", "start-again")
	if len(b.desk.changes) != 1 || len(b.desk.actions) != 1 || b.desk.actions[0].Staff != "staff" || b.desk.actions[0].Action != "refund" {
		t.Errorf("changes %v, actions %v", b.desk.changes, b.desk.actions)
	}
}

func TestAWrongAmountIsToldAndKept(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	path, form := b.refundForm()
	for typed, sentence := range map[string]string{
		"": "Enter an amount", "abc": "such as 12.50", "1.234,50": "such as 12.50", "-5": "such as 12.50", "1e3": "such as 12.50", "5.005": "such as 12.50",
		"0": "more than nothing", "41.96": "not that large", "9999999999": "such as 12.50", "<b>1": "such as 12.50",
	} {
		form.Set("amount", typed)
		b.post(path, form)
		b.want(422, path, "error-summary", "error-amount")
		if !strings.Contains(b.last.body, sentence) || strings.Contains(b.last.body, "<b>1") || typed == "abc" && !strings.Contains(b.last.body, `value="abc"`) {
			t.Errorf("%q: not told %q, or not kept", typed, sentence)
		}
	}
	if len(b.desk.changes) != 0 || len(b.desk.actions) != 0 {
		t.Error("something was done")
	}
	for typed, cents := range map[string]int64{"1": 100, " 1.5 ": 150, "€ 1,25": 125, "2,05": 205} {
		path, form := b.refundForm()
		form.Set("amount", typed)
		b.post(path, form)
		b.want(200, "/admin/orders/EM-7K4Q-1M?done=", "done")
		if got := b.desk.changes[len(b.desk.changes)-1].Amount; got != domain.EUR(cents) {
			t.Errorf("%q was %v", typed, got)
		}
	}
}

// TestWhatCameOfAPressIsTold: a refusal, and what is not known yet.
func TestWhatCameOfAPressIsTold(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	path, form := b.refundForm()
	b.desk.changeFails = domain.Errorf(domain.Unknown, "outcome_unknown", "Unknown.")
	form.Set("amount", "5")
	b.post(path, form)
	b.want(503, path, "action-problem", "action-form")
	if !strings.Contains(b.last.body, "it counts once") || !strings.Contains(b.last.body, `value="5"`) || b.last.header.Get("Retry-After") == "" {
		t.Error("the page does not say that pressing again is safe, or forgot the amount")
	}
	b.post(path, form)
	b.want(200, "/admin/orders/EM-7K4Q-1M?done=", "done")
	path, form = b.refundForm()
	form.Set("amount", "41.95") // more than is left
	b.post(path, form)
	b.want(422, path, "action-problem", "start-again")
	if b.last.has("action-form") || !strings.Contains(b.last.body, "more than is left to refund") {
		t.Error("the page does not say why, or offers the form again")
	}
	if len(b.desk.changes) != 1 {
		t.Errorf("%d refunds", len(b.desk.changes))
	}
}

func TestWhatCannotBeNotedIsNotDone(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	path, form := b.refundForm()
	form.Set("amount", "5")
	b.desk.noteFails = errors.New("no database")
	b.post(path, form)
	b.want(503, path, "problem")
	if len(b.desk.changes) != 0 {
		t.Error("a refund by nobody")
	}
}

func TestAnOrderIsCancelledOnce(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.get("/nl/admin/orders/EM-7K4Q-1M/cancel")
	b.want(200, "/nl/admin/orders/EM-7K4Q-1M/cancel/", "action-form")
	path, form := b.last.form(t, b.last.path)
	for range 2 {
		b.post(path, form)
		b.want(200, "/nl/admin/orders/EM-7K4Q-1M?done=", "done")
	}
	b.get("/admin/orders/EM-7K4Q-1M/cancel")
	b.want(200, "/admin/orders/EM-7K4Q-1M/cancel/", "action-problem")
	if b.last.has("action-form") {
		t.Error("a cancelled order can be cancelled")
	}
	if len(b.desk.actions) != 1 {
		t.Errorf("actions: %v", b.desk.actions)
	}
}

// TestTheDeskOffersWhatIsPossible with a reservation, before and after its order was cancelled.
func TestTheDeskOffersWhatIsPossible(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.payments[0].Status, b.payments[0].Captured, b.payments[0].Manual = domain.PaymentAuthorized, domain.EUR(0), true
	for status, offers := range map[domain.OrderStatus][]string{
		domain.OrderAwaitingPayment: {"to-capture", "to-void", "to-cancel"}, domain.OrderCancelled: {"to-void"},
	} {
		b.orders[0].Status = status
		b.get("/admin/orders/EM-7K4Q-1M")
		for _, id := range []string{"to-refund", "to-capture", "to-void", "to-cancel"} {
			if got, want := b.last.has(id), slices.Contains(offers, id); got != want {
				t.Errorf("%s: %s is offered: %t, want %t", status, id, got, want)
			}
		}
	}
}

func TestOrdersAreFoundAndChosen(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.get("/admin/orders?q=EM-7K4Q-1M&status=paid")
	b.want(200, "/admin/orders", "order-row")
	b.get("/admin/orders?q=nobody")
	b.want(200, "/admin/orders", "list-empty")
	if !strings.Contains(b.last.body, "Nothing matches.") || !strings.Contains(b.last.body, `value="nobody"`) {
		t.Error("the empty list does not say why, or forgot what was searched for")
	}
	b.get("/admin/orders?status=nonsense")
	b.want(200, "/admin/orders", "order-row")
	b.get("/admin/orders/EM-NONE")
	b.want(404, "/admin/orders/EM-NONE")
	b.readFails = errors.New("no database")
	b.get("/admin/orders")
	b.want(503, "/admin/orders", "problem")
}

// TestHostileTextIsTextAtTheDesk covers S21.
func TestHostileTextIsTextAtTheDesk(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	b.orders[0].Name, b.orders[0].Email, b.orders[0].Address.City = hostile, hostile, hostile
	for _, path := range []string{"/admin/orders", "/admin/orders/EM-7K4Q-1M", "/admin/orders?q=" + url.QueryEscape(hostile), "/admin/orders/EM-7K4Q-1M?done=" + url.QueryEscape(hostile)} {
		if b.get(path); strings.Contains(b.last.body, "<script>alert") || strings.Contains(b.last.body, "<img src=x") {
			t.Errorf("%s holds markup of a customer", path)
		}
	}
}
