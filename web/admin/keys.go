package admin

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// Keys is what the pages of keys look up.
type Keys interface {
	// Keys reads a part of the keys, newest first.
	Keys(ctx context.Context, search domain.KeySearch, cursor domain.Cursor) (domain.Part[domain.KeyRecord], error)
	// KeyRecord reads one key; one that is nowhere recorded is an error of kind NotFound.
	KeyRecord(ctx context.Context, s domain.Scope) (domain.KeyRecord, error)
	KeyTimeline(ctx context.Context, s domain.Scope) (domain.KeyTimeline, error)
	MismatchesOf(ctx context.Context, s domain.Scope) ([]domain.KeyMismatch, error)
	// ListMismatches reads a part of the mismatches that nobody has explained, or of those in a state.
	ListMismatches(ctx context.Context, l domain.Listing) (domain.Part[domain.KeyMismatch], error)
	Mismatch(ctx context.Context, id int64) (domain.KeyMismatch, error)
	// KeyCounts tells how requests ended, by the hour.
	KeyCounts(ctx context.Context, since time.Time) ([]domain.KeyCount, error)
}

func (d *Desk) mountKeys(r gin.IRouter) {
	r.GET("/keys", d.handle(d.keys))
	r.GET("/keys/:key/:consumer/:endpoint", d.handle(d.key))
}

var keyStates = []choice{
	{string(domain.KeysUnfinished), tUnfinished}, {string(domain.KeysFinished), tFinished},
	{string(domain.KeysExpired), tExpired}, {string(domain.KeysUntimed), tUntimed},
}

// keys lists the keys, or those that a search finds. The name of a key in a flag leads to it.
func (d *Desk) keys(c *gin.Context) error {
	text := strings.TrimSpace(c.Query("q"))
	if s, ok := idempotent.ScopeAbout(text); ok {
		return d.Site.See(c, keyPath(s))
	}
	l := listView{Path: "/admin/keys", Title: tKeys, Lead: tKeysLead, Empty: tNoKeys, Query: tSearchKeys, Search: text,
		Filter: "state", Choices: keyStates, Chosen: chosenOf(c, "state", keyStates),
		Columns: []ui.Text{tKey, tEndpoint, tConsumer, tState, tAttempts, tFirstSeen}}
	part, err := d.cfg.Reader.Keys(c.Request.Context(), domain.KeySearch{Text: text, State: domain.KeySearchState(l.Chosen)}, cursorOf(c))
	if err != nil {
		return err
	}
	l.Count, l.Older, l.Newer = len(part.Items), part.Older, part.Newer
	return d.Site.Render(c, http.StatusOK, keysPage(d.page(c, "/admin/keys", tKeys), l, part.Items))
}

// keyPath is where a key is shown.
func keyPath(s domain.Scope) string {
	return "/admin/keys/" + uuid.UUID(s.Key.ID()).String() + "/" + strconv.FormatInt(s.Consumer, 10) + "/" + strconv.Itoa(int(s.Endpoint))
}

// scopeIn reads the address of a key.
func scopeIn(c *gin.Context) (domain.Scope, error) {
	id, err1 := uuid.Parse(c.Param("key"))
	consumer, err2 := strconv.ParseInt(c.Param("consumer"), 10, 64)
	endpoint, err3 := strconv.ParseInt(c.Param("endpoint"), 10, 16)
	if err1 != nil || err2 != nil || err3 != nil {
		return domain.Scope{}, domain.Errorf(domain.NotFound, "key_not_found", "Nothing is recorded for this key.")
	}
	return domain.Scope{Key: domain.KeyOfID(id, ""), Consumer: consumer, Endpoint: int16(endpoint)}, nil
}

// keyView is one key with its story.
type keyView struct {
	domain.KeyRecord
	Events     []ui.SequenceEvent
	Earlier    bool
	Calls      []call
	Mismatches []domain.KeyMismatch
}

// call is one call to somebody outside, as the journal tells it.
type call struct {
	Name    string
	Attempt int64
	Began   time.Time
	Ended   time.Time // zero when no end is known
	Outcome string
}

func (d *Desk) key(c *gin.Context) error {
	scope, err := scopeIn(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	record, err := d.cfg.Reader.KeyRecord(ctx, scope)
	if err != nil {
		return err
	}
	timeline, err := d.cfg.Reader.KeyTimeline(ctx, scope)
	if err != nil {
		return err
	}
	mismatches, err := d.cfg.Reader.MismatchesOf(ctx, scope)
	if err != nil {
		return err
	}
	p := d.page(c, "/admin/keys", tKeyTitle, shownKey(record))
	return d.Site.Render(c, http.StatusOK, keyPage(p, keyView{KeyRecord: record, Events: ui.Sequence(timeline.Events), Earlier: timeline.Earlier,
		Calls: callsIn(timeline.Events), Mismatches: mismatches}))
}

// shownKey is the key's text, or its id when the text is not known.
func shownKey(r domain.KeyRecord) string {
	if text := r.Scope.Key.String(); text != "" {
		return text
	}
	return uuid.UUID(r.Scope.Key.ID()).String()
}

// callsIn pairs the begin of every call with its end.
func callsIn(events []domain.KeyEvent) (calls []call) {
	for _, e := range events {
		switch e.Kind {
		case domain.KeyCalling:
			calls = append(calls, call{Name: e.Step, Attempt: e.Attempt, Began: e.At})
		case domain.KeyCalled:
			open := func(c call) bool { return c.Name == e.Step && c.Attempt == e.Attempt && c.Ended.IsZero() }
			if at := slices.IndexFunc(calls, open); at >= 0 {
				calls[at].Ended, calls[at].Outcome = e.At, e.Detail
			}
		}
	}
	return calls
}

func consumerName(p Page, name string) string {
	if name == "" {
		return p.T(tBrowserFlow)
	}
	return name
}

// keyState says how a key stands.
func keyState(r domain.KeyRecord) (ui.Tone, ui.Text) {
	switch {
	case r.State == domain.Running && r.LeaseLeft > 0:
		return ui.Info, tRunning
	case r.State == domain.Running:
		return ui.Warn, tLeaseOver
	case r.State == domain.Released:
		return ui.Warn, tReleased
	case r.State == domain.Tombstone:
		return ui.Info, tAnswerGone
	case r.Status >= http.StatusBadRequest:
		return ui.Warn, tDoneNo
	default:
		return ui.OK, tDoneWell
	}
}
