package shop

import (
	"net/http"

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
