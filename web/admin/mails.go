package admin

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// Mails is what the pages of mails look up.
type Mails interface {
	// ListMails reads a part of the mails. Its text is an address, or the number of an order.
	ListMails(ctx context.Context, l domain.Listing) (domain.Part[domain.Mail], error)
	Mail(ctx context.Context, id string) (domain.Mail, error)
}

func (d *Desk) mountMails(r gin.IRouter) {
	r.GET("/mails", d.handle(d.mails))
	r.GET("/mails/:id", d.handle(d.mail))
	r.POST("/mails/:id/send", d.handle(func(c *gin.Context) error {
		return d.act(c, deedSendAgain, "/admin/mails/", d.cfg.Support.ResendMail)
	}))
}

var mailStates = []choice{
	{string(domain.MailWaiting), tMailWaiting},
	{string(domain.MailSent), tMailSent},
	{string(domain.MailGivenUp), tMailDead},
}

func (d *Desk) mails(c *gin.Context) error {
	l := listView{Path: "/admin/mails", Title: tMails, Empty: tNoMails, Query: tSearchMails, Search: strings.TrimSpace(c.Query("q")),
		Filter: "state", Choices: mailStates, Chosen: chosenOf(c, "state", mailStates),
		Columns: []ui.Text{tSubject, tMailTo, tMailMade, tStatus}}
	part, err := d.cfg.Reader.ListMails(c.Request.Context(), listing(c, l))
	if err != nil {
		return err
	}
	l.Count, l.Older, l.Newer = len(part.Items), part.Older, part.Newer
	return d.Site.Render(c, http.StatusOK, mailsPage(d.page(c, "/admin/mails", tMails), l, part.Items))
}

func (d *Desk) mail(c *gin.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	m, err := d.cfg.Reader.Mail(c.Request.Context(), id)
	if err != nil {
		return err
	}
	p := d.page(c, "/admin/mails", tMail)
	return d.Site.Render(c, http.StatusOK, mailPage(p, m, d.newKey()))
}

func mailTone(s domain.MailState) ui.Tone {
	return map[domain.MailState]ui.Tone{domain.MailWaiting: ui.Info, domain.MailSent: ui.OK, domain.MailGivenUp: ui.Danger}[s]
}

// wordOf is the name of a state in the list's filter.
func wordOf(choices []choice, state string) ui.Text {
	for _, one := range choices {
		if one.Value == state {
			return one.Name
		}
	}
	return ui.Text{En: state, Nl: state}
}
