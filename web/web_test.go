package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/eenmaal/web"
)

func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := web.New(web.Config{})
	for _, name := range []string{"PlaceOrder", "PayOrder", "SubmitContact", "Reader", "Drafts", "BaseURL", "SessionSecret"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("New does not name %s: %v", name, err)
		}
	}
}

func TestEveryMutatingRouteIsListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	listed := map[string]bool{}
	for _, r := range web.MutatingRoutes {
		listed[r.Method+" "+r.Pattern] = r.Why != ""
	}
	for _, r := range b.router.Routes() {
		name := r.Method + " " + r.Path
		if r.Method != http.MethodGet && !listed[name] {
			t.Errorf("%s is not in MutatingRoutes", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("%s is listed and does not exist", name)
	}
}

func TestBrokenFormsAreRefusedBeforeAnythingHappens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	for _, tt := range []struct {
		name, value string
		want        int
	}{
		{"email", "a\x00b@example.nl", 400},
		{"name", "\xff\xfe", 400},
		{"name", strings.Repeat("x", 70<<10), 413},
	} {
		form := details("tok_ok")
		form.Set(tt.name, tt.value)
		if got := b.post("/checkout/"+attempt, form).status; got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := b.post("/checkout", url.Values{"attempt": {"../../evil"}}).status; got != 400 {
		t.Errorf("a strange attempt gave %d", got)
	}
	for _, path := range []string{"/checkout/nope", "/checkout/00000000-0000-4000-8000-000000000000", "/contact/nope", "/p/nope", "/nl/nope", "/static/nope"} {
		if got := b.get(path).status; got != 404 {
			t.Errorf("%s gave %d", path, got)
		}
	}
}

func TestEveryPageIsGuardedByItsHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|<script(?:[^>]*)>[^<]|\son[a-z]+=|javascript:`)
	pages := []string{"/", "/nl", "/p/mug", "/basket", "/checkout/" + attempt, "/checkout/" + attempt + "/review", "/checkout/" + attempt + "/status", "/contact", "/mailbox", "/nope", "/orders/x", "/checkout/nope"}
	for _, page := range pages {
		got := b.get(page)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s = %q", page, name, got.header.Get(name))
			}
		}
		if m := inline.FindString(got.body); m != "" {
			t.Errorf("%s holds %q", page, m)
		}
		if strings.Contains(got.body, "_key") && got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s holds a key and may be stored", page)
		}
		if !strings.Contains(got.body, `<html lang="en">`) && !strings.HasPrefix(page, "/nl") {
			t.Errorf("%s has no language", page)
		}
	}
	b.readFails = fmt.Errorf("secret: connect to 10.0.0.1")
	for _, page := range pages[:5] {
		if got := b.get(page); got.status != 503 || strings.Contains(got.body, "10.0.0.1") || !strings.Contains(got.body, "<title>") {
			t.Errorf("%s gave %d, or told too much", page, got.status)
		}
	}
}

func TestCookiesAreClosed(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *web.Config) { c.BaseURL = "https://shop.test" })
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	var lines []string
	lines = append(lines, b.post("/basket", url.Values{"sku": {"mug"}, "quantity": {"2"}}).header.Values("Set-Cookie")...)
	lines = append(lines, b.get("/?lang=en").header.Values("Set-Cookie")...)
	if len(lines) != 2 {
		t.Fatalf("cookies: %v", lines)
	}
	for _, line := range lines {
		for _, part := range []string{"__Host-", "Path=/", "HttpOnly", "Secure", "SameSite=Lax"} {
			if !strings.Contains(line, part) {
				t.Errorf("%q has no %s", line, part)
			}
		}
	}
	if b.last.header.Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS")
	}
}

func TestStaticFilesMayBeKeptForEverUnderTheirHash(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.get("/")
	for _, path := range regexp.MustCompile(`/static/[a-z.]+\?v=[0-9a-f]+`).FindAllString(b.last.body, -1) {
		if got := b.get(path); got.status != 200 || !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, %s", path, got.status, got.header.Get("Cache-Control"))
		}
		bare, _, _ := strings.Cut(path, "?")
		if got := b.get(bare); got.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s may be kept: %s", bare, got.header.Get("Cache-Control"))
		}
	}
}

// TestALinkToTheShopHasAPicture: where people share it, its public pages are shown with one, whatever host
// they were asked from. Pages of one visitor are not shown.
func TestALinkToTheShopHasAPicture(t *testing.T) {
	t.Parallel()
	b := setup(t)
	picture := regexp.MustCompile(`<meta property="og:image" content="http://shop\.test(/static/share\.png\?v=[0-9a-f]+)"`)
	for _, page := range []string{"/", "/nl", "/p/mug"} {
		found := picture.FindStringSubmatch(b.get(page).body)
		if found == nil {
			t.Fatalf("%s has no picture", page)
		}
		if got := b.get(found[1]); got.status != 200 || got.header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: %d %s", found[1], got.status, got.header.Get("Content-Type"))
		}
	}
	for _, page := range []string{"/basket", "/contact", "/mailbox"} {
		if body := b.get(page).body; strings.Contains(body, "og:") || !strings.Contains(body, `content="noindex"`) {
			t.Errorf("%s is shown to search engines", page)
		}
	}
}

func TestIdsAndGradientsAreUniqueOnAPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	for _, page := range []string{"/", "/p/mug", "/basket", "/checkout/" + attempt, "/checkout/" + attempt + "/review", "/contact"} {
		var ids []string
		for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(b.get(page).body, -1) {
			if slices.Contains(ids, m[1]) {
				t.Errorf("%s has id %q twice", page, m[1])
			}
			ids = append(ids, m[1])
		}
	}
}

func TestGetChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attempt := b.review("", "tok_ok")
	before := fmt.Sprintf("%+v", b.drafts)
	for _, r := range b.router.Routes() {
		if r.Method == http.MethodGet {
			b.get(strings.NewReplacer(":attempt", attempt, ":slug", "mug", ":number", "EM-7K4Q-1M", ":submission", attempt, ":name", "app.css").Replace(r.Path))
		}
	}
	if after := fmt.Sprintf("%+v", b.drafts); after != before || len(b.orders)+len(b.payments)+len(b.messages)+len(b.mails) > 0 {
		t.Error("looking at pages changed something")
	}
}
