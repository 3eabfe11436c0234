package site

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"golang.org/x/text/language"

	"example.com/eenmaal/web/ui"
)

const year = 365 * 24 * 3600

var (
	spoken  = []ui.Lang{ui.English, ui.Dutch}
	matcher = language.NewMatcher([]language.Tag{language.English, language.Dutch})
)

// ChooseLanguage remembers the choice that the language link makes, and shows the address without it.
func (s *Site) ChooseLanguage(c *gin.Context) {
	q := c.Request.URL.Query()
	choice := ui.Lang(q.Get("lang"))
	if c.Request.Method != http.MethodGet || choice != Lang(c) {
		return
	}
	http.SetCookie(c.Writer, &http.Cookie{
		Name: s.cookieName("lang"), Value: string(choice), Path: "/", MaxAge: year,
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	})
	q.Del("lang")
	to := ui.Local(Lang(c), Path(c))
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, to)
	c.Abort()
}

// Preferred is the language that the visitor chose, or else the standard one. It is for addresses that
// somebody else made, who knows no language.
func (s *Site) Preferred(c *gin.Context, standard ui.Lang) ui.Lang {
	if l := s.chosen(c); slices.Contains(spoken, l) {
		return l
	}
	return standard
}

func (s *Site) chosen(c *gin.Context) ui.Lang {
	cookie, err := c.Request.Cookie(s.cookieName("lang"))
	if err != nil {
		return ""
	}
	return ui.Lang(cookie.Value)
}

// Negotiate sends a first visit of the English home page to the Dutch one when the browser prefers
// Dutch. A choice made before wins, and no other page is ever redirected.
func (s *Site) Negotiate(c *gin.Context) {
	c.Header("Vary", "Accept-Language, Cookie")
	if s.chosen(c) != "" {
		return
	}
	// The index is used, not the tag: a match may be a tag such as nl-u-rg-nlzzzz.
	_, index := language.MatchStrings(matcher, c.GetHeader("Accept-Language"))
	if spoken[index] != ui.Dutch {
		return
	}
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, ui.Local(ui.Dutch, "/"))
	c.Abort()
}
