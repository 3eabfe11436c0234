package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/eenmaal/domain"
)

// TestWhatGoesWrongAtTheDeskIsToldThere: the staff keeps its menu and has a way on.
func TestWhatGoesWrongAtTheDeskIsToldThere(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "/nl"} {
		b := atTheDesk(t)
		nothing := "00000000-0000-7000-8000-000000000009"
		for path, list := range map[string]string{
			"/admin/orders/EM-0000-00": "/admin/orders", "/admin/orders/EM-7K4Q-1M/payments/" + nothing + "/refund": "/admin/orders",
			"/admin/keys/" + nothing: "/admin/keys", "/admin/mails/" + nothing: "/admin/mails", "/admin/nothing": "/admin", "/admin/river/nothing": "/admin",
		} {
			b.get(prefix + path)
			b.toldAtTheDesk(404, prefix, path, list)
		}
		b.readFails = errors.New("secret: connect to 10.0.0.1")
		b.get(prefix + "/admin/orders?q=eva")
		b.toldAtTheDesk(503, prefix, "/admin/orders", "/admin/orders")
		if !b.last.has("again") || !strings.Contains(b.last.body, `href="`+prefix+`/admin/orders?q=eva"`) || b.last.header.Get("Retry-After") == "" || strings.Contains(b.last.body, "secret") {
			t.Error("the same page cannot be asked for again, or too much is said")
		}
		b.readFails = nil
		b.post(prefix+"/admin/mails/"+nothing+"/send", url.Values{"key": {"short"}})
		b.toldAtTheDesk(400, prefix, "/admin/mails", "/admin/mails")
		if b.last.has("again") || !strings.Contains(b.last.body, `/admin/mails?lang=`) {
			t.Error("a link repeats a POST")
		}
	}
}

// toldAtTheDesk wants a page with the desk's menu that leads on to an address.
func (b *bundle) toldAtTheDesk(status int, prefix, path, on string) {
	b.t.Helper()
	b.want(status, prefix+path, "problem", "staff", "sign-out", "way-on")
	if !strings.Contains(b.last.body, `href="`+prefix+on+`" data-testid="way-on"`) || b.last.header.Get("Cache-Control") != "no-store" || strings.Contains(b.last.body, "basket") {
		b.t.Errorf("%s does not lead to %s, may be kept, or is the shop's", path, on)
	}
	b.speaks(prefix)
}

// TestNobodyLearnsWhatTheDeskHas covers S37: without a sign-in, what exists and what does not are answered
// alike, and so is everything while nobody can be recognized.
func TestNobodyLearnsWhatTheDeskHas(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	signedIn := b.client.Jar
	for _, prefix := range []string{"", "/nl"} {
		b.client.Jar = newJar(t)
		for _, path := range []string{"/orders/EM-7K4Q-1M", "/orders/EM-0000-00", "/nothing", "/jobs", "/river/nothing"} {
			b.get(prefix + "/admin" + path)
			b.want(200, prefix+"/admin/sign-in?to="+url.QueryEscape("/admin"+path), "sign-in-form")
			b.post(prefix+"/admin"+path, url.Values{})
			if strings.HasPrefix(path, "/nothing") {
				b.want(403, prefix+"/admin"+path, "sign-in-form")
			}
		}
		b.client.Jar = signedIn
		b.desk.broken = domain.Errorf(domain.Unavailable, "store_unavailable", "Trouble.")
		for _, path := range []string{"/orders/EM-7K4Q-1M", "/orders/EM-0000-00", "/nothing"} {
			b.get(prefix + "/admin" + path)
			b.want(503, prefix+"/admin"+path, "problem", "desk-home", "again")
			if b.last.has("staff") || b.last.has("sign-out") {
				t.Error("somebody is recognized without a look")
			}
			b.speaks(prefix)
		}
		b.desk.broken = nil
	}
	if b.do(http.MethodHead, "/admin/nothing", nil, nil); b.last.status != 404 {
		t.Errorf("HEAD: %d", b.last.status)
	}
}
