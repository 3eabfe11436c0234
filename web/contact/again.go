package contact

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// again is why a form is shown once more: what is certain of the message, and what to do.
type again struct {
	id          string // of the notice
	Title, Text ui.Text
}

var (
	alreadySent = again{"contact-again", ui.TAlreadySent, ui.TAlreadySentTo}
	tooOld      = again{"contact-again", ui.TContactOld, ui.TContactOldTo}
	tooMany     = again{"contact-again", ui.TTooMany, ui.TTooManyTo}
	notSent     = again{"contact-again", ui.TContactProblem, ui.TContactRetry}
	stillRuns   = again{"contact-busy", ui.TContactBusy, ui.TContactBusyTo}
	unknown     = again{"contact-unknown", ui.TContactUnknown, ui.TContactUnknownTo}
)

// tryAgain shows the form with what was typed. It carries the key of the press that failed, unless that
// key is too old to be sent.
func (k *Contact) tryAgain(c *gin.Context, v view, cause error) error {
	switch domain.KindOf(cause) {
	case domain.Expired:
		v.ID, v.Key, v.Again = site.NewKey(k.Site.Now()), "", &tooOld
		return k.show(c, http.StatusGone, v)
	case domain.RateLimited:
		site.RetryAfter(c, cause)
		v.Again = &tooMany
		return k.show(c, http.StatusTooManyRequests, v)
	case domain.Conflict, domain.Busy, domain.Unknown, domain.Unavailable:
		k.Site.Report(c, cause)
		c.Header("Retry-After", "1")
		v.Again = standing(cause)
		return k.show(c, http.StatusServiceUnavailable, v)
	default:
		return cause
	}
}

// standing tells what is certain of a message whose sending failed.
func standing(cause error) *again {
	switch {
	case domain.KindOf(cause) == domain.Busy:
		return &stillRuns
	case site.Undone(cause):
		return &notSent
	default:
		return &unknown
	}
}
