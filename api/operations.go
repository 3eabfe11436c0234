package api

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
)

// Operation is what the API tells of one key of the caller's.
type Operation struct {
	ID          string                 `json:"id"`
	Endpoint    string                 `json:"endpoint"`
	Key         string                 `json:"key,omitzero"`
	State       idempotent.RecordState `json:"state"`
	Status      int                    `json:"status,omitzero"`
	Resource    string                 `json:"resource,omitzero"`
	Attempts    int64                  `json:"attempts"`
	FirstSeen   time.Time              `json:"first_seen"`
	CompletedAt *time.Time             `json:"completed_at,omitempty"`
	ExpiresAt   *time.Time             `json:"expires_at,omitempty"`
}

// findOperation answers "what happened to my key?".
func (a *API) findOperation(c *gin.Context) {
	record, err := a.operationOf(c)
	a.showOperation(c, record, err)
}

// getOperation answers the same for the link in a problem.
func (a *API) getOperation(c *gin.Context) {
	record, err := a.registry.OperationByID(c.Request.Context(), caller(c), c.Param("id"))
	a.showOperation(c, record, err)
}

func (a *API) showOperation(c *gin.Context, r idempotent.Record, err error) {
	if err != nil {
		a.fail(c, err)
		return
	}
	live(c, Operation{ID: r.ID, Endpoint: documented(r.Endpoint), Key: r.Key, State: r.State, Status: r.Status, Resource: r.Resource,
		Attempts: r.Attempts, FirstSeen: r.FirstSeen, CompletedAt: known(r.Completed), ExpiresAt: known(r.Expires)})
}

// operationOf reads the record that the query names by its endpoint and key.
func (a *API) operationOf(c *gin.Context) (idempotent.Record, error) {
	var wrong []domain.FieldError
	one := func(name string, check func(string) error) {
		err := errors.New(name + " must be given once")
		if values := c.QueryArray(name); len(values) == 1 && values[0] != "" {
			err = check(values[0])
		}
		if err != nil {
			wrong = append(wrong, domain.FieldError{Field: name, Code: "malformed", Message: err.Error()})
		}
	}
	var endpoint string
	one("endpoint", func(s string) error {
		endpoint = s
		if _, path, _ := strings.Cut(s, " "); !strings.HasPrefix(path, "/") {
			return errors.New("endpoint must be a method and a path, such as POST /v1/orders")
		}
		return nil
	})
	var key domain.Key
	one("key", func(s string) (err error) {
		key, err = domain.ParseKey(s)
		return err
	})
	if len(wrong) > 0 {
		return idempotent.Record{}, &domain.Error{Kind: domain.Malformed, Code: "parameter_malformed",
			Message: "The query needs one endpoint and one key.", Fields: wrong}
	}
	operation, ok := a.registry.Find(endpoint)
	if !ok {
		return idempotent.Record{}, domain.Errorf(domain.NotFound, "endpoint_not_found", "No endpoint that takes keys has this method and path.")
	}
	return a.registry.Operation(c.Request.Context(), caller(c), operation, key)
}

var parameter = regexp.MustCompile(`:(\w+)`)

// documented writes a route pattern as the documentation does.
func documented(pattern string) string { return parameter.ReplaceAllString(pattern, "{$1}") }

// known gives nil for a time that has not come.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
