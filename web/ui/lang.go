package ui

import "fmt"

// Lang is a language of the pages. Its value is the code used in HTML, cookies and mails.
type Lang string

const (
	English Lang = "en"
	Dutch   Lang = "nl"
)

// Other is the language that the language link offers.
func (l Lang) Other() Lang {
	if l == Dutch {
		return English
	}
	return Dutch
}

// Prefix is what the addresses of a language begin with: nothing for English, "/nl" for Dutch.
func (l Lang) Prefix() string {
	if l == Dutch {
		return "/nl"
	}
	return ""
}

// Text is one sentence in both languages. It is always written without field names, so that a
// sentence with one language does not compile.
type Text struct{ En, Nl string }

// In gives the sentence in one language, with its placeholders filled.
func (t Text) In(l Lang, args ...any) string {
	s := t.En
	if l == Dutch {
		s = t.Nl
	}
	if len(args) == 0 {
		return s
	}
	return fmt.Sprintf(s, args...)
}
