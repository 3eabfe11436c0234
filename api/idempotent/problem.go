package idempotent

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"example.com/eenmaal/domain"
)

const problemType = "application/problem+json"

// Problem is an error as the API shows it (RFC 9457), with what a client needs to decide by itself:
// whether to send the same request again, and whether a new key could do harm.
type Problem struct {
	Type       string              `json:"type"`
	Title      string              `json:"title"`
	Status     int                 `json:"status"`
	Detail     string              `json:"detail"`
	Code       string              `json:"code"`
	Retryable  bool                `json:"retryable"`
	SafeNewKey bool                `json:"safe_new_key"` // true only when nothing can have happened
	Resource   string              `json:"resource,omitzero"`
	Operation  string              `json:"operation,omitzero"` // where the state of the key is shown
	Errors     []domain.FieldError `json:"errors,omitempty"`
}

// ProblemOf gives the problem document of an error. An error that is not the domain's says nothing
// of itself.
func ProblemOf(err error) Problem {
	known, ok := errors.AsType[*domain.Error](err)
	if !ok {
		known = domain.Errorf(domain.Unavailable, "retry_same_key", "%s", domain.Sentence("retry_same_key"))
	}
	status := statusOf(known.Kind)
	if known.Code == "unsupported_media_type" {
		status = http.StatusUnsupportedMediaType
	}
	return Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: known.Message, Code: known.Code,
		Retryable: retryable(known.Kind), SafeNewKey: safeNewKey(known.Kind),
		Resource: known.Resource, Operation: known.Operation, Errors: known.Fields,
	}
}

func statusOf(k domain.Kind) int {
	switch k {
	case domain.Malformed:
		return http.StatusBadRequest
	case domain.Unauthenticated:
		return http.StatusUnauthorized
	case domain.Declined:
		return http.StatusPaymentRequired
	case domain.Forbidden:
		return http.StatusForbidden
	case domain.NotFound:
		return http.StatusNotFound
	case domain.Conflict, domain.Busy:
		return http.StatusConflict
	case domain.Expired:
		return http.StatusGone
	case domain.TooLarge:
		return http.StatusRequestEntityTooLarge
	case domain.Invalid, domain.Refused:
		return http.StatusUnprocessableEntity
	case domain.RateLimited:
		return http.StatusTooManyRequests
	case domain.Unavailable, domain.Unknown:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

func retryable(k domain.Kind) bool {
	switch k {
	case domain.Busy, domain.Unavailable, domain.Unknown, domain.RateLimited:
		return true
	default:
		return false
	}
}

// safeNewKey is about the key, not about this request: one that was turned away at the door, for its
// credentials, its rights or its number, may be the retry of one that had its effect.
func safeNewKey(k domain.Kind) bool {
	switch k {
	case domain.Malformed, domain.Invalid, domain.NotFound, domain.TooLarge, domain.Refused, domain.Declined:
		return true
	default:
		return false
	}
}

// WriteProblem answers with an error. Only what may pass carries Retry-After: a client that finds it
// on a 409 knows that waiting helps, and without it that nothing will.
func WriteProblem(c *gin.Context, err error) {
	problem := ProblemOf(err)
	body, marshalErr := json.Marshal(problem, json.Deterministic(true))
	if marshalErr != nil {
		_ = c.Error(marshalErr) // a document of strings and numbers; kept for the log all the same
	}
	header := c.Writer.Header()
	header.Set("Cache-Control", "no-store")
	if problem.Retryable {
		header.Set("Retry-After", strconv.Itoa(RetryAfter(err)))
	}
	if problem.Status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", "Bearer")
	}
	c.Data(problem.Status, problemType, append(body, '\n'))
	c.Abort()
}

// RetryAfter gives the seconds to wait before the next try: whole seconds, rounded up: who comes back too early is refused again.
func RetryAfter(err error) int {
	known, ok := errors.AsType[*domain.Error](err)
	if !ok || known.RetryAfter <= time.Second {
		return 1
	}
	return int((known.RetryAfter + time.Second - 1) / time.Second)
}
