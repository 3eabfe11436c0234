package domain

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Product is one article of the catalogue. Name is the English one that the API shows; people are shown
// ArticleName.
type Product struct {
	SKU   string
	Name  string
	Price Money
	Stock int64
}

// OrderStatus only moves forward: awaiting_payment, then paid or cancelled.
type OrderStatus string

const (
	OrderAwaitingPayment OrderStatus = "awaiting_payment"
	OrderPaid            OrderStatus = "paid"
	OrderCancelled       OrderStatus = "cancelled"
)

// CancelReason says why an order was cancelled.
type CancelReason string

const (
	CancelRequested CancelReason = "requested" // somebody asked for it
	CancelExpired   CancelReason = "expired"   // nobody paid in time
)

// Address is where an order goes. Country is an ISO 3166 code of two capitals.
type Address struct {
	Line1      string `json:"line1"`
	PostalCode string `json:"postal_code"`
	City       string `json:"city"`
	Country    string `json:"country"`
}

// Normalize trims an address and writes its postcode and country the one way they are stored.
func (a Address) Normalize() Address {
	a.Line1, a.City = strings.TrimSpace(a.Line1), strings.TrimSpace(a.City)
	a.Country = strings.ToUpper(strings.TrimSpace(a.Country))
	a.PostalCode = strings.ToUpper(strings.TrimSpace(a.PostalCode))
	if pc := strings.ReplaceAll(a.PostalCode, " ", ""); a.Country == "NL" && len(pc) == 6 {
		a.PostalCode = pc[:4] + " " + pc[4:]
	}
	return a
}

// Validate checks a normalized address.
func (a Address) Validate() error {
	var v validation
	a.validate(&v)
	return v.err()
}

func (a Address) validate(v *validation) {
	v.text("address.line1", a.Line1, 200)
	v.text("address.city", a.City, 100)
	v.postalCode("address.postal_code", a)
	if !isCountry(a.Country) {
		v.add("address.country", "invalid", "must be a country code of two letters, such as NL")
	}
}

// Line is one article of an order at the price it had when the order was placed.
type Line struct {
	SKU       string
	Name      string
	Quantity  int64
	UnitPrice Money
}

// Total is the line's quantity times its price. NewOrder has checked that it fits.
func (l Line) Total() Money {
	total, _ := l.UnitPrice.Times(l.Quantity)
	return total
}

// Order is what a customer wants and what it costs. Total includes shipping and VAT.
type Order struct {
	ID        string
	Consumer  int64 // who placed it
	Number    string
	Token     string // unguessable; opens the order's page without an account
	Status    OrderStatus
	Email     string
	Name      string
	Address   Address
	Language  string
	Lines     []Line
	Shipping  Money
	Total     Money
	CreatedAt time.Time

	CancelledFor CancelReason // empty while it is not cancelled
}

// Cancelled is the order as it is after its end.
func (o Order) Cancelled(why CancelReason) Order {
	o.Status, o.CancelledFor = OrderCancelled, why
	return o
}

// Limits of one order.
const (
	MaxLines    = 50
	MaxQuantity = 99
)

// ShippingCost is charged once per order (euro cents).
const ShippingCost = 495

// OrderDraft is what a customer asks for, before any rule has looked at it.
type OrderDraft struct {
	Email    string
	Name     string
	Address  Address
	Items    []Item
	Language string
}

// Item asks for a number of one article.
type Item struct {
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
}

// Normalize trims what people type around their answers and writes postcodes and countries the one
// way they are stored, so that "1012ab " and "1012 AB" are one postcode. Items of one article are
// not merged: two lines for one article are refused by Validate.
func (d OrderDraft) Normalize() OrderDraft {
	d.Email = strings.TrimSpace(d.Email)
	d.Name = strings.TrimSpace(d.Name)
	d.Address = d.Address.Normalize()
	if d.Language == "" {
		d.Language = "en"
	}
	return d
}

// Validate checks a normalized draft and names every field that breaks a rule.
func (d OrderDraft) Validate() error {
	var v validation
	v.email("email", d.Email)
	v.text("name", d.Name, 100)
	d.Address.validate(&v)
	if d.Language != "en" && d.Language != "nl" {
		v.add("language", "invalid", `must be "en" or "nl"`)
	}
	d.validateItems(&v)
	return v.err()
}

