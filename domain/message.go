package domain

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Message is one contact message. Reference is what the sender may quote ("C-58").
type Message struct {
	ID        string
	Reference string
	Name      string
	Email     string
	Text      string
	CreatedAt time.Time

	AnsweredAt time.Time // zero until somebody of the staff says that it is answered
	AnsweredBy string
}

// States of a message, as Listing.State names them.
const (
	MessageOpen     = "open"
	MessageAnswered = "answered"
)

// MaxMessage is the longest contact message, in characters.
const MaxMessage = 5000

// Normalize trims the fields and writes line ends one way, since browsers send CRLF and APIs LF.
func (m Message) Normalize() Message {
	m.Name, m.Email = strings.TrimSpace(m.Name), strings.TrimSpace(m.Email)
	m.Text = strings.TrimSpace(strings.ReplaceAll(m.Text, "\r\n", "\n"))
	return m
}

// Validate checks a normalized message. The name is optional.
func (m Message) Validate() error {
	var v validation
	if m.Name != "" {
		v.text("name", m.Name, 100)
	}
	v.email("email", m.Email)
	switch n := utf8.RuneCountInString(m.Text); {
	case n == 0:
		v.add("message", "required", "must not be empty")
	case n > MaxMessage:
		v.add("message", "too_long", fmt.Sprintf("must have at most %d characters", MaxMessage))
	case !utf8.ValidString(m.Text) || strings.ContainsFunc(m.Text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t'
	}):
		v.add("message", "invalid", "must not hold control characters")
	}
	return v.err()
}

// Mail is one mail as it is stored and sent. Kind and Subject of it (one mail of one kind for one
// thing) make it unique.
type Mail struct {
	ID        string
	MessageID string // the Message-ID header, the same on every try to send
	Kind      string // "order_paid"
	About     string // the id of what the mail is about
	To        string
	Subject   string
	Text      string
	Language  string // of subject and text; read back, and never written
	CreatedAt time.Time
	SentAt    time.Time // zero until a server accepted it, or for ever when no server is configured
	DeadAt    time.Time // when it was given up; zero when it was not, or when it was asked for anew
}

// MailState is how far a mail has come.
type MailState string

const (
	MailWaiting MailState = "waiting" // to be sent, or sent again
	MailSent    MailState = "sent"    // a server accepted it
	MailGivenUp MailState = "dead"    // no server did in all tries; only asking for it sends it again
)

// State is how far the mail has come.
func (m Mail) State() MailState {
	switch {
	case !m.SentAt.IsZero():
		return MailSent
	case !m.DeadAt.IsZero():
		return MailGivenUp
	default:
		return MailWaiting
	}
}

// Mailer sends one mail. It may be called again for the same mail; the Message-ID stays the same, so
// a receiver can tell.
type Mailer interface {
	Send(ctx context.Context, m Mail) error
}
