package admin

import (
	"net/url"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// listView is a page with a long list, newest first. The rows are the component's children.
type listView struct {
	Path   string // of the page, without language and query
	Title  ui.Text
	Lead   ui.Text // one sentence on what is listed
	Empty  ui.Text // what to say when there is nothing; tNothingYet when empty
	Query  ui.Text // label of the search field; empty: no search
	Search string  // what was searched for

	All     ui.Text // the choice that filters nothing; tAll when empty
	Filter  string  // name of the query parameter that the choices set
	Choices []choice
	Chosen  string

	Columns      []ui.Text
	Count        int // rows on this page
	Older, Newer string
}

// choice is one value of a list's filter.
type choice struct {
	Value string
	Name  ui.Text
}

// cursorOf reads which part of a list a request wants.
func cursorOf(c *gin.Context) domain.Cursor {
	return domain.Cursor{Before: c.Query("before"), After: c.Query("after")}
}

// chosenOf reads a filter. What is none of its choices chooses everything.
func chosenOf(c *gin.Context, filter string, choices []choice) string {
	for _, one := range choices {
		if one.Value == c.Query(filter) {
			return one.Value
		}
	}
	return ""
}

// address is the list's own with other parameters.
func (l listView) address(p Page, chosen string, more ...string) string {
	q := url.Values{}
	if l.Search != "" {
		q.Set("q", l.Search)
	}
	if chosen != "" {
		q.Set(l.Filter, chosen)
	}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	if len(q) == 0 {
		return p.URL(l.Path)
	}
	return p.URL(l.Path) + "?" + q.Encode()
}

// all is the name of the choice that filters nothing.
func (l listView) all() ui.Text {
	if l.All == (ui.Text{}) {
		return tAll
	}
	return l.All
}

// narrowed reports whether the list shows a part on purpose.
func (l listView) narrowed() bool { return l.Search != "" || l.Chosen != "" }
