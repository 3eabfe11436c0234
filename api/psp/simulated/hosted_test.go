package simulated_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/api/psp/simulated"
)

const shopReturn = "https://shop.example/checkout/17/return"

// shown is a hosted page, or the redirect away from it.
type shown struct {
	status int
	header http.Header
	body   string
}

// visit gets a page (button "") or presses a button on it, without following redirects.
func (p *provider) visit(t *testing.T, address, button string, header ...string) shown {
	t.Helper()
	method, body := http.MethodGet, ""
	if button != "" {
		method, body = http.MethodPost, url.Values{"do": {button}}.Encode()
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return shown{res.StatusCode, res.Header, string(text)}
}

// press presses a button that must lead somewhere, and gives where.
func (p *provider) press(t *testing.T, address, button string) string {
	t.Helper()
	got := p.visit(t, address, button)
	if got.status != http.StatusSeeOther {
		t.Fatalf("%s: got %d %s, want a redirect", button, got.status, got.body)
	}
	return got.header.Get("Location")
}

// pages is a provider with hosted pages.
func pages(t *testing.T, cfg simulated.ServerConfig) *provider {
	t.Helper()
	if cfg.Path == "" {
		cfg.Path = ledgerFile(t)
	}
	p := serve(t, cfg)
	p.SetPublicURL(p.URL)
	return p
}

func redirectOrder(reference, method string) string {
	text, _ := json.Marshal(map[string]any{"reference": reference, "amount": 4195, "currency": "EUR", "token": "",
		"method": method, "return_url": shopReturn + "?t=1"})
	if method == "tok_3ds" {
		return strings.NewReplacer(`"method":"tok_3ds",`, ``, `"token":""`, `"token":"tok_3ds"`).Replace(string(text))
	}
	return string(text)
}

// pending makes a charge that awaits its customer.
func (p *provider) pending(t *testing.T, reference, method string) entry {
	t.Helper()
	got := p.post(t, "key-"+reference, redirectOrder(reference, method))
	want(t, got, http.StatusAccepted, "")
	var e entry
	if err := json.Unmarshal([]byte(got.body), &e); err != nil {
		t.Fatal(err)
	}
	if e.Status != "pending" || e.Captured != 0 || !strings.HasPrefix(e.RedirectURL, p.URL+"/testbank/"+e.ID+"?s=") {
		t.Fatalf("got %+v, want a pending charge with a page", e)
	}
	return e
}

func TestTheCustomerDecidesOnTheHostedPage(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"ideal", "tok_3ds"} {
		for button, status := range map[string]string{"approve": "succeeded", "decline": "declined", "cancel": "canceled"} {
			t.Run(method+" "+button, func(t *testing.T) {
				t.Parallel()
				p := pages(t, simulated.ServerConfig{})
				e := p.pending(t, "EM-1", method)
				page := p.visit(t, e.RedirectURL, "")
				for _, text := range []string{"pretend bank", "€41.95", "EM-1", `value="approve"`, `value="decline"`, `value="cancel"`, `value="disorder"`} {
					if page.status != http.StatusOK || !strings.Contains(page.body, text) {
						t.Errorf("got %d %s, want %q in it", page.status, page.body, text)
					}
				}
				if got, want := p.press(t, e.RedirectURL, button), shopReturn+"?payment="+e.ID+"&t=1"; got != want {
					t.Errorf("got back to %q, want %q", got, want)
				}
				// The same button, and another one, change nothing any more.
				for _, again := range []string{button, "approve", "cancel"} {
					p.settledPage(t, e, again, status)
				}
			})
		}
	}
}

// settledPage presses a button too late, and checks that the charge keeps its status and its page
// tells it and leads back.
func (p *provider) settledPage(t *testing.T, e entry, button, status string) {
	t.Helper()
	got := p.press(t, e.RedirectURL, button)
	if !strings.HasPrefix(got, "?") {
		t.Errorf("%s again: got sent to %q, want the page itself", button, got)
	}
	page := p.visit(t, strings.Split(e.RedirectURL, "?")[0]+got, "")
	said := map[string]string{"succeeded": "You approved", "declined": "was declined", "canceled": "was canceled"}[status]
	if !strings.Contains(page.body, said) || !strings.Contains(page.body, `href="`+shopReturn+`?payment=`) || strings.Contains(page.body, "<button") {
		t.Errorf("got %s, want %q, a way back and no button", page.body, said)
	}
	list := p.entries(t, "reference", e.Reference)
	if len(list) != 1 || list[0].Status != status || list[0].Version != 2 || list[0].RedirectURL != "" {
		t.Errorf("got %+v, want one %s charge of version 2 without a page", list, status)
	}
}

