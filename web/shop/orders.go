package shop

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
	"example.com/eenmaal/web/ui"
)

// ordersView is the page by which an order is found again: those of this browser, and a form for others.
type ordersView struct {
	Orders        []domain.Order
	Number, Email string // as typed
	Mistakes      []ui.Mistake
	Unknown       bool // there is no such order, or it has another email address
}

func (s *Shop) orders(c *gin.Context) error {
	return s.showOrders(c, http.StatusOK, ordersView{})
}

func (s *Shop) showOrders(c *gin.Context, status int, v ordersView) error {
	site.NoStore(c)
	if ids := s.Site.DeviceOrders(c); len(ids) > 0 {
		var err error
		if v.Orders, err = s.Reader.OrdersByID(c.Request.Context(), ids); err != nil {
			return err
		}
	}
	p := s.Site.Page(c, ui.TOrders.In(site.Lang(c)))
	p.Failed, p.State = status != http.StatusOK, "orders"
	return s.Site.Render(c, status, ordersPage(p, v))
}

// lookUp leads to an order by its number and its email address, or forgets those of this browser. It is a
// POST, so that nothing of it stands in an address, in a log or in the browser's history. A number that
// does not exist and an email address that is not the order's get the same answer.
func (s *Shop) lookUp(c *gin.Context) error {
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	if form.Has("forget") {
		s.Site.ForgetOrders(c)
		return s.Site.See(c, "/orders")
	}
	v := ordersView{Number: normalNumber(form.Get("number")), Email: strings.TrimSpace(form.Get("email"))}
	if v.Mistakes = v.missing(site.Lang(c)); len(v.Mistakes) > 0 {
		return s.showOrders(c, http.StatusUnprocessableEntity, v)
	}
	order, err := s.Reader.OrderByNumber(c.Request.Context(), v.Number)
	if err != nil && domain.KindOf(err) != domain.NotFound {
		return err
	}
	if err != nil || order.Token == "" || !strings.EqualFold(order.Email, v.Email) {
		v.Unknown = true
		return s.showOrders(c, http.StatusUnprocessableEntity, v)
	}
	s.Site.NoteOrder(c, order.ID)
	return s.Site.See(c, orderPath(order))
}

// normalNumber reads an order number as people type it.
func normalNumber(s string) string { return strings.ToUpper(strings.Join(strings.Fields(s), "")) }

func (v ordersView) missing(l ui.Lang) (all []ui.Mistake) {
	if v.Number == "" {
		all = append(all, ui.Mistake{Field: "number", Text: ui.TErrNumber.In(l)})
	}
	if v.Email == "" {
		all = append(all, ui.Mistake{Field: "email", Text: ui.TErrEmail.In(l)})
	}
	return all
}

// fields are the two inputs with what was typed.
func (v ordersView) fields(p ui.Page) []ui.Field {
	all := []ui.Field{
		{Name: "number", Label: p.T(ui.TOrderNumber), Hint: p.T(ui.TNumberHint), Value: v.Number, Autocomplete: "off"},
		{Name: "email", Label: p.T(ui.TEmail), Value: v.Email, Autocomplete: "email", Type: "email"},
	}
	for i := range all {
		for _, m := range v.Mistakes {
			if m.Field == all[i].Name {
				all[i].Error = m.Text
			}
		}
	}
	return all
}

// orderPath is the address of an order's page, with the token that opens it.
func orderPath(o domain.Order) string {
	return "/orders/" + o.Number + "?t=" + url.QueryEscape(o.Token)
}
