package main

import (
	"bytes"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"example.com/eenmaal/web"
)

// guest is a browser without scripts that keeps every answer it got.
type guest struct {
	t       *testing.T
	h       http.Handler
	host    string
	cookies map[string]string
	answers []*httptest.ResponseRecorder
}

// newGuest visits a shop that the world reaches at https://shop.example.
func newGuest(t *testing.T) (*guest, *app) {
	t.Helper()
	a := startApp(t, slog.New(slog.DiscardHandler), map[string]string{"DATA_DIR": t.TempDir(), "BASE_URL": "https://shop.example"})
	return &guest{t: t, h: a.handler(), host: "shop.example", cookies: map[string]string{}}, a
}

// send makes one request and follows where it leads, as long as that is this shop.
func (g *guest) send(method, path string, form url.Values, header ...string) *httptest.ResponseRecorder {
	g.t.Helper()
	for range 10 {
		r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
		r.Host = g.host
		r.Header.Set("X-Forwarded-Host", g.host)
		if method != http.MethodGet {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		for name, value := range g.cookies {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		w := httptest.NewRecorder()
		g.h.ServeHTTP(w, r)
		g.answers = append(g.answers, w)
		for _, c := range w.Result().Cookies() {
			g.cookies[c.Name] = c.Value
		}
		to := w.Header().Get("Location")
		if w.Code/100 != 3 || !strings.HasPrefix(to, "/") {
			return w
		}
		method, path, form = http.MethodGet, to, nil
	}
	g.t.Fatalf("%s never arrives", path)
	return nil
}

func (g *guest) last() *httptest.ResponseRecorder { return g.answers[len(g.answers)-1] }

var (
	postedForm  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)".*?</form>`)
	hiddenInput = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
)

// press sends the form of the last page whose address ends in action, with what was typed.
func (g *guest) press(action string, typed url.Values) *httptest.ResponseRecorder {
	g.t.Helper()
	page := g.last().Body.String()
	for _, m := range postedForm.FindAllStringSubmatch(page, -1) {
		if !strings.HasSuffix(m[1], action) {
			continue
		}
		form := url.Values{}
		for _, field := range hiddenInput.FindAllStringSubmatch(m[0], -1) {
			form.Set(html.UnescapeString(field[1]), html.UnescapeString(field[2]))
		}
		for name, values := range typed {
			form[name] = values
		}
		return g.send(http.MethodPost, m[1], form)
	}
	g.t.Fatalf("no form to %s on %s", action, page)
	return nil
}

func typedDetails(method string) url.Values {
	return url.Values{"email": {"sanne@example.nl"}, "name": {"Sanne de Vries"}, "line1": {"Damrak 1"}, "postal_code": {"1012 AB"},
		"city": {"Amsterdam"}, "country": {"NL"}, "method": {method}}
}

// checkout goes to the details page of a new checkout, and says where that is.
func (g *guest) checkout() (path string) {
	g.t.Helper()
	g.send(http.MethodPost, "/basket", url.Values{"sku": {"mug"}, "quantity": {"2"}})
	page := g.press("/checkout", nil).Body.String()
	path = regexp.MustCompile(`action="(/checkout/[0-9a-f-]+)"`).FindStringSubmatch(page)[1]
	return path
}

// order buys two mugs.
func (g *guest) order(method string) *httptest.ResponseRecorder {
	g.t.Helper()
	path := g.checkout()
	g.press(path, typedDetails(method))
	return g.press("/pay", nil)
}

// effects counts what was made, or is on its way.
func effects(t *testing.T, a *app) (n int) {
	t.Helper()
	query := "SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM payments) + (SELECT count(*) FROM messages) + (SELECT count(*) FROM mails)"
	if err := a.db.SQL().QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// concrete is an address that a route's pattern takes.
func concrete(pattern string) string {
	id := uuid.Must(uuid.NewV7()).String()
	return regexp.MustCompile(`[:*]\w+`).ReplaceAllStringFunc(pattern, func(name string) string {
		switch name {
		case ":slug":
			return "mug"
		case ":name":
			return "app.css"
		default:
			return id
		}
	})
}

// TestEveryAnswerIsGuardedByItsHeaders covers S20 and S22: every route of the router, and what is answered
// where there is none, by mistake, to a foreign form and when the shop has failed.
func TestEveryAnswerIsGuardedByItsHeaders(t *testing.T) {
	t.Parallel()
	g, a := newGuest(t)
	look := func(what string, w *httptest.ResponseRecorder) {
		t.Helper()
		h := w.Header()
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Strict-Transport-Security": "max-age=31536000; includeSubDomains"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s (%d): %s is %q, want %q", what, w.Code, name, got, want)
			}
		}
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src '", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s (%d): the policy %q has no %s", what, w.Code, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s (%d): the policy is %q", what, w.Code, policy)
		}
		if strings.HasPrefix(h.Get("Content-Type"), "text/html") && (!strings.Contains(policy, "base-uri 'none'") || !strings.Contains(policy, "form-action 'self'") && !strings.Contains(policy, "form-action 'none'")) {
			t.Errorf("%s (%d): the page's policy is %q", what, w.Code, policy)
		}
	}
	routes := a.routes().Routes()
	for _, r := range routes {
		if r.Method != http.MethodConnect {
			path := concrete(r.Path)
			look(r.Method+" "+r.Path, send(g.h, r.Method, path, "", "Idempotency-Key", uuid.NewString()))
			look("foreign "+r.Method+" "+r.Path, send(g.h, r.Method, path, "", "Sec-Fetch-Site", "cross-site"))
		}
	}
	for _, path := range []string{"/nothing", "/nl/nothing", "/v1/nothing", "/static/nothing", "/p/nothing", "/orders/nothing"} {
		for _, method := range []string{"GET", "POST", "PUT", "TRACE"} {
			look(method+" "+path, send(g.h, method, path, ""))
			look(method+" "+path+"/", send(g.h, method, path+"/", ""))
		}
	}
	a.close() // now everything that needs the database fails
	for _, r := range routes {
		if r.Method == http.MethodGet {
			w := send(g.h, "GET", concrete(r.Path), "", "Authorization", "Bearer demo-alpha")
			look("without a database, "+r.Path, w)
			if body := w.Body.String(); strings.Contains(body, "sql:") || strings.Contains(body, "[running]") {
				t.Errorf("without a database %s says too much: %s", r.Path, body)
			}
		}
	}
	if w := send(g.h, "GET", "/", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("the home page without a database: %d, so nothing has failed", w.Code)
	}
}

