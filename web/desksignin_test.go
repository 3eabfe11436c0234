package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

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
