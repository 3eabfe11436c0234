package admin

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// Explainer keeps what the staff finds out.
type Explainer interface {
	// ExplainMismatch keeps the first explanation of a mismatch; another one changes nothing.
	ExplainMismatch(ctx context.Context, id int64, by, note string) error
}

// mountMismatches adds the list and the form that explains one. The form has its key in its address.
func (d *Desk) mountMismatches(r gin.IRouter) {
	r.GET("/mismatches", d.handle(d.mismatches))
	r.GET("/mismatches/:id/explain", d.handle(d.openExplain))
	r.GET("/mismatches/:id/explain/:key", d.handle(d.explainForm))
	r.POST("/mismatches/:id/explain/:key", d.handle(d.explain))
}

var mismatchColumns = []ui.Text{tKey, tEndpoint, tConsumer, tDiffersIn, tTimesCame, tLastCame, tAge, tState}

var mismatchStates = []choice{{domain.MismatchExplained, tExplained}}

// mismatches lists those that nobody has explained, or those that somebody has.
func (d *Desk) mismatches(c *gin.Context) error {
	l := listView{Path: "/admin/mismatches", Title: tMismatches, Lead: tMismatchesLead, Empty: tNoMismatches, All: tOpen,
		Filter: "state", Choices: mismatchStates, Chosen: chosenOf(c, "state", mismatchStates), Columns: mismatchColumns}
	part, err := d.cfg.Reader.ListMismatches(c.Request.Context(), listing(c, l))
	if err != nil {
		return err
	}
	l.Count, l.Older, l.Newer = len(part.Items), part.Older, part.Newer
	return d.Site.Render(c, http.StatusOK, mismatchesPage(d.page(c, "/admin/mismatches", tMismatches), l, part.Items))
}

func explainPath(m domain.KeyMismatch) string {
	return "/admin/mismatches/" + strconv.FormatInt(m.ID, 10) + "/explain"
}

func (d *Desk) mismatchIn(c *gin.Context) (domain.KeyMismatch, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return domain.KeyMismatch{}, domain.Errorf(domain.NotFound, "mismatch_not_found", "There is no such mismatch.")
	}
	return d.cfg.Reader.Mismatch(c.Request.Context(), id)
}

func (d *Desk) openExplain(c *gin.Context) error {
	m, err := d.mismatchIn(c)
	if err != nil {
		return err
	}
	return d.open(c, explainPath(m))
}

// explaining is a mismatch that somebody is about to explain.
type explaining struct {
	domain.KeyMismatch
	form  actionView
	typed string
}

func (d *Desk) readExplain(c *gin.Context) (x explaining, key domain.Key, err error) {
	if x.KeyMismatch, err = d.mismatchIn(c); err != nil {
		return x, key, err
	}
	key, err = d.keyed(c)
	lang := site.Lang(c)
	x.form = actionView{Path: explainPath(x.KeyMismatch) + "/" + key.String(), Back: "/admin/mismatches", Key: key.String(),
		Lead: tExplainLead.In(lang), Button: tExplain.In(lang)}
	return x, key, err
}

func (d *Desk) explainForm(c *gin.Context) error {
	x, _, err := d.readExplain(c)
	if err != nil {
		return err
	}
	if !x.ExplainedAt.IsZero() {
		x.form.Tone, x.form.Problem, x.form.Detail, x.form.Over = ui.Info, tIsExplained.In(site.Lang(c)), x.Note, true
	}
	return d.showExplain(c, http.StatusOK, x)
}

func (d *Desk) showExplain(c *gin.Context, status int, x explaining) error {
	p := d.page(c, "/admin/mismatches", tExplainTitle)
	p.Failed, p.State = status != http.StatusOK, "explain-"+x.form.Key
	return d.Site.Render(c, status, explainPage(p, x))
}

const maxExplanation = 500

// explain keeps the explanation. Pressed again it finds the first one kept and changes nothing.
func (d *Desk) explain(c *gin.Context) error {
	x, key, err := d.readExplain(c)
	if err != nil {
		return err
	}
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	if _, err := site.KeyOf(c, key.String()); err != nil {
		return err
	}
	x.typed = strings.TrimSpace(form.Get("note"))
	if x.typed == "" || utf8.RuneCountInString(x.typed) > maxExplanation {
		x.form.Mistakes = []ui.Mistake{{Field: "note", Text: tErrExplanation.In(site.Lang(c))}}
		return d.showExplain(c, http.StatusUnprocessableEntity, x)
	}
	ctx, cancel := site.Steadily(c)
	defer cancel()
	if err := d.notePress(ctx, c, deedExplain, strconv.FormatInt(x.ID, 10), key); err != nil {
		return err
	}
	if err := d.cfg.Explain.ExplainMismatch(ctx, x.ID, staffOf(c), x.typed); err != nil {
		return err
	}
	return d.Site.See(c, "/admin/mismatches?state="+domain.MismatchExplained)
}

func (x explaining) noteField(p Page) ui.Field {
	f := ui.Field{Name: "note", Label: p.T(tExplanation), Value: x.typed, Rows: 4, Autocomplete: "off"}
	for _, m := range x.form.Mistakes {
		f.Error = m.Text
	}
	return f
}