func TestApprovingAReservationReserves(t *testing.T) {
	t.Parallel()
	p := pages(t, simulated.ServerConfig{})
	body := strings.Replace(redirectOrder("EM-1", "tok_3ds"), `{`, `{"capture":"manual",`, 1)
	want(t, p.post(t, "key-1", body), http.StatusAccepted, "")
	e := p.entries(t, "reference", "EM-1")[0]
	p.press(t, e.RedirectURL, "approve")
	if e := p.entries(t, "reference", "EM-1")[0]; e.Status != "authorized" || e.Captured != 0 {
		t.Errorf("got %+v, want it authorized", e)
	}
}

func TestACustomerMayStayAtTheBank(t *testing.T) {
	t.Parallel()
	p := pages(t, simulated.ServerConfig{})
	e := p.pending(t, "EM-1", "ideal")
	if got := p.press(t, e.RedirectURL, "stay"); !strings.HasPrefix(got, "?") {
		t.Errorf("got sent to %q, want the page itself", got)
	}
	p.paid(t, "EM-1", 1)
}

func TestAPageNeedsItsToken(t *testing.T) {
	t.Parallel()
	now := newClock()
	p := pages(t, simulated.ServerConfig{Now: now.read, PageTTL: 48 * time.Hour})
	e := p.pending(t, "EM-1", "ideal")
	paid := p.post(t, "key-2", order("EM-2", "tok_ok"))
	want(t, paid, http.StatusCreated, "")
	withoutPage := p.entries(t, "reference", "EM-2")[0]
	page := strings.Split(e.RedirectURL, "?")[0]
	for _, address := range []string{page, page + "?s=", page + "?s=wrong", e.RedirectURL + "x",
		p.URL + "/testbank/ch_none?s=x", p.URL + "/testbank/" + withoutPage.ID + "?s="} {
		for _, button := range []string{"", "approve"} {
			if got := p.visit(t, address, button); got.status != http.StatusNotFound || strings.Contains(got.body, "EM-") {
				t.Errorf("%s: got %d %s, want 404 that tells nothing", address, got.status, got.body)
			}
		}
	}
	now.pass(24*time.Hour + time.Second)
	if got := p.visit(t, e.RedirectURL, "approve"); got.status != http.StatusNotFound {
		t.Errorf("expired: got %d, want 404", got.status)
	}
	p.paid(t, "EM-1", 0)
}

func TestACustomerWhoTakesTooLongHasCanceled(t *testing.T) {
	t.Parallel()
	now := newClock()
	p := pages(t, simulated.ServerConfig{Now: now.read, PageTTL: time.Minute})
	e := p.pending(t, "EM-1", "ideal")
	now.pass(time.Minute)
	p.post(t, "key-2", order("EM-2", "tok_ok")) // anything that wakes the sender
	eventually(t, "the charge is canceled", func() bool { return p.entries(t, "reference", "EM-1")[0].Status == "canceled" })
	p.settledPage(t, e, "approve", "canceled")
}

