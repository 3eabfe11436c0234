// Package site is what the pages of all subjects share: the language of a request, its form, its
// basket, and how a page or a problem is sent.
package site

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// Operation is one mutating operation of the API, called in-process with the client's key.
type Operation[In, Out any] interface {
	// Do runs the operation once for the key, or gives the answer of the request that did. A final
	// answer, a refusal included, is a Reply; everything else is a *domain.Error.
	Do(ctx context.Context, c domain.Consumer, k domain.Key, in In) (idempotent.Reply, error)
	// Output reads a Reply: the value of a success, or the stored refusal as a *domain.Error.
	Output(r idempotent.Reply) (Out, error)
}

// Site sends pages. All fields but PaymentPages and Version are needed.
type Site struct {
	Name         string
	BaseURL      string
	PaymentPages string // origin of the payment provider's pages; empty: BaseURL's
	Version      string
	Demo         bool
	Secure       bool   // cookies travel by HTTPS only
	Secret       []byte // signs cookies
	Now          func() time.Time
	Log          *slog.Logger
}

// Handler answers a request, or gives the error that Problem shows.
type Handler func(c *gin.Context) error

// Handle makes a gin handler.
func (s *Site) Handle(h Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			s.Problem(c, err)
		}
	}
}

// Lang is the language of a request, told by its address alone.
func Lang(c *gin.Context) ui.Lang {
	if p := c.Request.URL.Path; p == "/nl" || strings.HasPrefix(p, "/nl/") {
		return ui.Dutch
	}
	return ui.English
}

// Path is the address of a request without its language.
func Path(c *gin.Context) string {
	p := strings.TrimPrefix(c.Request.URL.Path, Lang(c).Prefix())
	if p == "" {
		return "/"
	}
	return p
}

// Page begins the page that answers a request. title is already in the right language.
func (s *Site) Page(c *gin.Context, title string) ui.Page {
	return ui.Page{
		Lang: Lang(c), Shop: s.Name, BaseURL: s.BaseURL, Title: title, Path: Path(c), Query: c.Request.URL.Query(),
		Basket: s.Basket(c).Count(), Demo: s.Demo, Version: s.Version,
	}
}

// Render sends a page.
func (s *Site) Render(c *gin.Context, status int, page templ.Component) error {
	c.Header("Content-Type", "text/html; charset=utf-8")
	c.Status(status)
	if err := page.Render(c.Request.Context(), c.Writer); err != nil {
		s.Log.DebugContext(c.Request.Context(), "page not sent", "error", err) // the reader has gone
	}
	return nil
}

// NoStore marks a page that holds a key or personal data.
func NoStore(c *gin.Context) { c.Header("Cache-Control", "no-store") }

// See sends the browser on to another page in the same language. A reload there repeats no POST.
func (s *Site) See(c *gin.Context, path string) error {
	NoStore(c)
	c.Redirect(http.StatusSeeOther, Lang(c).Prefix()+path)
	return nil
}

// Leave sends the browser from a posted form to a page of the payment provider. The page's script, which
// is known by its header, gets the address in a 202: browsers let no script follow a redirect to another
// origin.
func (s *Site) Leave(c *gin.Context, address string) error {
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return domain.Errorf(domain.Unavailable, "redirect_invalid", "The payment provider named no page to go to.")
	}
	NoStore(c)
	c.Header("Location", address)
	if c.GetHeader("Idempotency-Key") != "" {
		c.Status(http.StatusAccepted)
	} else {
		c.Status(http.StatusSeeOther)
	}
	c.Writer.WriteHeaderNow()
	return nil
}

const maxForm = 64 << 10

// Form reads a posted form. Text that is no UTF-8 or holds a NUL comes from no browser's form and is
// refused whole.
func Form(c *gin.Context) (url.Values, error) {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	if err := c.Request.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, domain.Errorf(domain.TooLarge, "form_too_large", "The form is larger than %d bytes.", maxForm)
		}
		return nil, domain.Errorf(domain.Malformed, "form_malformed", "The form cannot be read.")
	}
	for _, values := range c.Request.PostForm {
		for _, v := range values {
			if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				return nil, domain.Errorf(domain.Malformed, "form_malformed", "The form holds text that is not valid UTF-8.")
			}
		}
	}
	return c.Request.PostForm, nil
}

// KeyOf reads the key in a form field. A script sends it in the Idempotency-Key header too, and then
// both must be the same.
func KeyOf(c *gin.Context, field string) (domain.Key, error) {
	key, err := domain.ParseKey(field)
	if err != nil {
		return domain.Key{}, err
	}
	headers := c.Request.Header.Values("Idempotency-Key")
	if len(headers) == 0 {
		return key, nil
	}
	if header, err := domain.ParseKey(headers[0]); err != nil || len(headers) > 1 || header.String() != key.String() {
		return domain.Key{}, domain.Errorf(domain.Malformed, "idempotency_key_differs", "The key of the header is not the key of the form.")
	}
	return key, nil
}

// Steadily is the context of a request that makes something happen: it goes on when the browser leaves,
// as it does at the second half of a double click. What the transport knows of the request stays with it.
func Steadily(c *gin.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.Request.Context()), time.Minute)
}

// NewKey makes a UUIDv7 for the given moment.
func NewKey(now time.Time) string {
	id := uuid.UUID(randomBytes())
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(id[:6], ms[2:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// NewFlow makes the unguessable id of a checkout.
func NewFlow() string { return uuid.New().String() }

// IsFlow reports whether s is an id as a flow has it: a UUID in its one written form.
func IsFlow(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s && (id.Version() == 4 || id.Version() == 7)
}

func randomBytes() (b [16]byte) {
	rand.Read(b[:]) // never fails
	return b
}
