package main

import (
	"bytes"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/eenmaal/web/admin"
)

// TestProductionHasNoDeskWithoutAPassword covers S37: there is no account that everybody knows.
func TestProductionHasNoDeskWithoutAPassword(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		mode, hash     string
		desk, oneClick bool
	}{{"demo", "", true, true}, {"production", "", false, false}, {"production", admin.HashPassword("x"), true, false}} {
		a := newTestApp(t, slog.New(slog.DiscardHandler))
		a.cfg.Mode, a.cfg.AdminPasswordHash = tt.mode, tt.hash
		switch desk := a.desk(); {
		case (desk != nil) != tt.desk:
			t.Errorf("%s, hash %t: a desk is there: %t", tt.mode, tt.hash != "", desk != nil)
		case desk != nil && desk.OneClick != tt.oneClick:
			t.Errorf("%s: one click is %t", tt.mode, desk.OneClick)
		}
	}
}

// TestADemoWithAPasswordAsksForIt: whoever sets one does not want everybody behind the counter.
func TestADemoWithAPasswordAsksForIt(t *testing.T) {
	t.Parallel()
	var book bytes.Buffer
	a := startApp(t, slog.New(slog.NewJSONHandler(&book, nil)), map[string]string{"DATA_DIR": t.TempDir(), "ADMIN_USER": "eva",
		"ADMIN_PASSWORD_HASH": admin.HashPassword("correct horse battery")})
	h := a.handler()
	signIn := func(user, password string) (status int, cookie string) {
		form := url.Values{"user": {user}, "password": {password}}
		w := send(h, "POST", "/admin/sign-in", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
		return w.Code, w.Header().Get("Set-Cookie")
	}
	if status, cookie := signIn("", ""); status != 422 || cookie != "" {
		t.Errorf("one click: %d", status)
	}
	status, cookie := signIn("eva", "correct horse battery")
	if status != 303 || !strings.HasPrefix(cookie, "desk=") {
		t.Fatalf("the password: %d, %q", status, cookie)
	}
	cookie, _, _ = strings.Cut(cookie, ";")
	if w := send(h, "GET", "/admin/orders", "", "Cookie", cookie); w.Code != 200 {
		t.Errorf("the orders: %d", w.Code)
	}
	if w := send(h, "GET", "/admin/orders", "", "Cookie", cookie+"x"); w.Code != 303 {
		t.Errorf("with another cookie: %d", w.Code)
	}
	if w := send(h, "GET", "/admin/orders", "", "Authorization", "Bearer demo-alpha"); w.Code != 303 {
		t.Errorf("with an API key: %d", w.Code)
	}
	if strings.Contains(book.String(), "correct horse") || !strings.Contains(book.String(), `"staff signed in","staff":"eva"`) {
		t.Errorf("the log holds the password, or does not tell who signed in:\n%s", book.String())
	}
}

func TestAHashThatCannotBeComparedIsToldAtTheStart(t *testing.T) {
	t.Parallel()
	_, err := LoadConfig(map[string]string{"ADMIN_PASSWORD_HASH": "secret123456"})
	if err == nil || !strings.Contains(err.Error(), "ADMIN_PASSWORD_HASH") || strings.Contains(err.Error(), "secret123456") {
		t.Errorf("got %v", err)
	}
}

func TestAPasswordIsOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"geheim woord\n": "geheim woord", "geheim\r\nmeer\n": "geheim", "zonder einde": "zonder einde", "": ""} {
		name := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(name, []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readPassword(f); err != nil || got != want {
			t.Errorf("%q gives %q, %v", in, got, err)
		}
		_ = f.Close()
	}
}

// TestTheDeskTellsOfALimitItself: who is signed in and presses too often stays at the desk.
func TestTheDeskTellsOfALimitItself(t *testing.T) {
	t.Parallel()
	h := startApp(t, slog.New(slog.DiscardHandler), map[string]string{"DATA_DIR": t.TempDir(), "RATE_LIMIT_ADDRESS": "2"}).handler()
	cookie := signedIn(t, h)
	for range 4 {
		if w := send(h, "POST", "/nl/admin/mails/x/send", "", "Cookie", cookie); w.Code == 429 {
			if page := w.Body.String(); !strings.Contains(page, `data-testid="staff"`) || !strings.Contains(page, `data-testid="way-on"`) || w.Header().Get("Retry-After") == "" {
				t.Errorf("told as %s", page)
			}
			return
		}
	}
	t.Error("there is no limit")
}

// TestTheBannerTellsWhatCannotBeGuessed: where the shop listens behind a proxy, and its desk once there is
// one.
func TestTheBannerTellsWhatCannotBeGuessed(t *testing.T) {
	t.Parallel()
	production := map[string]string{"MODE": "production", "PSP_URL": "http://127.0.0.1:1", "BASE_URL": "https://shop.example",
		"SESSION_SECRET": strings.Repeat("s", 32), "WEBHOOK_SECRET": "whsec_" + strings.Repeat("c2VjcmV0", 5)}
	withDesk := maps.Clone(production)
	withDesk["ADMIN_PASSWORD_HASH"] = admin.HashPassword("correct horse battery")
	for _, tt := range []struct {
		environment map[string]string
		has, hasNot []string
	}{
		{map[string]string{}, []string{"127.0.0.1:8080/mailbox", "127.0.0.1:8080/admin"}, []string{"listens"}},
		{production, []string{"listens    127.0.0.1:8080", "https://shop.example/"}, []string{"/mailbox", "/admin"}},
		{withDesk, []string{"https://shop.example/admin"}, []string{"/mailbox"}},
	} {
		tt.environment["DATA_DIR"] = t.TempDir()
		var said strings.Builder
		startApp(t, slog.New(slog.DiscardHandler), tt.environment).banner(&said, parts{http: true, jobs: true})
		for _, text := range tt.has {
			if !strings.Contains(said.String(), text) {
				t.Errorf("%q is not said in:\n%s", text, said.String())
			}
		}
		for _, text := range tt.hasNot {
			if strings.Contains(said.String(), text) {
				t.Errorf("%q is said in:\n%s", text, said.String())
			}
		}
	}
}
