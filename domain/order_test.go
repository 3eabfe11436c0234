package domain

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func draft() OrderDraft {
	return OrderDraft{Email: "sanne@example.nl", Name: "Sanne de Vries", Language: "nl",
		Address: Address{Line1: "Damrak 1", PostalCode: "1012 AB", City: "Amsterdam", Country: "NL"},
		Items:   []Item{{"mug", 2}}}
}

// broken gives the fields of a validation error as "field code".
func broken(err error) (list []string) {
	if e, ok := errors.AsType[*Error](err); ok {
		for _, f := range e.Fields {
			list = append(list, f.Field+" "+f.Code)
		}
	}
	return list
}

func TestADraftIsWrittenOneWay(t *testing.T) {
	t.Parallel()
	for _, postcode := range []string{"1012ab", " 1012 AB ", "1012 ab", "1012AB"} {
		d := draft()
		d.Email, d.Name, d.Address.PostalCode, d.Address.Country, d.Address.City, d.Address.Line1 =
			" sanne@example.nl\t", "  Sanne de Vries ", postcode, " nl ", " Amsterdam", "Damrak 1 "
		if got := d.Normalize(); fmt.Sprint(got) != fmt.Sprint(draft()) || got.Validate() != nil {
			t.Errorf("%q: %+v, %v", postcode, got, got.Validate())
		}
	}
	d := draft()
	d.Language = ""
	if d.Normalize().Language != "en" {
		t.Error("the API's language is not English")
	}
}

// TestEveryBrokenRuleNamesItsField covers S10, S12, S39 and S44.
func TestEveryBrokenRuleNamesItsField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want   string
		change func(*OrderDraft)
	}{
		{"email required", func(d *OrderDraft) { d.Email = "" }},
		{"email invalid", func(d *OrderDraft) { d.Email = "sanne" }},
		{"email invalid", func(d *OrderDraft) { d.Email = "@example.nl" }},
		{"email invalid", func(d *OrderDraft) { d.Email = "sanne@nl" }},
		{"email invalid", func(d *OrderDraft) { d.Email = "sanne@example.nl." }},
		{"email invalid", func(d *OrderDraft) { d.Email = "sanne@.example.nl" }},
		{"email invalid", func(d *OrderDraft) { d.Email = "a@b@example.nl" }},
		{"email invalid", func(d *OrderDraft) { d.Email = "sanne@example.nl\r\nBcc: all@example.nl" }},
		{"email invalid", func(d *OrderDraft) { d.Email = "sanne\x00@example.nl" }},
		{"email invalid", func(d *OrderDraft) { d.Email = strings.Repeat("s", 250) + "@example.nl" }},
		{"name required", func(d *OrderDraft) { d.Name = "" }},
		{"name too_long", func(d *OrderDraft) { d.Name = strings.Repeat("é", 101) }},
		{"name invalid", func(d *OrderDraft) { d.Name = "San\x00ne" }},
		{"name invalid", func(d *OrderDraft) { d.Name = "San\nne" }},
		{"name invalid", func(d *OrderDraft) { d.Name = "San\xffne" }},
		{"address.line1 required", func(d *OrderDraft) { d.Address.Line1 = "" }},
		{"address.city too_long", func(d *OrderDraft) { d.Address.City = strings.Repeat("x", 101) }},
		{"address.postal_code required", func(d *OrderDraft) { d.Address.PostalCode = "" }},
		{"address.postal_code invalid", func(d *OrderDraft) { d.Address.PostalCode = "0012 AB" }},
		{"address.postal_code invalid", func(d *OrderDraft) { d.Address.PostalCode = "1012 A1" }},
		{"address.country invalid", func(d *OrderDraft) { d.Address.Country = "NLD" }},
		{"language invalid", func(d *OrderDraft) { d.Language = "fr" }},
		{"items required", func(d *OrderDraft) { d.Items = nil }},
		{"items too_many", func(d *OrderDraft) { d.Items = make([]Item, MaxLines+1) }},
		{"items[0].quantity out_of_range", func(d *OrderDraft) { d.Items[0].Quantity = 0 }},
		{"items[0].quantity out_of_range", func(d *OrderDraft) { d.Items[0].Quantity = -1 }},
		{"items[0].quantity out_of_range", func(d *OrderDraft) { d.Items[0].Quantity = MaxQuantity + 1 }},
		{"items[0].quantity out_of_range", func(d *OrderDraft) { d.Items[0].Quantity = math.MinInt64 }},
		{"items[0].sku required", func(d *OrderDraft) { d.Items[0].SKU = "" }},
		{"items[1].sku duplicate", func(d *OrderDraft) { d.Items = append(d.Items, Item{"mug", 1}) }},
	} {
		d := draft()
		c.change(&d)
		if got := broken(d.Validate()); !slices.Equal(got, []string{c.want}) {
			t.Errorf("got %v, want %s", got, c.want)
		}
	}
	abroad := draft()
	abroad.Address = Address{Line1: "Rue 1", PostalCode: "B-1000", City: "Brussel", Country: "BE"}
	if err := abroad.Validate(); err != nil {
		t.Errorf("a foreign address: %v", err)
	}
}

