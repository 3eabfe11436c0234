package idempotent

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/eenmaal/domain"
)

// decode reads one JSON object strictly: unknown fields, two fields of one name, other letter case,
// null, a wrong type, invalid UTF-8 and text after the object are refused. So a command has one
// meaning, and the fingerprint and the handler read the same one.
func decode(body []byte, into any) error {
	if err := refuseNull(body); err != nil {
		return err
	}
	err := json.Unmarshal(body, into, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	field := ""
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		field = fieldName(semantic.JSONPointer)
	} else if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		field = fieldName(syntactic.JSONPointer)
	}
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return malformed("unknown_field", field, "is not a field of this request")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return malformed("duplicate_field", field, "appears twice")
	case field != "":
		return malformed("wrong_type", field, "has the wrong type or is malformed")
	default:
		return domain.Errorf(domain.Malformed, "body_malformed", "The body must be one JSON object in valid UTF-8, with nothing after it.")
	}
}

func malformed(code, field, what string) error {
	err := domain.Errorf(domain.Malformed, code, "%s %s.", field, what)
	err.Fields = []domain.FieldError{{Field: field, Code: code, Message: err.Message}}
	return err
}

// refuseNull finds a null anywhere. No field of this API may be null, and decoding would take it for
// an absent one.
func refuseNull(body []byte) error {
	if !bytes.Contains(body, []byte("null")) {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) || err != nil {
			return nil //nolint:nilerr // decode names what is wrong with the text
		}
		if token.Kind() == 'n' {
			return malformed("wrong_type", fieldName(d.StackPointer()), "must not be null")
		}
	}
}

// fieldName writes a JSON pointer the way the rules name fields: items[0].sku.
func fieldName(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + clip(token, 64) + "]")
		case b.Len() > 0:
			b.WriteString("." + clip(token, 64))
		default:
			b.WriteString(clip(token, 64))
		}
	}
	return clip(b.String(), 256)
}

// clip keeps a client's own field name from filling the answer, and whole characters of it.
func clip(s string, most int) string {
	for len(s) > most {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
