// Package admin is the desk: the pages for the shop's staff, behind a sign-in.
//
// Its readers only look. Whatever it changes goes through the API's operations, under the desk's own
// consumer and with a key that is in the form's address, so that its buttons can be pressed twice too.
package admin

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

//go:generate go tool templ generate

// Ops are the operations that the desk calls.
type Ops struct {
	CancelOrder    site.Operation[api.CancelOrder, api.Cancellation]
	CapturePayment site.Operation[api.CapturePayment, api.Modification]
	VoidPayment    site.Operation[api.VoidPayment, api.Modification]
	RefundPayment  site.Operation[api.RefundPayment, api.Modification]
	Redeliver      site.Operation[api.Redeliver, api.Redelivery]
}

// Reader is what the desk looks up, subject by subject.
type Reader interface {
	Orders
	Flags
	Messages
	Mails
	Inbox
	Deliveries
	Dead
	Keys
}

// Config of the desk. Ops, Reader, Sessions, Support, Jobs and Explain are needed, and so is one way to sign in: a PasswordHash,
// or OneClick.
type Config struct {
	Ops      Ops
	Reader   Reader
	Sessions Sessions
	Support  Support
	Jobs     Jobs
	Explain  Explainer // keeps what the staff finds out about mismatches
	// Pressed hears of every press that is no operation; again when its form was sent before. It may be nil.
	Pressed func(action string, again bool)

	User         string // who signs in with the password; "staff" when empty
	PasswordHash string // as HashPassword makes it, or bcrypt's
	OneClick     bool   // anybody signs in without a password; for demos, and only where there is no PasswordHash
}

// Desk answers with these pages.
type Desk struct {
	Site     *site.Site
	cfg      Config
	password *password // nil with OneClick
}

// New makes the desk, or says what is missing.
func New(s *site.Site, cfg Config) (*Desk, error) {
	cfg.User = cmp.Or(cfg.User, "staff")
	if cfg.Ops.CancelOrder == nil || cfg.Ops.CapturePayment == nil || cfg.Ops.VoidPayment == nil || cfg.Ops.RefundPayment == nil || cfg.Ops.Redeliver == nil ||
		cfg.Reader == nil || cfg.Sessions == nil || cfg.Support == nil || cfg.Jobs == nil || cfg.Explain == nil {
		return nil, errors.New("admin: Ops, Reader, Sessions, Support, Jobs and Explain must be given")
	}
	d := &Desk{Site: s, cfg: cfg}
	if cfg.PasswordHash == "" && cfg.OneClick {
		return d, nil
	}
	var err error
	d.password, err = parsePassword(cfg.PasswordHash)
	return d, err
}

// Mount adds the routes of one language. Only the sign-in is open to everybody.
func (d *Desk) Mount(r gin.IRouter) {
	open := r.Group("/admin", site.NoStore)
	open.GET("/sign-in", d.handle(d.signInForm))
	open.POST("/sign-in", d.handle(d.signIn))
	in := open.Group("", d.Guard)
	in.GET("", d.handle(func(c *gin.Context) error { return d.Site.See(c, sections[0].Path) }))
	in.POST("/sign-out", d.handle(d.signOut))
	d.mountOrders(in)
	d.mountPayments(in)
	d.mountCancel(in)
	d.mountAttention(in)
	d.mountMessages(in)
	d.mountMails(in)
	d.mountInbox(in)
	d.mountDeliveries(in)
	d.mountDead(in)
	d.mountCSV(in)
	d.mountKeys(in)
	d.mountMismatches(in)
	d.mountDuplicates(in)
}

// MutatingRoutes lists every route of the desk that is not a GET.
var MutatingRoutes = []site.Route{
	{Method: http.MethodPost, Pattern: "/admin/sign-in", Why: "session: signing in again ends the session before it"},
	{Method: http.MethodPost, Pattern: "/admin/sign-out", Why: "session: ending what has ended changes nothing"},
	{Method: http.MethodPost, Pattern: "/admin/orders/:number/cancel/:key", Why: "operation: POST /v1/orders/:id/cancellations with the key of the form's address"},
	{Method: http.MethodPost, Pattern: "/admin/orders/:number/payments/:payment/:action/:key", Why: "operations: captures, voids and refunds of /v1/payments/:id with the key of the form's address"},
	{Method: http.MethodPost, Pattern: "/admin/attention/:id/settle", Why: "state: a flag is settled once, by who was first"},
	{Method: http.MethodPost, Pattern: "/admin/attention/:id/not-charged", Why: "state: only a payment in doubt is settled, and then it is in doubt no more"},
	{Method: http.MethodPost, Pattern: "/admin/messages/:id/answered", Why: "state: a message is answered once, by who was first"},
	{Method: http.MethodPost, Pattern: "/admin/mails/:id/send", Why: "state: only a mail that was given up is sent again, and then it waits"},
	{Method: http.MethodPost, Pattern: "/admin/inbox/:id/try", Why: "state: only an event that waits or was given up is tried again, and it has its effect once"},
	{Method: http.MethodPost, Pattern: "/admin/deliveries/:id/redeliver/:key", Why: "operation: POST /v1/webhook-endpoints/:id/deliveries/:delivery/redeliveries with the key of the form's address"},
	{Method: http.MethodPost, Pattern: "/admin/mismatches/:id/explain/:key", Why: "note: the first explanation stays, another one changes nothing"},
}

// section is one line of the desk's menu.
type section struct {
	Path string
	Name ui.Text
}

// sections are the menu. The first is where the desk opens.
var sections = []section{
	{"/admin/orders", tOrders},
	{"/admin/keys", tKeys},
	{"/admin/mismatches", tMismatches},
	{"/admin/duplicates", tDuplicates},
	{"/admin/attention", tAttention},
	{"/admin/messages", tMessages},
	{"/admin/mails", tMails},
	{"/admin/inbox", tInbox},
	{"/admin/deliveries", tDeliveries},
	{"/admin/dead", tDeadLetters},
	{"/admin/jobs", tJobs},
}

// inMenu reports whether the desk has this section.
func inMenu(path string) bool {
	return slices.ContainsFunc(sections, func(s section) bool { return s.Path == path })
}

// Page is what the shell needs to know of the page inside it.
type Page struct {
	ui.Page
	Staff   string // who is signed in; empty on the sign-in page
	Section string // the path of its line in the menu
}

// page begins a page of a section.
func (d *Desk) page(c *gin.Context, section string, title ui.Text, args ...any) Page {
	p := Page{Page: d.Site.Page(c, title.In(site.Lang(c), args...)), Staff: staffOf(c), Section: section}
	p.State = "desk"
	return p
}
