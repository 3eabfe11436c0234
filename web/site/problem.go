package site

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// Told is how an error is shown to a person.
type Told struct {
	Status      int
	Title, Text ui.Text
}

var problems = map[domain.Kind]Told{
	domain.Malformed:       {http.StatusBadRequest, ui.TBadRequest, ui.TBadRequestTo},
	domain.Invalid:         {http.StatusUnprocessableEntity, ui.TBadRequest, ui.TBadRequestTo},
	domain.NotFound:        {http.StatusNotFound, ui.TNotFound, ui.TNotFoundTo},
	domain.Refused:         {http.StatusUnprocessableEntity, ui.TRefused, ui.TRefusedTo},
	domain.Declined:        {http.StatusPaymentRequired, ui.TRefused, ui.TRefusedTo},
	domain.Conflict:        {http.StatusConflict, ui.TUsedTitle, ui.TUsedForAnother},
	domain.Busy:            {http.StatusConflict, ui.TUnavailable, ui.TUnavailableTo},
	domain.Expired:         {http.StatusGone, ui.TGone, ui.TGoneTo},
	domain.Unavailable:     {http.StatusServiceUnavailable, ui.TUnavailable, ui.TUnavailableTo},
	domain.Unknown:         {http.StatusServiceUnavailable, ui.TUnavailable, ui.TUnavailableTo},
	domain.TooLarge:        {http.StatusRequestEntityTooLarge, ui.TTooLarge, ui.TTooLargeTo},
	domain.RateLimited:     {http.StatusTooManyRequests, ui.TTooMany, ui.TTooManyTo},
	domain.Unauthenticated: {http.StatusUnauthorized, ui.TRefused, ui.TRefusedTo},
	domain.Forbidden:       {http.StatusForbidden, ui.TForeign, ui.TForeignTo},
}

// StatusOf is the HTTP status of a page that shows err.
func StatusOf(err error) int { return problems[domain.KindOf(err)].Status }

// Problem shows an error as a page. Here it stops, so here it is logged.
func (s *Site) Problem(c *gin.Context, err error) {
	told := s.Tell(c, err)
	s.Say(c, told.Status, ToneOf(err), told.Title, told.Text, "problem")
}

// Tell logs an error that a page is about to show, sets the headers that belong to it, and gives what the
// page has to say.
func (s *Site) Tell(c *gin.Context, err error) Told {
	told := problems[domain.KindOf(err)]
	s.Report(c, err)
	if told.Status == http.StatusServiceUnavailable || told.Status == http.StatusTooManyRequests || domain.KindOf(err) == domain.Busy {
		RetryAfter(c, err)
	}
	return told
}

// ToneOf is how a page that shows err looks.
func ToneOf(err error) ui.Tone {
	if domain.KindOf(err) == domain.NotFound {
		return ui.Absent
	}
	return ui.Danger
}

// Undone reports that a failed operation certainly did nothing, because its run was undone. Of any other
// failure of ours the effect is not known: a commit whose answer was lost may be there.
func Undone(err error) bool {
	e, ok := errors.AsType[*domain.Error](err)
	return ok && e.Kind == domain.Unavailable && e.Code == "retry_same_key"
}

// Reads reports whether a request only asks for something.
func Reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// RetryAfter says when to send a request again, in whole seconds.
func RetryAfter(c *gin.Context, err error) {
	c.Header("Retry-After", strconv.Itoa(idempotent.RetryAfter(err)))
}

// Report logs an error that is shown to a person, when it is ours. A page that nobody waits for any more
// was stopped by its reader, and is no failure.
func (s *Site) Report(c *gin.Context, err error) {
	switch domain.KindOf(err) {
	case domain.Unavailable, domain.Unknown:
		code, level := "", slog.LevelError
		if e, ok := errors.AsType[*domain.Error](err); ok {
			code = e.Code
		}
		if Reads(c.Request) && c.Request.Context().Err() != nil {
			level = slog.LevelInfo
		}
		s.Log.Log(c.Request.Context(), level, "page failed", "method", c.Request.Method, "route", c.FullPath(), "code", code, "error", err)
	}
}

// NotFound answers for an address that does not exist.
func (s *Site) NotFound(c *gin.Context) {
	s.Say(c, http.StatusNotFound, ui.Absent, ui.TNotFound, ui.TNotFoundTo, "not-found")
}

// Say sends a page with one message.
func (s *Site) Say(c *gin.Context, status int, tone ui.Tone, title, text ui.Text, id string) {
	NoStore(c)
	p := s.Page(c, title.In(Lang(c)))
	p.Failed, p.State = true, id
	if c.Request.Method != http.MethodGet {
		p.Path = "/" // the language link cannot repeat a POST
	}
	_ = s.Render(c, status, ui.Message(p, tone, p.Title, text.In(p.Lang), id))
}
