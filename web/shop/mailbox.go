package shop

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

const mailsShown = 50

// mailbox shows every mail. Its route exists in the demo alone.
func (s *Shop) mailbox(c *gin.Context) error {
	site.NoStore(c)
	mails, err := s.Reader.Mails(c.Request.Context(), mailsShown)
	if err != nil {
		return err
	}
	p := s.Site.Page(c, ui.TMailboxTitle.In(site.Lang(c)))
	p.State = "mailbox"
	return s.Site.Render(c, http.StatusOK, mailboxPage(p, mails))
}

// part is a piece of a mail's text.
type part struct {
	Text string
	Link bool // an address of this shop, and of nobody else
}

// linked takes a text apart at the shop's own addresses, so that a click follows them as in a real mailbox.
func linked(text, base string) (parts []part) {
	for {
		at := strings.Index(text, base+"/")
		if at < 0 {
			return append(parts, part{Text: text})
		}
		length := strings.IndexAny(text[at:], " \n\r\t")
		if length < 0 {
			length = len(text) - at
		}
		parts = append(parts, part{Text: text[:at]}, part{Text: text[at : at+length], Link: true})
		text = text[at+length:]
	}
}
