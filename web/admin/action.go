package admin

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// actionView is a form that changes something, before the press or after one that did not succeed.
type actionView struct {
	Path     string // where the form is, with its key
	Anew     string // where another form of its kind is made, when this one is of no more use
	Back     string
	Key      string
	Lead     string
	Button   string
	Mistakes []ui.Mistake

	Tone            ui.Tone // with Problem, what came of the last press
	Problem, Detail string
	Over            bool // this form cannot succeed any more
}

// keyed gives the key in the address of a form. Who asks for the form without one is sent to a new one:
// a reload, a second tab and Back then all have the same key.
func (d *Desk) keyed(c *gin.Context) (domain.Key, error) {
	text := c.Param("key")
	if !site.IsFlow(text) {
		return domain.Key{}, domain.Errorf(domain.NotFound, "form_not_found", "There is no such form.")
	}
	return domain.ParseKey(text)
}

// open makes a form: its address is path with a new key.
func (d *Desk) open(c *gin.Context, path string) error {
	return d.Site.See(c, path+"/"+site.NewKey(d.Site.Now()))
}

// do keeps who asked, and runs an operation once for the key of the form, which a script sends in a
// header too. A refusal is an error here.
func do[In, Out any](d *Desk, c *gin.Context, op site.Operation[In, Out], action deed, about string, key domain.Key, in In) (out Out, err error) {
	if _, err := site.KeyOf(c, key.String()); err != nil {
		return out, err
	}
	ctx, cancel := site.Steadily(c)
	defer cancel()
	if _, err := d.note(ctx, c, action, about, key); err != nil { // the operation counts its duplicates itself
		return out, err
	}
	var reply idempotent.Reply
	if reply, err = op.Do(ctx, domain.DeskConsumer, key, in); err == nil {
		out, err = op.Output(reply)
	}
	outcome := "done"
	if e, ok := errors.AsType[*domain.Error](err); ok {
		outcome = e.Code
	}
	d.Site.Log.InfoContext(ctx, "staff action", "staff", staffOf(c), "action", string(action), "about", about,
		"order", c.Param("number"), "key", key.Short(), "replayed", reply.Replayed, "outcome", outcome)
	return out, err
}

// notePress keeps who asked for what is no operation, and counts the press.
func (d *Desk) notePress(ctx context.Context, c *gin.Context, action deed, about string, key domain.Key) error {
	again, err := d.note(ctx, c, action, about, key)
	if err == nil && d.cfg.Pressed != nil {
		d.cfg.Pressed(string(action), again)
	}
	return err
}

// note keeps who asked for something before it is done: what cannot be noted is not done.
func (d *Desk) note(ctx context.Context, c *gin.Context, action deed, about string, key domain.Key) (again bool, err error) {
	return d.cfg.Sessions.NoteStaffAction(ctx, domain.StaffAction{Staff: staffOf(c), Action: string(action), About: about, Key: key})
}

// unsettled shows the form again after a press that did not succeed, with what is certain about it. show
// renders it.
func (d *Desk) unsettled(c *gin.Context, v actionView, err error, show func(status int, v actionView) error) error {
	lang := site.Lang(c)
	e, known := errors.AsType[*domain.Error](err)
	switch kind := domain.KindOf(err); {
	case kind == domain.Refused || kind == domain.Declined || kind == domain.Expired:
		v.Tone, v.Problem, v.Detail, v.Over = ui.Danger, tNotDone.In(lang), reason(lang, e), true
		return show(site.StatusOf(err), v)
	case kind == domain.Conflict:
		v.Tone, v.Problem, v.Over = ui.Warn, tOtherUse.In(lang), true
		return show(http.StatusConflict, v)
	case known && (kind == domain.Busy || kind == domain.Unknown || kind == domain.Unavailable):
		d.Site.Report(c, err)
		site.RetryAfter(c, err)
		v.Tone, v.Problem, v.Anew = ui.Warn, tUnsure.In(lang), ""
		if t, ok := refusals[e.Code]; ok {
			v.Problem, v.Detail = tNotDone.In(lang), t.In(lang)
		}
		return show(http.StatusServiceUnavailable, v)
	default:
		return err
	}
}
