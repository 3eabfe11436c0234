package admin

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// handle makes a gin handler. What goes wrong is told at the desk.
func (d *Desk) handle(h site.Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			d.Problem(c, err)
		}
	}
}

// Has reports whether a request is for an address of the desk, there or not.
func (d *Desk) Has(c *gin.Context) bool {
	p := site.Path(c)
	return p == "/admin" || strings.HasPrefix(p, "/admin/")
}

// Problem shows an error as a page of the desk, with the menu for who is signed in. Nobody else learns
// what exists: what does not asks them to sign in, as what does.
func (d *Desk) Problem(c *gin.Context, err error) {
	site.NoStore(c)
	if domain.KindOf(err) != domain.Forbidden { // what another site sent is nobody's
		if failed := d.recognize(c); failed != nil && domain.KindOf(err) == domain.NotFound {
			err = failed
		}
	}
	if staffOf(c) == "" && domain.KindOf(err) == domain.NotFound {
		d.turnAway(c)
		return
	}
	d.tell(c, err)
}

// problemView is a page that says what went wrong, and the ways on.
type problemView struct {
	tone  ui.Tone
	text  string
	back  section
	again bool // the same address may be asked for once more
}

func (d *Desk) tell(c *gin.Context, err error) {
	told := d.Site.Tell(c, err)
	v := problemView{tone: site.ToneOf(err), text: told.Text.In(site.Lang(c)), back: sectionOf(site.Path(c)),
		again: site.Reads(c.Request) && (told.Status == http.StatusServiceUnavailable || told.Status == http.StatusTooManyRequests)}
	p := d.page(c, v.back.Path, told.Title)
	p.Failed, p.State = true, "problem"
	if !site.Reads(c.Request) {
		p.Path, p.Query = v.back.Path, nil // the language link cannot repeat a POST
	}
	_ = d.Site.Render(c, told.Status, problemPage(p, v)) // never an error
}

// sectionOf is the part of the desk that an address is in, or else the desk itself.
func sectionOf(path string) section {
	for _, s := range sections {
		if path == s.Path || strings.HasPrefix(path, s.Path+"/") {
			return s
		}
	}
	return section{"/admin", tDesk}
}
