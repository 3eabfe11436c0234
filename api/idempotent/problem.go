package idempotent

import (
	"errors"
	"net/http"
	"strconv"

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
		Retryable:  known.Kind == domain.Busy || known.Kind == domain.Unavailable || known.Kind == domain.Unknown,
		SafeNewKey: safeNewKey(known.Kind), Resource: known.Resource, Errors: known.Fields,
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
	case domain.Unavailable, domain.Unknown:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

func safeNewKey(k domain.Kind) bool {
	switch k {
	case domain.Malformed, domain.Invalid, domain.NotFound, domain.Unauthenticated, domain.TooLarge, domain.Refused, domain.Declined:
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
		header.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	if problem.Status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", "Bearer")
	}
	c.Data(problem.Status, problemType, append(body, '\n'))
	c.Abort()
}

// retryAfter is in seconds.
const retryAfter = 1
