// Package contact is the form for one message and what follows it.
//
// A form has an id in its address, made when it is opened. The script makes the key of the message at
// the first press; without it the id serves as the key.
package contact

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

//go:generate go tool templ generate

// Reader finds the message that a form sent.
type Reader interface {
	MessageOf(ctx context.Context, consumer int64) (domain.Message, bool, error)
}

// Contact answers with these pages.
type Contact struct {
	Site   *site.Site
	Reader Reader
	Submit site.Operation[api.SubmitContact, api.ContactMessage]
}

// Mount adds the routes of one language.
func (k *Contact) Mount(r gin.IRouter) {
	r.GET("/contact", k.Site.Handle(k.open))
	r.GET("/contact/:submission", k.Site.Handle(k.form))
	r.POST("/contact/:submission", k.Site.Handle(k.send))
	r.GET("/contact/:submission/received", k.Site.Handle(k.received))
}

// view is the form, empty or with what was typed.
type view struct {
	ID       string // of the form that will be sent
	Key      string // of the press that it repeats; empty for a new message
	Message  domain.Message
	Mistakes []ui.Mistake
	Now      string // the server's clock, for keys made by the script

	Sent   *domain.Message // what this form sent before
	SentID string
	Again  *again // why the form is shown again; nil the first time
}

func (k *Contact) open(c *gin.Context) error {
	return k.Site.See(c, "/contact/"+site.NewKey(k.Site.Now()))
}

func (k *Contact) form(c *gin.Context) error {
	id, sent, ok, err := k.find(c)
	if err != nil {
		return err
	}
	if ok {
		return k.Site.See(c, "/contact/"+id+"/received")
	}
	return k.show(c, http.StatusOK, view{ID: id, Message: sent})
}

// find reads what the form in the address sent.
func (k *Contact) find(c *gin.Context) (id string, sent domain.Message, ok bool, err error) {
	site.NoStore(c)
	id = c.Param("submission")
	if !site.IsFlow(id) {
		return id, sent, false, domain.Errorf(domain.NotFound, "form_not_found", "There is no such form.")
	}
	sent, ok, err = k.Reader.MessageOf(c.Request.Context(), consumer(id).ID)
	return id, sent, ok, err
}

func consumer(id string) domain.Consumer { return domain.FlowConsumer("contact", id) }

func (k *Contact) show(c *gin.Context, status int, v view) error {
	v.Now = strconv.FormatInt(k.Site.Now().UnixMilli(), 10)
	p := k.Site.Page(c, ui.TContactTitle.In(site.Lang(c)))
	p.State, p.Path = "contact", "/contact/"+v.ID
	if v.Again != nil {
		p.Title = p.T(v.Again.Title)
	}
	p.Failed = status != http.StatusOK
	return k.Site.Render(c, status, formPage(p, v))
}

// send submits the message once for its key. A form that sent another message before keeps what is
// typed now and offers to send it as a new one.
func (k *Contact) send(c *gin.Context) error {
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	key, err := site.KeyOf(c, form.Get("key"))
	if err != nil {
		return err
	}
	typed := read(form)
	id, sent, ok, err := k.find(c)
	if err != nil && domain.KindOf(err) == domain.NotFound {
		return err
	}
	if err != nil {
		return k.tryAgain(c, view{ID: id, Key: key.String(), Message: typed}, err)
	}
	if e, broken := errors.AsType[*domain.Error](typed.Validate()); broken {
		return k.show(c, http.StatusUnprocessableEntity, view{ID: id, Message: typed, Mistakes: mistakes(site.Lang(c), e.Fields)})
	}
	if ok {
		return k.already(c, id, sent, typed)
	}
	ctx, cancel := site.Steadily(c)
	defer cancel()
	reply, err := k.Submit.Do(ctx, consumer(id), key, api.SubmitContact{Name: typed.Name, Email: typed.Email, Message: typed.Text})
	if err == nil {
		_, err = k.Submit.Output(reply)
	}
	if err == nil {
		return k.seeReceived(c, id)
	}
	return k.afterError(ctx, c, view{ID: id, Key: key.String(), Message: typed}, err)
}

// afterError goes on when sending gave an error. What arrived in spite of it is shown as that.
func (k *Contact) afterError(ctx context.Context, c *gin.Context, v view, cause error) error {
	switch domain.KindOf(cause) {
	case domain.Conflict, domain.Busy, domain.Unknown, domain.Unavailable:
		if sent, ok, err := k.Reader.MessageOf(ctx, consumer(v.ID).ID); ok && err == nil {
			return k.already(c, v.ID, sent, v.Message)
		}
	}
	return k.tryAgain(c, v, cause)
}

// already answers a form whose message is there: with that, or, for another text, with the offer to send
// it as a new message.
func (k *Contact) already(c *gin.Context, id string, sent, typed domain.Message) error {
	if same(sent, typed) {
		return k.seeReceived(c, id)
	}
	return k.show(c, http.StatusConflict, view{ID: site.NewKey(k.Site.Now()), Message: typed, Sent: &sent, SentID: id, Again: &alreadySent})
}

func (k *Contact) seeReceived(c *gin.Context, id string) error {
	return k.Site.See(c, "/contact/"+id+"/received")
}

func read(form url.Values) domain.Message {
	return domain.Message{Name: form.Get("name"), Email: form.Get("email"), Text: form.Get("message")}.Normalize()
}

func same(a, b domain.Message) bool {
	return a.Name == b.Name && a.Email == b.Email && a.Text == b.Text
}

func mistakes(l ui.Lang, broken []domain.FieldError) []ui.Mistake {
	var all []ui.Mistake
	for _, b := range broken {
		all = append(all, ui.Mistake{Field: b.Field, Text: mistake(l, b)})
	}
	return all
}

func mistake(l ui.Lang, b domain.FieldError) string {
	label := map[string]ui.Text{"name": ui.TYourName, "email": ui.TEmail, "message": ui.TMessage}[b.Field].In(l)
	switch {
	case b.Field == "email" && b.Code == "required":
		return ui.TErrEmail.In(l)
	case b.Field == "email":
		return ui.TErrEmailForm.In(l)
	case b.Field == "message" && b.Code == "required":
		return ui.TErrMessage.In(l)
	case b.Field == "message" && b.Code == "too_long":
		return ui.TErrMessageLong.In(l)
	case b.Code == "too_long":
		return ui.TErrTooLong.In(l, label)
	default:
		return ui.TErrCharacters.In(l, label)
	}
}

// fields are the three inputs with what was typed.
func (v view) fields(p ui.Page) []ui.Field {
	all := []ui.Field{
		{Name: "name", Label: p.T(ui.TYourName), Value: v.Message.Name, Autocomplete: "name", Optional: true},
		{Name: "email", Label: p.T(ui.TEmail), Hint: p.T(ui.TAnswerHint), Value: v.Message.Email, Autocomplete: "email", Type: "email"},
		{Name: "message", Label: p.T(ui.TMessage), Value: v.Message.Text, Rows: 7},
	}
	for i := range all {
		for _, m := range v.Mistakes {
			if m.Field == all[i].Name {
				all[i].Error = m.Text
			}
		}
	}
	return all
}

func (k *Contact) received(c *gin.Context) error {
	id, sent, ok, err := k.find(c)
	if err != nil {
		return err
	}
	if !ok {
		return k.Site.See(c, "/contact/"+id)
	}
	p := k.Site.Page(c, ui.TReceivedTitle.In(site.Lang(c)))
	p.State = "received"
	return k.Site.Render(c, http.StatusOK, receivedPage(p, sent))
}
