package admin

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// Messages is what the pages of the contact inbox look up.
type Messages interface {
	// ListMessages reads a part of the contact messages. A search for words looks through a number of
	// messages only, so a part may be empty and still have an older one.
	ListMessages(ctx context.Context, l domain.Listing) (domain.Part[domain.Message], error)
	Message(ctx context.Context, id string) (domain.Message, error)
}

func (d *Desk) mountMessages(r gin.IRouter) {
	r.GET("/messages", d.handle(d.messages))
	r.GET("/messages/:id", d.handle(d.message))
	r.POST("/messages/:id/answered", d.handle(func(c *gin.Context) error {
		return d.act(c, deedAnswered, "/admin/messages/", d.cfg.Support.AnswerMessage)
	}))
}

var messageStates = []choice{{domain.MessageOpen, tMessageOpen}, {domain.MessageAnswered, tMessageAnswered}}

func messagesView(c *gin.Context) listView {
	return listView{Path: "/admin/messages", Title: tMessages, Empty: tNoMessages, Query: tSearchMessages, Search: strings.TrimSpace(c.Query("q")),
		Filter: "state", Choices: messageStates, Chosen: chosenOf(c, "state", messageStates),
		Columns: []ui.Text{tReference, tFrom, tMessageText, tWhen, tStatus}}
}

func (d *Desk) messages(c *gin.Context) error {
	l := messagesView(c)
	part, err := d.cfg.Reader.ListMessages(c.Request.Context(), listing(c, l))
	if err != nil {
		return err
	}
	l.Count, l.Older, l.Newer = len(part.Items), part.Older, part.Newer
	return d.Site.Render(c, http.StatusOK, messagesPage(d.page(c, "/admin/messages", tMessages), l, part.Items))
}

func (d *Desk) message(c *gin.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	m, err := d.cfg.Reader.Message(c.Request.Context(), id)
	if err != nil {
		return err
	}
	return d.Site.Render(c, http.StatusOK, messagePage(d.page(c, "/admin/messages", tMessage, m.Reference), m, d.newKey()))
}

// excerpt is the beginning of a text, for a list.
func excerpt(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// mailTo is a link that begins an answer. What the sender wrote as his address cannot add anything to it.
func mailTo(m domain.Message) string {
	return "mailto:" + url.PathEscape(m.Email) + "?subject=" + url.QueryEscape(m.Reference)
}
