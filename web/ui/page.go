package ui

import (
	"net/url"

	"example.com/eenmaal/domain"
)

// Page is what the layout needs to know of the page that it surrounds.
type Page struct {
	Lang    Lang
	Shop    string // the shop's name
	BaseURL string
	Title   string
	Failed  bool       // the title says so first
	Path    string     // the page's address without language, which the language link keeps
	Query   url.Values // what else the address needs
	State   string     // what the page shows; a page restored from memory compares it with the server's
	Basket  int64      // number of articles in it
	Public  bool       // the same for everybody: may be found by a search engine
	Demo    bool
	Version string // of the program, for the foot of the page
	Refresh int    // seconds after which the page loads itself again, without scripts only
}

// T gives a sentence in the page's language.
func (p Page) T(t Text, args ...any) string { return t.In(p.Lang, args...) }

// Money writes an amount in the page's language.
func (p Page) Money(m domain.Money) string { return Money(p.Lang, m) }

// BasketLabel says how much is in the basket.
func (p Page) BasketLabel() string {
	if p.Basket == 1 {
		return p.T(TBasketOne)
	}
	return p.T(TBasketCount, p.Basket)
}

// URL is the address of a path in the page's language.
func (p Page) URL(path string) string { return Local(p.Lang, path) }

// Local is the address of a path in a language.
func Local(l Lang, path string) string {
	if path == "/" && l == Dutch {
		return "/nl"
	}
	return l.Prefix() + path
}

// FullTitle is the text of the browser's tab.
func (p Page) FullTitle() string {
	title := p.Title + " – " + p.Shop
	if p.Title == "" {
		title = p.Shop
	}
	if p.Failed {
		return p.T(TErrorPrefix) + title
	}
	return title
}

// SameURL is this page's own address.
func (p Page) SameURL() string {
	if len(p.Query) == 0 {
		return p.URL(p.Path)
	}
	return p.URL(p.Path) + "?" + p.Query.Encode()
}

// SwitchURL is this page in the other language. Its lang parameter asks to remember the choice.
func (p Page) SwitchURL() string {
	q := url.Values{}
	for k, v := range p.Query {
		q[k] = v
	}
	q.Set("lang", string(p.Lang.Other()))
	return Local(p.Lang.Other(), p.Path) + "?" + q.Encode()
}

// Absolute is the page's address in a language, for search engines.
func (p Page) Absolute(l Lang) string { return p.BaseURL + Local(l, p.Path) }
