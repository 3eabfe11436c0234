package domain

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what a caller may do about an error. It decides the HTTP status and whether the error
// is remembered as the answer of a key.
type Kind string

const (
	// Malformed: the request cannot be understood. Nothing was recorded; correct it and send it again.
	Malformed Kind = "malformed"
	// Invalid: understood, but a field breaks a rule. Nothing was recorded; the same key may be used
	// for the corrected request.
	Invalid Kind = "invalid"
	// NotFound: there is no such thing, or it belongs to somebody else.
	NotFound Kind = "not_found"
	// Refused: a final business "no" (sold out, already paid). It is stored as the key's answer.
	Refused Kind = "refused"
	// Declined: the customer's bank said no. Final and stored, as Refused is.
	Declined Kind = "declined"
	// Conflict: the key itself is the problem (used for another request).
	Conflict Kind = "conflict"
	// Busy: the first request with this key still runs; ask again with the same key.
	Busy Kind = "busy"
	// Expired: the key was used too long ago to be answered or to be run.
	Expired Kind = "expired"
	// Unavailable: our side failed and nothing final was recorded; retry with the same key.
	Unavailable Kind = "unavailable"
	// Unknown: an outside effect may or may not have happened; retry with the same key to find out.
	Unknown Kind = "unknown"
	// TooLarge: the request exceeds a limit that the message names.
	TooLarge Kind = "too_large"
	// Unauthenticated: no valid credentials.
	Unauthenticated Kind = "unauthenticated"
	// Forbidden: the caller is known and may not do this. Nothing was recorded, and nothing that was is
	// shown.
	Forbidden Kind = "forbidden"
	// RateLimited: too many requests. Nothing was recorded; send it again with the same key, later.
	RateLimited Kind = "rate_limited"
)

// Final reports whether an error of this kind is the true and lasting outcome of a request, to be
// stored and replayed. Everything else leaves room for another try with the same key.
func (k Kind) Final() bool { return k == Refused || k == Declined }

// FieldError names one input field that breaks a rule. Field is the JSON path ("address.city").
// Code is stable and neutral; pages translate it, Message is English for API callers.
type FieldError struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error is an error with a kind, a stable code for machines and a sentence for people. The sentence
// never holds personal data or secrets: it may be logged and stored.
type Error struct {
	Kind    Kind
	Code    string
	Message string
	Fields  []FieldError
	// Resource is the path of what an earlier request with this key made ("/v1/orders/..."), when
	// the caller may see it.
	Resource string
	// Operation is the path where the state of the request's key is shown.
	Operation string
	// RetryAfter is how long to wait before the next try, where that is known.
	RetryAfter time.Duration
	// Body, when set, is what the API shows beside the problem fields of a final refusal, such as the
	// declined payment itself.
	Body any
	err  error
}

func (e *Error) Error() string {
	if e.err != nil {
		return e.Message + ": " + e.err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.err }

// Errorf makes an Error. A %w verb keeps its cause for logs; the cause's text is not shown to callers.
func Errorf(kind Kind, code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	if cause := errors.Unwrap(wrapped); cause != nil {
		return &Error{Kind: kind, Code: code, Message: Sentence(code), err: wrapped}
	}
	return &Error{Kind: kind, Code: code, Message: wrapped.Error()}
}

// Sentence turns a code into a plain sentence for errors whose real text is not for outsiders.
func Sentence(code string) string {
	switch code {
	case "retry_same_key":
		return "Something failed on our side. Send the request again with the same key."
	case "outcome_unknown":
		return "It is not known yet whether the outside call took effect. Send the request again with the same key to find out."
	case "store_unavailable":
		return "The database cannot be reached. Nothing was recorded by this request. Send it again with the same key."
	default:
		return "The request failed (" + code + ")."
	}
}

// KindOf gives the kind of err, Unavailable for errors that carry none: an unforeseen failure is
// never final.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unavailable
}
