package web_test

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/web"
)

// bundle is a shop in memory and a browser without scripts that visits it.
type bundle struct {
	*fake
	desk   *deskFake
	t      *testing.T
	server *httptest.Server
	router *gin.Engine
	client *http.Client
	last   answer
}

type answer struct {
	status int
	path   string // where it ended, with the query
	body   string
	header http.Header
}

func setup(t *testing.T, change ...func(*web.Config)) *bundle {
	t.Helper()
	f := newFake()
	cfg := f.config()
	desk := f.withDesk(&cfg)
	for _, c := range change {
		c(&cfg)
	}
	w, err := web.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	w.Routes(router)
	router.NoRoute(w.NotFound)
	server := httptest.NewServer(http.NewCrossOriginProtection().Handler(router))
	t.Cleanup(server.Close)
	client := server.Client() // with connections of its own, which no other test's server closes
	client.Jar, client.CheckRedirect = newJar(t), func(r *http.Request, _ []*http.Request) error {
		if "http://"+r.URL.Host != server.URL {
			return http.ErrUseLastResponse // what is elsewhere is not visited
		}
		return nil
	}
	return &bundle{fake: f, desk: desk, t: t, server: server, router: router, client: client}
}

func newJar(t *testing.T) *cookiejar.Jar {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return jar
}

func (b *bundle) get(path string) answer { return b.do(http.MethodGet, path, nil, nil) }

func (b *bundle) post(path string, form url.Values) answer {
	return b.do(http.MethodPost, path, form, nil)
}

func (b *bundle) do(method, path string, form url.Values, header http.Header) answer {
	b.t.Helper()
	req, err := http.NewRequest(method, b.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	b.last = answer{res.StatusCode, res.Request.URL.RequestURI(), string(body), res.Header}
	return b.last
}

var (
	formPart = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)".*?</form>`)
	hidden   = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
)

// form reads the hidden fields of the page's form that posts to an address ending in action.
func (a answer) form(t *testing.T, action string) (path string, fields url.Values) {
	t.Helper()
	for _, m := range formPart.FindAllStringSubmatch(a.body, -1) {
		if !strings.HasSuffix(m[1], action) {
			continue
		}
		fields = url.Values{}
		for _, h := range hidden.FindAllStringSubmatch(m[0], -1) {
			fields.Set(html.UnescapeString(h[1]), html.UnescapeString(h[2]))
		}
		return m[1], fields
	}
	t.Fatalf("%s (%d) has no form to %s", a.path, a.status, action)
	return "", nil
}

func (a answer) has(id string) bool { return strings.Contains(a.body, `data-testid="`+id+`"`) }

func (b *bundle) want(status int, path string, ids ...string) {
	b.t.Helper()
	if b.last.status != status || !strings.HasPrefix(b.last.path, path) {
		b.t.Fatalf("at %s with %d, want %s with %d", b.last.path, b.last.status, path, status)
	}
	for _, id := range ids {
		if !b.last.has(id) {
			b.t.Fatalf("%s has no %s:\n%s", b.last.path, id, b.last.body)
		}
	}
}

func (b *bundle) wantEffects(orders, paid, mails int) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	charges := 0
	for _, p := range b.payments {
		if p.Status == "paid" {
			charges++
		}
	}
	if len(b.orders) != orders || charges != paid || len(b.mails) != mails {
		b.t.Fatalf("orders, charges, mails = %d/%d/%d, want %d/%d/%d", len(b.orders), charges, len(b.mails), orders, paid, mails)
	}
}

func details(method string) url.Values {
	return url.Values{
		"email": {" sanne@example.nl"}, "name": {"Sanne de Vries"}, "line1": {"Damrak 1"}, "postal_code": {"1012ab "},
		"city": {"Amsterdam"}, "country": {"NL"}, "method": {method},
	}
}

// begin fills the basket with two mugs and goes to the details page of a new checkout.
func (b *bundle) begin(prefix string) (attempt string) {
	b.t.Helper()
	b.post(prefix+"/basket", url.Values{"sku": {"mug"}, "quantity": {"2"}})
	path, form := b.last.form(b.t, "/checkout")
	b.post(path, form)
	b.want(200, prefix+"/checkout/", "details-form")
	return strings.TrimPrefix(b.last.path, prefix+"/checkout/")
}

// review goes on to the review page with a card.
func (b *bundle) review(prefix, method string) (attempt string) {
	b.t.Helper()
	attempt = b.begin(prefix)
	b.post(prefix+"/checkout/"+attempt, details(method))
	b.want(200, prefix+"/checkout/"+attempt+"/review", "pay")
	return attempt
}

// pay presses the button of the page that is shown.
func (b *bundle) pay() answer {
	b.t.Helper()
	path, form := b.last.form(b.t, "/pay")
	return b.post(path, form)
}