// S23: the customer is sent back to the shop or not at all.
func TestNoOpenRedirect(t *testing.T) {
	t.Parallel()
	p := pages(t, simulated.ServerConfig{ReturnBase: "https://shop.example/nl"})
	n := 0
	for address, fine := range map[string]bool{
		"https://shop.example/nl/return": true, "https://shop.example/nl?a=b": true, "": true,
		"https://shop.example/return": false, "https://shop.example/nlx": false, "https://shop.example/nl/../admin": false,
		"http://shop.example/nl/return": false, "https://shop.example.evil/nl/": false, "https://shop.example@evil/nl/": false,
		"https://evil/nl/": false, "//evil/nl/": false, "/nl/return": false, `https://shop.example\@evil/nl/`: false,
		`https://shop.example/nl/\evil`: false, "https://shop.example:444/nl/": false, "javascript:alert(1)": false, "https:///nl/": false,
		"https://shop.example%2eevil/nl/": false, "https://shop.example/nl/\n": false,
	} {
		text, _ := json.Marshal(map[string]any{"reference": "EM-1", "amount": 1, "currency": "EUR", "token": "tok_3ds", "return_url": address})
		n++
		got := p.post(t, "key-"+strconv.Itoa(n), string(text))
		if fine && got.status != http.StatusAccepted || !fine && got.status != http.StatusUnprocessableEntity {
			t.Errorf("%q: got %+v, want accepted: %v", address, got, fine)
		}
	}
	if _, err := simulated.NewServer(simulated.ServerConfig{Path: ledgerFile(t), ReturnBase: "shop.example"}); err == nil {
		t.Error("a ReturnBase that is no address: got no error")
	}
}

func TestTheHostedPageIsHardened(t *testing.T) {
	t.Parallel()
	p := pages(t, simulated.ServerConfig{})
	e := p.pending(t, "EM-1", "ideal")
	one, two := p.visit(t, e.RedirectURL, ""), p.visit(t, e.RedirectURL, "")
	csp := one.header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "style-src 'nonce-", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self' https://shop.example"} {
		if !strings.Contains(csp, part) {
			t.Errorf("got policy %q, want %q in it", csp, part)
		}
	}
	nonce := strings.Split(strings.Split(csp, "'nonce-")[1], "'")[0]
	if !strings.Contains(one.body, `<style nonce="`+nonce+`">`) || csp == two.header.Get("Content-Security-Policy") {
		t.Errorf("got policy %q, want a nonce of its own for each page", csp)
	}
	for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store", "Referrer-Policy": "same-origin"} {
		if got := one.header.Get(name); got != value {
			t.Errorf("%s: got %q, want %q", name, got, value)
		}
	}
	if strings.Contains(one.body, "style=") || strings.Contains(one.body, "<script") {
		t.Error("the page has inline style or a script")
	}
	if got := p.visit(t, e.RedirectURL, "nonsense"); got.status != http.StatusBadRequest {
		t.Errorf("an unknown button: got %d, want 400", got.status)
	}
}

func TestAHostileReferenceIsText(t *testing.T) {
	t.Parallel()
	p := pages(t, simulated.ServerConfig{})
	hostile := `"><script>alert(1)</script><b x='`
	text, _ := json.Marshal(map[string]any{"reference": hostile, "amount": 1, "currency": "EUR", "token": "tok_3ds",
		"return_url": `https://shop.example/"><script>alert(2)</script>`})
	want(t, p.post(t, "key-1", string(text)), http.StatusAccepted, "")
	e := p.entries(t, "idempotency_key", "key-1")[0]
	for range 2 {
		if page := p.visit(t, e.RedirectURL, ""); strings.Contains(page.body, "<script") || !strings.Contains(page.body, "&lt;script&gt;alert(1)") {
			t.Errorf("got %s, want the reference as text", page.body)
		}
		p.press(t, e.RedirectURL, "approve")
	}
}

func TestThePageSpeaksDutch(t *testing.T) {
	t.Parallel()
	p := pages(t, simulated.ServerConfig{})
	e := p.pending(t, "EM-1", "ideal")
	for _, c := range []struct{ query, accept, lang, text string }{
		{"", "", "en", "Approve"},
		{"", "nl-BE,nl;q=0.9", "nl", "Goedkeuren"},
		{"&lang=nl", "en", "nl", "€\u00a041,95"},
		{"&lang=en", "nl", "en", "€41.95"},
		{"&lang=xx", "nl", "nl", "nepbank"},
	} {
		page := p.visit(t, e.RedirectURL+c.query, "", "Accept-Language", c.accept)
		if !strings.Contains(page.body, `<html lang="`+c.lang+`"`) || !strings.Contains(page.body, c.text) {
			t.Errorf("%+v: got %s", c, page.body)
		}
	}
	if got := p.press(t, e.RedirectURL+"&lang=nl", "stay"); !strings.Contains(got, "lang=nl") {
		t.Errorf("got %q, want the language kept", got)
	}
}
