package checkout

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// detailsView is the details page. When the order is placed, only the payment can still be chosen.
type detailsView struct {
	visit
	Fields   []ui.Field
	Method   string // the choice that is ticked
	Mistakes []ui.Mistake
	Summary  ui.Summary
}

func (k *Checkout) details(c *gin.Context, v visit) error {
	return k.showDetails(c, http.StatusOK, v, nil)
}

func (k *Checkout) showDetails(c *gin.Context, status int, v visit, broken []domain.FieldError) error {
	summary, err := k.summary(c, v)
	if err != nil {
		return err
	}
	l := site.Lang(c)
	view := detailsView{visit: v, Method: ui.ChoiceOf(v.Draft.Method), Mistakes: mistakes(l, broken), Summary: summary}
	if view.Method == "" && len(broken) == 0 {
		view.Method = ui.Methods(false)[0].Choice
	}
	view.Fields = fields(l, v.Draft, view.Mistakes)
	p := k.Site.Page(c, ui.TDetailsTitle.In(l))
	p.Failed, p.State = len(broken) > 0, "details-"+string(v.State)
	if v.Placed {
		p.Title = p.T(ended(v).title)
	}
	p.Path = v.path("")
	return k.Site.Render(c, status, detailsPage(p, view))
}

// summary is what the checkout buys: today's prices until it is ordered, and the order's from then on.
func (k *Checkout) summary(c *gin.Context, v visit) (ui.Summary, error) {
	if v.Placed {
		return ui.SummaryOf(site.Lang(c), v.Order), nil
	}
	products, err := k.Reader.Products(c.Request.Context())
	return ui.Priced(site.Lang(c), v.Items, products), err
}

// save keeps what was typed, whether or not it is complete, and goes on when it is.
func (k *Checkout) save(c *gin.Context, v visit) error {
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	d, broken := filled(v.Draft, form, k.Site.Demo)
	d.Language = string(site.Lang(c))
	if err := k.Drafts.SaveDraft(c.Request.Context(), d); err != nil {
		return err
	}
	if len(broken) > 0 {
		v.Draft = d
		return k.showDetails(c, http.StatusUnprocessableEntity, v, broken)
	}
	return k.seeReview(c, v)
}

// filled puts a form's answers into a draft and names the rules that they break.
func filled(d domain.Draft, form url.Values, demo bool) (domain.Draft, []domain.FieldError) {
	d.Email, d.Name = form.Get("email"), form.Get("name")
	d.Address = domain.Address{
		Line1: form.Get("line1"), PostalCode: form.Get("postal_code"), City: form.Get("city"), Country: form.Get("country"),
	}
	clean := wanted(d).Normalize()
	d.Email, d.Name, d.Address = clean.Email, clean.Name, clean.Address
	var broken []domain.FieldError
	if e, ok := errors.AsType[*domain.Error](clean.Validate()); ok {
		broken = e.Fields
	}
	if !delivers(d.Address.Country) {
		broken = append(broken, domain.FieldError{Field: "address.country", Code: "required"})
	}
	var ok bool
	if d.Method, ok = ui.Chosen(demo, form.Get("method")); !ok {
		broken = append(broken, domain.FieldError{Field: "method", Code: "required"})
	}
	return d, broken
}

func delivers(country string) bool {
	for _, known := range ui.Countries {
		if known.Code == country {
			return true
		}
	}
	return false
}

// question is one field of the form: its name, the API's name for it, and what it says.
type question struct {
	name, path, autocomplete string
	label, missing, wrong    ui.Text
}

var questions = []question{
	{"email", "email", "email", ui.TEmail, ui.TErrEmail, ui.TErrEmailForm},
	{"name", "name", "name", ui.TFullName, ui.TErrName, ui.TErrCharacters},
	{"line1", "address.line1", "shipping address-line1", ui.TLine1, ui.TErrLine1, ui.TErrCharacters},
	{"postal_code", "address.postal_code", "shipping postal-code", ui.TPostalCode, ui.TErrPostal, ui.TErrPostalForm},
	{"city", "address.city", "shipping address-level2", ui.TCity, ui.TErrCity, ui.TErrCharacters},
	{"country", "address.country", "shipping country", ui.TCountry, ui.TErrCountry, ui.TErrCountry},
	{"method", "method", "", ui.THowToPay, ui.TErrMethod, ui.TErrMethod},
}

// mistakes puts broken rules into words, one for each field, in the order of the form.
func mistakes(l ui.Lang, broken []domain.FieldError) []ui.Mistake {
	var all []ui.Mistake
	for _, q := range questions {
		for _, b := range broken {
			if b.Field == q.path {
				all = append(all, ui.Mistake{Field: q.name, Text: q.mistake(l, b.Code)})
				break
			}
		}
	}
	return all
}

func (q question) mistake(l ui.Lang, code string) string {
	text := q.wrong
	switch code {
	case "required":
		text = q.missing
	case "too_long":
		text = ui.TErrTooLong
	}
	if text == ui.TErrTooLong || text == ui.TErrCharacters {
		return text.In(l, q.label.In(l))
	}
	return text.In(l)
}

func mistakeOf(all []ui.Mistake, field string) string {
	for _, m := range all {
		if m.Field == field {
			return m.Text
		}
	}
	return ""
}

// fields are the six inputs with what was typed.
func fields(l ui.Lang, d domain.Draft, wrong []ui.Mistake) []ui.Field {
	values := map[string]string{
		"email": d.Email, "name": d.Name, "line1": d.Address.Line1,
		"postal_code": d.Address.PostalCode, "city": d.Address.City, "country": d.Address.Country,
	}
	var all []ui.Field
	for _, q := range questions[:6] {
		f := ui.Field{
			Name: q.name, Label: q.label.In(l), Value: values[q.name], Autocomplete: q.autocomplete, Error: mistakeOf(wrong, q.name),
		}
		switch q.name {
		case "email":
			f.Type, f.Hint = "email", ui.TEmailHint.In(l)
		case "country":
			for _, country := range ui.Countries {
				f.Options = append(f.Options, ui.Option{Value: country.Code, Label: country.Name.In(l)})
			}
		}
		all = append(all, f)
	}
	return all
}
