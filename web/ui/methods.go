package ui

import "example.com/eenmaal/domain"

// Method is one way to pay that the customer can choose.
type Method struct {
	Token string
	Name  Text
	Hint  Text
}

// methods: the first works; the others make trouble and exist in the demo alone.
var methods = []Method{
	{"tok_ok", Text{"Test card that works ··4242", "Testkaart die werkt ··4242"}, Text{"Pays at once.", "Betaalt meteen."}},
	{"tok_declined", Text{"Card that is declined ··0002", "Kaart die wordt geweigerd ··0002"},
		Text{"The bank says no.", "De bank zegt nee."}},
	{"tok_slow", Text{"Slow card ··0008", "Trage kaart ··0008"},
		Text{"The bank answers after 8 seconds.", "De bank antwoordt na 8 seconden."}},
	{"tok_charged_then_timeout", Text{"Charged, then silence ··0044", "Afgeschreven, dan stilte ··0044"},
		Text{"The bank charges and its answer never arrives.", "De bank schrijft af en het antwoord komt nooit aan."}},
	{"tok_charged_then_500", Text{"Charged, then an error ··0050", "Afgeschreven, dan een fout ··0050"},
		Text{"The bank charges and answers with an error.", "De bank schrijft af en antwoordt met een fout."}},
	{"tok_unavailable", Text{"Bank out of reach ··0053", "Bank onbereikbaar ··0053"},
		Text{"The first try fails before anything happens.", "De eerste poging mislukt voordat er iets gebeurt."}},
}

// Methods gives the ways to pay. The cards that make trouble exist in the demo alone.
func Methods(demo bool) []Method {
	if demo {
		return methods
	}
	return methods[:1]
}

// MethodName is how a chosen method is called on the pages.
func MethodName(l Lang, m domain.PaymentMethod) string {
	for _, known := range methods {
		if m.Type == "card" && m.Token == known.Token {
			return known.Name.In(l)
		}
	}
	return TMethodOther.In(l)
}

// Offers reports whether the customer may choose this method.
func Offers(demo bool, token string) bool {
	for _, m := range Methods(demo) {
		if m.Token == token {
			return true
		}
	}
	return false
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