// TestFormsOfOtherSitesAreRefused covers S16 and S17: there is no session but the basket's cookie, and
// another site cannot set it.
func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	g, a := newGuest(t)
	path := g.checkout()
	before := effects(t, a)
	for _, foreign := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.test"}, {"Origin", "null"},
		{"Origin", "http://shop.example:81"}, {"Origin", "https://shop.example.evil.test"}, {"Sec-Fetch-Site", "cross-site", "Origin", "https://shop.example"},
	} {
		for _, r := range web.MutatingRoutes {
			pattern := strings.Replace(r.Pattern, "/checkout/:attempt", path, 1)
			form := typedDetails("tok_ok")
			form.Set("sku", "mug")
			form.Set("quantity", "9")
			w := g.send(r.Method, concrete(pattern), form, foreign...)
			if w.Code != http.StatusForbidden || len(w.Header().Values("Set-Cookie")) > 0 {
				t.Errorf("%s %s with %v: %d, cookies %v", r.Method, r.Pattern, foreign, w.Code, w.Header().Values("Set-Cookie"))
			}
		}
	}
	if got := effects(t, a); got != before {
		t.Errorf("they made %d things", got-before)
	}
	for _, own := range [][]string{{"Sec-Fetch-Site", "same-origin", "Origin", "https://shop.example"}, {"Sec-Fetch-Site", "none"}, {"Origin", "https://shop.example"}, {}} {
		if w := g.send(http.MethodPost, "/basket", url.Values{"sku": {"mug"}, "quantity": {"3"}}, own...); w.Code != http.StatusOK {
			t.Errorf("the shop's own form with %v: %d", own, w.Code)
		}
	}
}