func (d OrderDraft) validateItems(v *validation) {
	if len(d.Items) == 0 {
		v.add("items", "required", "must hold at least one item")
	}
	if len(d.Items) > MaxLines {
		v.add("items", "too_many", fmt.Sprintf("must hold at most %d items", MaxLines))
		return
	}
	seen := map[string]bool{}
	for i, item := range d.Items {
		field := fmt.Sprintf("items[%d].", i)
		if item.Quantity < 1 || item.Quantity > MaxQuantity {
			v.add(field+"quantity", "out_of_range", fmt.Sprintf("must be a whole number from 1 to %d", MaxQuantity))
		}
		switch {
		case item.SKU == "":
			v.add(field+"sku", "required", "must name an article")
		case seen[item.SKU]:
			v.add(field+"sku", "duplicate", "names an article that another item names too")
		}
		seen[item.SKU] = true
	}
}

// NewOrder prices a valid draft against the catalogue. An article that does not exist is Invalid; the
// order's id, number, token and time are the caller's to give.
func NewOrder(d OrderDraft, catalogue map[string]Product) (Order, error) {
	order := Order{
		Status: OrderAwaitingPayment, Email: d.Email, Name: d.Name, Address: d.Address,
		Language: d.Language, Shipping: EUR(ShippingCost), Total: EUR(ShippingCost),
	}
	var v validation
	for i, item := range d.Items {
		product, ok := catalogue[item.SKU]
		if !ok {
			v.add(fmt.Sprintf("items[%d].sku", i), "unknown", "is not an article of this shop")
			continue
		}
		line := Line{SKU: item.SKU, Name: product.Name, Quantity: item.Quantity, UnitPrice: product.Price}
		amount, ok := product.Price.Times(item.Quantity)
		if ok {
			order.Total, ok = order.Total.Plus(amount)
		}
		if !ok {
			v.add(fmt.Sprintf("items[%d].quantity", i), "out_of_range", "makes a total that is too large")
			continue
		}
		order.Lines = append(order.Lines, line)
	}
	return order, v.err()
}

// SoldOut is the final refusal of an order whose line at this index asks for more than is left.
func (o Order) SoldOut(index int) *Error {
	line := o.Lines[index]
	refusal := Errorf(Refused, "sold_out", "Not enough %s left: %d asked.", line.SKU, line.Quantity)
	refusal.Fields = []FieldError{{fmt.Sprintf("items[%d]", index), "sold_out", refusal.Message}}
	return refusal
}

// validation collects the broken rules of one input.
type validation struct{ fields []FieldError }

func (v *validation) add(field, code, message string) {
	v.fields = append(v.fields, FieldError{field, code, field + " " + message + "."})
}

func (v *validation) err() error {
	if len(v.fields) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Code: "validation_failed", Message: "Some fields break a rule.", Fields: v.fields}
}

// text checks a required line of text of at most max characters.
func (v *validation) text(field, s string, max int) {
	switch {
	case s == "":
		v.add(field, "required", "must not be empty")
	case utf8.RuneCountInString(s) > max:
		v.add(field, "too_long", fmt.Sprintf("must have at most %d characters", max))
	case !isPrintable(s):
		v.add(field, "invalid", "must not hold control characters")
	}
}

// email accepts what has one @ with something sensible around it; only a mail that arrives proves more.
func (v *validation) email(field, s string) {
	local, host, ok := strings.Cut(s, "@")
	switch {
	case s == "":
		v.add(field, "required", "must not be empty")
	case !ok, local == "", len(s) > 254, strings.ContainsAny(s, " \t,;<>\"()"), strings.Contains(host, "@"),
		!strings.Contains(host, "."), strings.HasPrefix(host, "."), strings.HasSuffix(host, "."), !isPrintable(s):
		v.add(field, "invalid", "must be an e-mail address such as name@example.nl")
	}
}

func (v *validation) postalCode(field string, a Address) {
	v.text(field, a.PostalCode, 16)
	if a.Country == "NL" && a.PostalCode != "" && !isDutchPostalCode(a.PostalCode) {
		v.add(field, "invalid", "must be a Dutch postcode such as 1012 AB")
	}
}

func isDutchPostalCode(s string) bool {
	if len(s) != 7 || s[4] != ' ' || s[0] == '0' {
		return false
	}
	for i, c := range []byte(s) {
		digit, letter := c >= '0' && c <= '9', c >= 'A' && c <= 'Z'
		if (i < 4 && !digit) || (i > 4 && !letter) {
			return false
		}
	}
	return true
}

func isCountry(s string) bool {
	return len(s) == 2 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'A' && s[1] <= 'Z'
}

func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
