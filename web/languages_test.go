package web_test

import (
	"html"
	"net/url"
	"regexp"
	"testing"
	"time"

	"example.com/eenmaal/domain"
)

// foreign are words that a page in a language cannot hold, since they belong to the other one.
var foreign = map[string]*regexp.Regexp{
	"":    regexp.MustCompile(`(?i)\b(het|een|en|niet|je|wij|voor|bestelling|betalen|naar|wordt|mandje|fout)\b`),
	"/nl": regexp.MustCompile(`(?i)\b(the|and|your|you|with|order|this|from|email|pay|error)\b`),
}

var (
	unread      = regexp.MustCompile(`(?s)<(script|style|svg|pre)\b.*?</(script|style|svg|pre)>`)
	otherwise   = regexp.MustCompile(`(?s)<a [^>]*\blang="[^"]*"[^>]*>.*?</a>`) // the language link
	attribute   = regexp.MustCompile(`\b(?:aria-label|title|alt|placeholder|data-(?:working|wait-text|offline|unknown|seconds?|long|check|order))="([^"]*)"`)
	description = regexp.MustCompile(`<meta name="description" content="([^"]*)"`)
	tag         = regexp.MustCompile(`<[^>]*>`)
)

// speaks checks that all a page says, shown, spoken or kept for its script, is in its language.
func (b *bundle) speaks(prefix string) {
	b.t.Helper()
	page := otherwise.ReplaceAllString(unread.ReplaceAllString(b.last.body, " "), " ")
	texts := []string{tag.ReplaceAllString(page, "\n")}
	for _, found := range append(attribute.FindAllStringSubmatch(page, -1), description.FindAllStringSubmatch(page, -1)...) {
		texts = append(texts, found[1])
	}
	for _, text := range texts {
		if word := foreign[prefix].FindString(html.UnescapeString(text)); word != "" {
			b.t.Errorf("%q at %s says %q", prefix, b.last.path, word)
		}
	}
}

func TestNoPageMixesLanguages(t *testing.T) {
	t.Parallel()
	for prefix := range foreign {
		for state, checkout := range standings {
			t.Run(string(state)+prefix, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				attempt := checkout.bring(b)
				for _, page := range []string{"", "/review", "/status", "/pay"} {
					b.get(prefix + "/checkout/" + attempt + page)
					b.speaks(prefix)
				}
				changed := details("tok_ok")
				changed.Set("city", "Utrecht")
				b.post(prefix+"/checkout/"+attempt, changed)
				b.speaks(prefix)
				if len(b.payments) > 0 {
					b.client.Jar = newJar(t) // another browser comes back from the bank
					b.get(prefix + "/return/" + b.payments[0].ID)
					b.speaks(prefix)
				}
			})
		}
		t.Run("others"+prefix, func(t *testing.T) { t.Parallel(); otherPages(t, prefix) })
	}
}

func otherPages(t *testing.T, prefix string) {
	b := setup(t)
	get := func(path string, id string) { t.Helper(); b.get(prefix + path); b.seen(prefix, id) }
	post := func(path string, form url.Values, id string) {
		t.Helper()
		b.post(prefix+path, form)
		b.seen(prefix, id)
	}
	for _, path := range []string{"/", "/basket", "/contact", "/orders", "/mailbox", "/nothing", "/checkout/nope"} {
		if prefix+path == "/nl/" {
			path = ""
		}
		get(path, "language")
	}
	for _, p := range b.products {
		get("/p/"+p.SKU, "price")
	}
	b.products[4].Stock = 0
	get("/p/lamp", "sold-out")
	post("/basket", url.Values{"sku": {"mug"}, "quantity": {"many"}}, "basket-mistake")
	attempt := b.begin(prefix)
	post("/checkout/"+attempt, url.Values{}, "error-summary")
	post("/checkout/"+attempt, details("tok_ok"), "pay")
	review := b.last
	b.products[0].Price = domain.EUR(2000)
	b.pay()
	b.seen(prefix, "price-changed")
	b.post(prefix+"/basket", url.Values{"sku": {"vase"}, "quantity": {"1"}})
	b.last = review
	b.pay()
	b.seen(prefix, "basket-changed")
	b.products[0].Stock = 1
	get("/checkout/"+attempt+"/review", "sold-out")
	b.products[0].Stock = 100
	b.placeFails = domain.Errorf(domain.Unavailable, "retry_same_key", "Trouble.")
	get("/checkout/"+attempt+"/review", "pay")
	b.pay()
	b.seen(prefix, "order-failed")
	b.pay()
	b.seen(prefix, "order-paid")
	number := b.orders[0].Number
	get("/orders", "device-order")
	post("/orders", url.Values{}, "error-summary")
	post("/orders", lookUp(number, "eva@example.nl"), "order-unknown")
	b.now = b.now.Add(time.Minute)
	b.post(prefix+"/basket", url.Values{"sku": {"vase"}, "quantity": {"0"}})
	b.review(prefix, "tok_ok")
	b.seen(prefix, "same-order")
	path := "/contact/00000000-0000-7000-8000-000000000001"
	message := url.Values{"key": {"00000000-0000-7000-8000-000000000001"}, "email": {"sanne@example.nl"}, "message": {"Hallo"}}
	post(path, url.Values{"key": message["key"]}, "error-summary")
	b.contactFails = domain.Errorf(domain.Unavailable, "retry_same_key", "Trouble.")
	post(path, message, "contact-again")
	post(path, message, "received")
	message.Set("message", "Dag")
	post(path, message, "contact-again")
	b.readFails = domain.Errorf(domain.Unavailable, "x", "Trouble.")
	get("/basket", "problem")
}

// seen checks that a page came, and its language.
func (b *bundle) seen(prefix, id string) {
	b.t.Helper()
	if !b.last.has(id) {
		b.t.Errorf("%s has no %s", b.last.path, id)
	}
	b.speaks(prefix)
}
