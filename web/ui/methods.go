package ui

import "example.com/eenmaal/domain"

// Method is one way to pay that the customer can choose.
type Method struct {
	Choice string // what a form says to choose it
	domain.PaymentMethod
	Name Text
	Hint Text
}

func card(token string, name, hint Text) Method {
	return Method{token, domain.PaymentMethod{Type: "card", Token: token}, name, hint}
}

var methods = []Method{
	card("tok_ok", Text{"Test card that works ··4242", "Testkaart die werkt ··4242"}, Text{"Pays at once.", "Betaalt meteen."}),
	card("tok_3ds", Text{"Card that you confirm at the bank ··3220", "Kaart die je bij de bank bevestigt ··3220"},
		Text{"Takes you to a pretend bank and back.", "Brengt je naar een nepbank en terug."}),
	{"ideal", domain.PaymentMethod{Type: "ideal"}, Text{"iDEAL", "iDEAL"},
		Text{"Pay by way of a pretend bank.", "Betaal via een nepbank."}},
}

// troubles are cards that make trouble.
var troubles = []Method{
	card("tok_declined", Text{"Card that is declined ··0002", "Kaart die wordt geweigerd ··0002"},
		Text{"The bank says no.", "De bank zegt nee."}),
	card("tok_slow", Text{"Slow card ··0008", "Trage kaart ··0008"},
		Text{"The bank answers after 8 seconds.", "De bank antwoordt na 8 seconden."}),
	card("tok_charged_then_timeout", Text{"Charged, then silence ··0044", "Afgeschreven, dan stilte ··0044"},
		Text{"The bank charges and its answer never arrives.", "De bank schrijft af en het antwoord komt nooit aan."}),
	card("tok_charged_then_500", Text{"Charged, then an error ··0050", "Afgeschreven, dan een fout ··0050"},
		Text{"The bank charges and answers with an error.", "De bank schrijft af en antwoordt met een fout."}),
	card("tok_unavailable", Text{"Bank out of reach ··0053", "Bank onbereikbaar ··0053"},
		Text{"The first try fails before anything happens.", "De eerste poging mislukt voordat er iets gebeurt."}),
}

// Methods gives the ways to pay. The cards that make trouble exist in the demo alone.
func Methods(demo bool) []Method {
	if demo {
		return append(methods[:len(methods):len(methods)], troubles...)
	}
	return methods
}

// Chosen gives the way to pay that a form's choice stands for. ok is false when the customer may not
// choose it.
func Chosen(demo bool, choice string) (m domain.PaymentMethod, ok bool) {
	for _, known := range Methods(demo) {
		if known.Choice == choice {
			return known.PaymentMethod, true
		}
	}
	return domain.PaymentMethod{}, false
}

// Offers reports whether the customer may pay in this way.
func Offers(demo bool, m domain.PaymentMethod) bool {
	_, ok := find(Methods(demo), m)
	return ok
}

// ChoiceOf is how a form says this way to pay, or "" for one that nobody can choose.
func ChoiceOf(m domain.PaymentMethod) string {
	known, _ := find(Methods(true), m)
	return known.Choice
}

// MethodName is how a chosen method is called on the pages.
func MethodName(l Lang, m domain.PaymentMethod) string {
	if known, ok := find(Methods(true), m); ok {
		return known.Name.In(l)
	}
	return TMethodOther.In(l)
}

// MethodKind is what a payment says of how it was made. Which card it was, no payment remembers.
func MethodKind(l Lang, m domain.PaymentMethod) string {
	switch m.Type {
	case "card":
		return TCard.In(l)
	case "ideal":
		return "iDEAL"
	default:
		return TMethodOther.In(l)
	}
}

func find(all []Method, m domain.PaymentMethod) (Method, bool) {
	for _, known := range all {
		if known.PaymentMethod == m {
			return known, true
		}
	}
	return Method{}, false
}

// Country is one choice of the country field.
type Country struct {
	Code string
	Name Text
}

// Countries that the shop delivers to, the preset one first.
var Countries = []Country{
	{"NL", Text{"Netherlands", "Nederland"}},
	{"BE", Text{"Belgium", "België"}},
	{"DE", Text{"Germany", "Duitsland"}},
	{"LU", Text{"Luxembourg", "Luxemburg"}},
	{"FR", Text{"France", "Frankrijk"}},
}

// CountryName gives the name of a country code, or the code itself.
func CountryName(l Lang, code string) string {
	for _, c := range Countries {
		if c.Code == code {
			return c.Name.In(l)
		}
	}
	return code
}
