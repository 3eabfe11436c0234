package api

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/eenmaal/domain"
)

// Amount is an amount as a client sends it: {"amount": 500, "currency": "EUR"}, or the bare number of
// euro cents. Both mean the same and have the same fingerprint. The zero Amount is none.
type Amount domain.Money

// UnmarshalJSONFrom reads either form.
func (a *Amount) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '0' {
		*a = Amount(domain.EUR(0))
		return json.UnmarshalDecode(d, &a.Amount)
	}
	if err := json.UnmarshalDecode(d, (*domain.Money)(a)); err != nil {
		return err
	}
	if *a == (Amount{}) {
		a.Currency = "none" // it was given, so it is not the same as no amount
	}
	return nil
}

// validate checks an amount against the payment's currency.
func (a Amount) validate(currency string) error {
	wrong := func(code, message string) error {
		return &domain.Error{Kind: domain.Invalid, Code: "validation_failed", Message: "Some fields break a rule.",
			Fields: []domain.FieldError{{Field: "amount", Code: code, Message: "amount " + message + "."}}}
	}
	switch {
	case a == Amount{}:
		return nil
	case a.Currency != currency:
		return wrong("invalid", "must be in "+currency)
	case a.Amount <= 0:
		return wrong("out_of_range", "must be more than 0")
	default:
		return nil
	}
}