// TestAForeignFormIsToldInTheVisitorsLanguage, on a page of its own with a way on, and by one line of the log
// that holds nothing of what was sent.
func TestAForeignFormIsToldInTheVisitorsLanguage(t *testing.T) {
	t.Parallel()
	var book bytes.Buffer
	h := startApp(t, slog.New(slog.NewJSONHandler(&book, nil)), map[string]string{"DATA_DIR": t.TempDir()}).handler()
	cookie := signedIn(t, h)
	for path, said := range map[string]string{
		"/orders": "Another site sent this", "/nl/orders": "Een andere site stuurde dit", "/basket": "Another site", "/nl/admin/sign-in": "Een andere site",
		"/admin/mails/EM-0000-00/send": "Another site", "/nothing": "Another site", "/nl/admin/nothing": "Een andere site",
	} {
		book.Reset()
		w := send(h, "POST", path, "email=sanne@example.nl", "Content-Type", "application/x-www-form-urlencoded",
			"Origin", "https://evil.test", "Cookie", cookie, "Referer", "https://evil.test/sanne")
		page := w.Body.String()
		if w.Code != http.StatusForbidden || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") || !strings.Contains(page, said) {
			t.Errorf("%s: %d %s", path, w.Code, page)
		}
		if desk := strings.Contains(path, "/admin"); strings.Contains(page, `data-testid="way-on"`) != desk || strings.Contains(page, `data-testid="staff"`) {
			t.Errorf("%s is told in the wrong place, or to the staff: %s", path, page)
		}
		lines := strings.Split(strings.TrimSpace(book.String()), "\n")
		if len(lines) != 1 || !strings.Contains(lines[0], `"outcome":"foreign_form"`) || !strings.Contains(lines[0], `"status":403`) ||
			strings.Contains(lines[0], "sanne") || strings.Contains(lines[0], "evil") || strings.Contains(lines[0], "EM-0000") {
			t.Errorf("%s wrote %q", path, lines)
		}
	}
	w := send(h, "POST", "/v1/orders", "{}", "Sec-Fetch-Site", "cross-site", "Authorization", "Bearer demo-alpha", "Content-Type", "application/json")
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), `"code":"foreign_form"`) {
		t.Errorf("the API: %d %s", w.Code, w.Body)
	}
}

// TestEveryCookieIsClosed covers S18 and S19 over all answers of the router and of a whole visit. Nobody
// logs in to the shop: a cookie that it did not sign is worth nothing, so none can be fixed for somebody.
func TestEveryCookieIsClosed(t *testing.T) {
	t.Parallel()
	g, a := newGuest(t)
	g.cookies["__Host-basket"] = "bXVnOjU.AAAA"
	if page := g.send("GET", "/basket", nil).Body.String(); !strings.Contains(page, `data-testid="basket-empty"`) {
		t.Error("a basket that somebody else wrote is believed")
	}
	delete(g.cookies, "__Host-basket")
	for _, sku := range []string{"teapot", "bowl", "vase", "lamp", "notebook", "candle", "plate"} {
		g.send(http.MethodPost, "/basket", url.Values{"sku": {sku}, "quantity": {"99"}})
	}
	g.send("GET", "/nl?lang=nl", nil)
	g.send(http.MethodPost, "/basket", url.Values{"sku": {"lamp"}, "quantity": {"1"}})
	if w := g.order("tok_ok"); !strings.Contains(w.Body.String(), `data-testid="order-paid"`) {
		t.Fatalf("not paid: %s", w.Body)
	}
	for _, r := range a.routes().Routes() {
		if r.Method != http.MethodConnect {
			g.send(r.Method, concrete(r.Path), nil)
		}
	}
	names := map[string]bool{}
	for _, w := range g.answers {
		for _, line := range w.Header().Values("Set-Cookie") {
			c, err := http.ParseSetCookie(line)
			if err != nil {
				t.Fatal(err)
			}
			names[c.Name] = true
			if !strings.HasPrefix(c.Name, "__Host-") || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || len(line) > 4096 {
				t.Errorf("the cookie %q is open, or too long", line)
			}
		}
	}
	for _, want := range []string{"__Host-basket", "__Host-lang", "__Host-orders"} {
		if !names[want] {
			t.Errorf("no answer set %s: %v", want, names)
		}
	}
}

