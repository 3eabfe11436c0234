package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestOnlyTheFirstHomePageIsNegotiated(t *testing.T) {
	t.Parallel()
	dutch := http.Header{"Accept-Language": {"nl-NL,nl;q=0.9,en;q=0.5"}}
	for _, tt := range []struct {
		path, want string
	}{{"/", "/nl"}, {"/p/mug", "/p/mug"}, {"/basket", "/basket"}, {"/nl", "/nl"}} {
		b := setup(t)
		if got := b.do(http.MethodGet, tt.path, nil, dutch).path; got != tt.want {
			t.Errorf("%s led to %s, want %s", tt.path, got, tt.want)
		}
	}
	b := setup(t)
	b.get("/?lang=en")
	b.want(200, "/")
	if got := b.do(http.MethodGet, "/", nil, dutch).path; got != "/" {
		t.Errorf("the choice for English led to %s", got)
	}
	if vary := b.last.header.Get("Vary"); !strings.Contains(vary, "Accept-Language") {
		t.Errorf("Vary = %q", vary)
	}
}

func TestABasketThatSomebodyElseWroteIsEmpty(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.post("/basket", url.Values{"sku": {"mug"}, "quantity": {"2"}})
	home, _ := url.Parse(b.server.URL)
	cookie := b.client.Jar.Cookies(home)[0]
	_, mac, _ := strings.Cut(cookie.Value, ".")
	for _, value := range []string{"bXVnOjk5." + mac, "bXVnOjk5.", "bXVnOjk5", "", "." + mac, cookie.Value + "x"} {
		b.client.Jar.SetCookies(home, []*http.Cookie{{Name: cookie.Name, Value: value, Path: "/"}})
		if b.get("/basket"); !b.last.has("basket-empty") {
			t.Errorf("cookie %q was believed", value)
		}
	}
}

func TestAddingTwiceFromOnePageAddsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.post("/basket", url.Values{"sku": {"vase"}, "quantity": {""}})
	b.want(422, "/basket", "basket-empty", "basket-mistake")
	b.get("/p/vase")
	path, form := b.last.form(t, "/basket")
	form.Set("quantity", "2")
	for range 2 {
		b.post(path, form)
		b.want(200, "/p/vase", "in-basket")
		if !strings.Contains(b.last.body, "In your basket: 2") {
			t.Error("the basket does not hold two")
		}
	}
	_, form = b.last.form(t, "/basket")
	form.Set("quantity", "1")
	b.post(path, form)
	if !strings.Contains(b.last.body, "In your basket: 3") {
		t.Error("the reloaded page does not add one more")
	}
	for _, wrong := range []string{"-1", "100", "1.5", "x", "", "99999999999999999999"} {
		b.post("/basket", url.Values{"sku": {"vase"}, "quantity": {wrong}})
		b.want(422, "/basket", "error-summary")
	}
	b.post("/basket", url.Values{"sku": {"vase"}, "quantity": {"0"}})
	b.want(200, "/basket", "basket-empty")
	b.post("/basket", url.Values{"sku": {"anvil"}, "quantity": {"1"}})
	b.want(404, "/basket")
}

func TestAnOrderIsOpenedByItsTokenAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	b.pay()
	absent := b.get("/orders/EM-NONE?t=token1")
	for _, path := range []string{"/orders/EM-7K4Q-1M", "/orders/EM-7K4Q-1M?t=", "/orders/EM-7K4Q-1M?t=token2", "/orders/EM-7K4Q-1M?t=token1x"} {
		got := b.get(path)
		b.want(404, path, "not-found")
		same := func(a answer) string { return regexp.MustCompile(`/orders/[^"]*`).ReplaceAllString(a.body, "") }
		if same(got) != same(absent) {
			t.Error("a wrong token and an unknown number can be told apart")
		}
	}
}
