package admin

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// After so many tries within the window, a user name or an address has to wait.
const (
	maxTries  = 5
	tryWindow = 15 * time.Minute
)

// signInView is the sign-in, for the first time or again.
type signInView struct {
	To       string // where to go afterwards
	User     string // as it was typed
	Problem  ui.Text
	Minutes  int // to wait
	OneClick bool
}

func (d *Desk) signInForm(c *gin.Context) error {
	return d.showSignIn(c, http.StatusOK, signInView{To: wayBack(c.Query("to"))})
}

func (d *Desk) showSignIn(c *gin.Context, status int, v signInView) error {
	v.OneClick = d.password == nil
	p := d.page(c, "", tSignIn)
	p.Path, p.Query = "/admin/sign-in", map[string][]string{"to": {v.To}}
	p.State, p.Failed = "sign-in", status != http.StatusOK
	return d.Site.Render(c, status, signInPage(p, v))
}

// signIn answers a wrong password and an unknown user alike, after the same work.
func (d *Desk) signIn(c *gin.Context) error {
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	v := signInView{To: wayBack(form.Get("to")), User: form.Get("user")}
	if d.password == nil {
		return d.enter(c, v.To)
	}
	ctx := c.Request.Context()
	subjects := d.subjects(c, v.User)
	wait, err := d.admit(ctx, subjects)
	if err != nil {
		return err
	}
	if wait > 0 {
		d.Site.Log.WarnContext(ctx, "sign-in locked")
		c.Header("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		v.Problem, v.Minutes = tLocked, int(wait/time.Minute)+1
		return d.showSignIn(c, http.StatusTooManyRequests, v)
	}
	matches, err := d.password.matches(ctx, form.Get("password"))
	if err != nil {
		return err
	}
	if known := equal(v.User, d.cfg.User); !matches || !known {
		d.Site.Log.WarnContext(ctx, "sign-in refused")
		v.Problem = tWrongPassword
		return d.showSignIn(c, http.StatusUnprocessableEntity, v)
	}
	if err := d.cfg.Sessions.ForgetSignInTries(ctx, subjects); err != nil {
		return err
	}
	return d.enter(c, v.To)
}

func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// admit counts a try, or tells how long to wait. A try is counted before the password is looked at:
// guesses at one moment, on several replicas, are no more than guesses one after another. When nobody
// can count, nobody gets in.
func (d *Desk) admit(ctx context.Context, subjects []string) (wait time.Duration, err error) {
	if wait, err = d.locked(ctx, subjects, maxTries); err != nil || wait > 0 {
		return wait, err
	}
	if err := d.cfg.Sessions.NoteSignInTry(ctx, subjects, d.Site.Now().Add(-tryWindow)); err != nil {
		return 0, err
	}
	return d.locked(ctx, subjects, maxTries+1)
}

// locked is how long it takes until a subject has made fewer than so many tries within the window.
func (d *Desk) locked(ctx context.Context, subjects []string, tries int) (wait time.Duration, err error) {
	now := d.Site.Now()
	for _, s := range subjects {
		times, err := d.cfg.Sessions.SignInTries(ctx, s, now.Add(-tryWindow), tries)
		if err != nil {
			return 0, err
		}
		if len(times) == tries {
			wait = max(wait, times[tries-1].Add(tryWindow).Sub(now))
		}
	}
	return wait, nil
}

// subjects are whose tries are counted: the user's, whether there is such a user or not, and those of the
// address. What was typed may be anything, a password too, so only keyed hashes are kept.
func (d *Desk) subjects(c *gin.Context, user string) []string {
	return []string{d.subject("user", user), d.subject("address", network(c.ClientIP()))}
}

func (d *Desk) subject(kind, value string) string {
	h := hmac.New(sha256.New, d.Site.Secret)
	h.Write([]byte("sign-in\x00" + kind + "\x00" + value))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// network is an address, or for IPv6 the 64 bits that one customer of a provider has for himself.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return address
	}
	prefix, _ := ip.Prefix(64) // fits every IPv6 address
	return prefix.String()
}
