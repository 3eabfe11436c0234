package admin

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
)

// Sessions keeps who is signed in, who tried to, and who did what. It is shared by all replicas.
type Sessions interface {
	// StartStaffSession keeps a session, and ends that of the token before it.
	StartStaffSession(ctx context.Context, token, before string, s domain.StaffSession) error
	StaffSession(ctx context.Context, token string) (s domain.StaffSession, ok bool, err error)
	SeeStaffSession(ctx context.Context, token string) error
	EndStaffSession(ctx context.Context, token string) error

	// SignInTries gives the times of a subject's newest tries since then that have not succeeded.
	SignInTries(ctx context.Context, subject string, since time.Time, limit int) ([]time.Time, error)
	NoteSignInTry(ctx context.Context, subjects []string, forget time.Time) error
	ForgetSignInTries(ctx context.Context, subjects []string) error

	// NoteStaffAction keeps who asked for something; the first one to ask with a key stays. again reports
	// that somebody has.
	NoteStaffAction(ctx context.Context, a domain.StaffAction) (again bool, err error)
}

const (
	sessionCookie = "desk"
	sessionLife   = 12 * time.Hour
	staffKey      = "staff"
)

// Guard lets only the staff through.
func (d *Desk) Guard(c *gin.Context) {
	site.NoStore(c)
	switch err := d.recognize(c); {
	case err != nil:
		d.tell(c, err)
	case staffOf(c) != "":
		return
	default:
		d.turnAway(c)
	}
	c.Abort()
}

// recognize finds out who is signed in. An error says that it cannot be told now.
func (d *Desk) recognize(c *gin.Context) error {
	token, ok := d.Site.SignedCookie(c, sessionCookie)
	if !ok || staffOf(c) != "" {
		return nil
	}
	session, ok, err := d.cfg.Sessions.StaffSession(c.Request.Context(), token)
	if err != nil || !ok {
		return err
	}
	c.Set(staffKey, session.Staff)
	d.see(c, token, session)
	return nil
}

// turnAway sends who is not signed in and reads to the sign-in, and from there to the page. Who wanted to
// change something is told that nothing was done.
func (d *Desk) turnAway(c *gin.Context) {
	if site.Reads(c.Request) {
		_ = d.Site.See(c, "/admin/sign-in?"+url.Values{"to": {wayBack(ownAddress(c))}}.Encode()) // never an error
		return
	}
	_ = d.showSignIn(c, http.StatusForbidden, signInView{To: wayBack(c.Request.Referer()), Problem: tSignInFirst})
}

// see notes once a minute that a session is in use.
func (d *Desk) see(c *gin.Context, token string, s domain.StaffSession) {
	if d.Site.Now().Sub(s.SeenAt) < time.Minute {
		return
	}
	if err := d.cfg.Sessions.SeeStaffSession(c.Request.Context(), token); err != nil {
		d.Site.Log.WarnContext(c.Request.Context(), "staff session not noted", "error", err) // of no consequence
	}
}

// staffOf is who is signed in; empty before somebody was recognized.
func staffOf(c *gin.Context) string { return c.GetString(staffKey) }

func ownAddress(c *gin.Context) string {
	return (&url.URL{Path: c.Request.URL.Path, RawQuery: c.Request.URL.RawQuery}).String()
}

// wayBack is where a person wanted to go, without the language, if that is a page of the desk. Of an
// address that somebody may have made up, only its path and query are used.
func wayBack(address string) string {
	const home = "/admin"
	u, err := url.Parse(address)
	if err != nil || strings.ContainsAny(u.Path, "\\\r\n") {
		return home
	}
	p := path.Clean("/" + u.Path)
	p = strings.TrimPrefix(p, "/nl")
	if p != home && !strings.HasPrefix(p, home+"/") || strings.HasPrefix(p, home+"/sign-") {
		return home
	}
	return (&url.URL{Path: p, RawQuery: u.RawQuery}).String()
}

// enter begins a session with a token of its own: one that was there before is worth nothing any more.
func (d *Desk) enter(c *gin.Context, to string) error {
	now := d.Site.Now()
	before, _ := d.Site.SignedCookie(c, sessionCookie)
	token := rand.Text()
	s := domain.StaffSession{Staff: d.cfg.User, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(sessionLife)}
	if err := d.cfg.Sessions.StartStaffSession(c.Request.Context(), token, before, s); err != nil {
		return err
	}
	d.Site.SetSignedCookie(c, sessionCookie, token, sessionLife)
	d.Site.Log.InfoContext(c.Request.Context(), "staff signed in", "staff", d.cfg.User)
	return d.Site.See(c, to)
}

func (d *Desk) signOut(c *gin.Context) error {
	if token, ok := d.Site.SignedCookie(c, sessionCookie); ok {
		if err := d.cfg.Sessions.EndStaffSession(c.Request.Context(), token); err != nil {
			return err
		}
	}
	d.Site.SetSignedCookie(c, sessionCookie, "", 0)
	d.Site.Log.InfoContext(c.Request.Context(), "staff signed out", "staff", staffOf(c))
	return d.Site.See(c, "/admin/sign-in")
}