// TestNoStepCanBeSkipped covers S15: whatever is sent too early leads back to the step that is missing.
func TestNoStepCanBeSkipped(t *testing.T) {
	t.Parallel()
	g, a := newGuest(t)
	keys := url.Values{"order_key": {uuid.NewString()}, "payment_key": {uuid.NewString()}, "total": {"1"}}
	nowhere := "/checkout/" + uuid.NewString()
	shows := func(what string, w *httptest.ResponseRecorder, status int, id string) {
		t.Helper()
		if w.Code != status || !strings.Contains(w.Body.String(), `data-testid="`+id+`"`) {
			t.Errorf("%s: %d without %s: %s", what, w.Code, id, w.Body)
		}
	}
	shows("a checkout without a basket", g.send(http.MethodPost, "/checkout", url.Values{"attempt": {uuid.NewString()}}), 200, "basket-empty")
	for _, step := range []string{"", "/pay", "/payments"} {
		shows("a checkout that nobody began, "+step, g.send(http.MethodPost, nowhere+step, keys), 404, "checkout-not-found")
	}
	path := g.checkout()
	shows("review before the details", g.send("GET", path+"/review", nil), 200, "details-form")
	shows("status before the details", g.send("GET", path+"/status", nil), 200, "details-form")
	shows("paying before the details", g.send(http.MethodPost, path+"/pay", keys), 200, "details-form")
	shows("another card before the details", g.send(http.MethodPost, path+"/payments", url.Values{"method": {"tok_ok"}, "payment_key": keys["payment_key"]}), 200, "details-form")
	g.send("GET", path, nil)
	shows("the review", g.press(path, typedDetails("tok_ok")), 200, "pay-form")
	if w := g.send(http.MethodPost, path+"/pay", keys); strings.Contains(w.Body.String(), "order-paid") {
		t.Error("paid with keys that are not the checkout's")
	}
	shows("an order's page by its number alone", g.send("GET", "/orders/EM-0000-00", nil), 404, "not-found")
	shows("the way back without a payment", g.send("GET", "/return/"+uuid.NewString()+"?status=paid", nil), 404, "problem")
	if n := effects(t, a); n != 0 {
		t.Errorf("skipping steps made %d things", n)
	}
	g.send("GET", path+"/review", nil)
	shows("paying in order", g.press("/pay", nil), 200, "order-paid")
}

// TestTheHostChoosesNoAddress covers S42: links in mails and pages, redirects, and the address that the
// provider sends customers back to are those of the settings.
func TestTheHostChoosesNoAddress(t *testing.T) {
	t.Parallel()
	g, a := newGuest(t)
	g.host = "evil.test"
	g.order("tok_ok")
	g.send("GET", "/mailbox", nil)
	if page := g.last().Body.String(); !strings.Contains(page, "https://shop.example/orders/EM-") {
		t.Errorf("the mail does not lead to the shop: %s", page)
	}
	if w := g.order("ideal"); w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "https://shop.example/testbank/") {
		t.Errorf("the bank: %d to %q", w.Code, w.Header().Get("Location"))
	}
	bank := strings.TrimPrefix(g.last().Header().Get("Location"), "https://shop.example")
	if w := g.send(http.MethodPost, bank, url.Values{"do": {"cancel"}}); !strings.HasPrefix(w.Header().Get("Location"), "https://shop.example/") {
		t.Errorf("back from the bank: %d to %q", w.Code, w.Header().Get("Location"))
	}
	for _, r := range a.routes().Routes() {
		if r.Method == http.MethodGet || r.Method == http.MethodPost {
			g.send(r.Method, concrete(r.Path), nil)
		}
	}
	for _, w := range g.answers {
		for name, values := range w.Header() {
			if strings.Contains(strings.Join(values, " "), "evil") {
				t.Errorf("%s: %v", name, values)
			}
		}
		if strings.Contains(w.Body.String(), "evil") {
			t.Errorf("a page leads to the host of the request: %s", w.Body)
		}
	}
}