func TestAnOrderIsPricedByTheShop(t *testing.T) {
	t.Parallel()
	catalogue := map[string]Product{"mug": {SKU: "mug", Name: "Mug", Price: EUR(1850)}, "vase": {SKU: "vase", Name: "Vase", Price: EUR(4100)},
		"yacht": {SKU: "yacht", Name: "Yacht", Price: EUR(math.MaxInt64/50 - 20)}}
	d := draft()
	d.Items = []Item{{"mug", 3}, {"vase", 1}}
	order, err := NewOrder(d, catalogue)
	if err != nil || order.Total != EUR(3*1850+4100+ShippingCost) || len(order.Lines) != 2 || order.Lines[0].Total() != EUR(5550) ||
		order.Status != OrderAwaitingPayment {
		t.Errorf("order %+v, %v", order, err)
	}
	for want, items := range map[string][]Item{
		"items[1].sku unknown":           {{"mug", 1}, {"plane", 1}},
		"items[0].quantity out_of_range": {{"yacht", 99}},
		"items[1].quantity out_of_range": {{"yacht", 50}, {"mug", 99}},
	} {
		d.Items = items
		if _, err := NewOrder(d, catalogue); !slices.Equal(broken(err), []string{want}) {
			t.Errorf("got %v, want %s", broken(err), want)
		}
	}
}

func TestAMessageIsWrittenOneWayAndChecked(t *testing.T) {
	t.Parallel()
	m := Message{Name: " Sanne ", Email: " sanne@example.nl", Text: "\r\nOne\r\n\ttwo\r\n"}.Normalize()
	if m != (Message{Name: "Sanne", Email: "sanne@example.nl", Text: "One\n\ttwo"}) || m.Validate() != nil {
		t.Errorf("%+v, %v", m, m.Validate())
	}
	for want, change := range map[string]func(*Message){
		"":                 func(m *Message) { m.Name = "" },
		"name invalid":     func(m *Message) { m.Name = "a\nb" },
		"email required":   func(m *Message) { m.Email = "" },
		"message required": func(m *Message) { m.Text = "" },
		"message too_long": func(m *Message) { m.Text = strings.Repeat("é", MaxMessage+1) },
		"message invalid":  func(m *Message) { m.Text = "a\x00b" },
	} {
		changed := m
		change(&changed)
		if got := strings.Join(broken(changed.Validate()), ","); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAnErrorShowsNoCauseToOutsiders: what a %w verb wraps is for logs.
func TestAnErrorShowsNoCauseToOutsiders(t *testing.T) {
	t.Parallel()
	cause := errors.New("password=secret")
	err := Errorf(Unknown, "outcome_unknown", "charge: %w", cause)
	if strings.Contains(err.Message, "secret") || !strings.Contains(err.Error(), "secret") || !errors.Is(err, cause) {
		t.Errorf("message %q, error %q", err.Message, err)
	}
	if KindOf(cause) != Unavailable || KindOf(fmt.Errorf("more: %w", err)) != Unknown {
		t.Error("KindOf is wrong")
	}
	for kind, final := range map[Kind]bool{Refused: true, Declined: true, Invalid: false, Busy: false, Unknown: false, Unavailable: false, Conflict: false} {
		if kind.Final() != final {
			t.Errorf("%s: final is %v", kind, kind.Final())
		}
	}
}
