package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"example.com/eenmaal/domain"
)

// Refused is a lasting no of the API, to all tries of this call: when an earlier one may have been
// carried out, a refusal that comes before the key is looked at (401, say) ends in Unknown instead.
type Refused struct {
	Endpoint   string // method and path
	Key        Key
	Status     int
	Code       string // stable, for machines; empty when something on the way answered
	Detail     string // for people
	Fields     []domain.FieldError
	SafeNewKey bool   // nothing can have happened, by this call or by an earlier one with its key
	Resource   string // the path of what the key made earlier
	Body       []byte // the whole answer: with a declined payment, the payment
}

func (e *Refused) Error() string {
	return fmt.Sprintf("%s refused: %d %s: %s", e.Endpoint, e.Status, e.Code, e.Detail)
}

// Unknown says that the call may have taken effect. A call with another key could do it twice; one
// with this key and the same body never does.
type Unknown struct {
	Endpoint  string // method and path
	Key       Key
	State     OperationState // what the API knows of the key; empty when it could not be asked
	Operation Operation      // the same in full, unless State is empty or NotFound
	Attempts  int
	Err       error // why the last try gave no answer
}

func (e *Unknown) Error() string {
	return fmt.Sprintf("%s: outcome unknown after %d attempts (operation %s): %v", e.Endpoint, e.Attempts, cmp.Or(e.State, "not known"), e.Err)
}

func (e *Unknown) Unwrap() error { return e.Err }

// findOut asks the API what became of a key that no try got an answer for. When that is settled, one
// more try fetches the answer.
func (c *Client) findOut(ctx context.Context, out *outgoing, last reply) (reply, Operation) {
	op := c.lookUp(ctx, out)
	if op.State == Completed || op.State == Expired {
		if r := c.try(ctx, out); r.action == accept || r.action == refuse {
			return r, op
		}
	}
	return last, op
}

func (c *Client) lookUp(ctx context.Context, out *outgoing) (op Operation) {
	r := c.try(ctx, &outgoing{method: http.MethodGet, path: operationPath(out.endpoint(), out.key)})
	switch {
	case r.action == accept && json.Unmarshal(r.body, &op) == nil:
		return op
	case r.status == http.StatusNotFound && r.problem().Code == "operation_not_found":
		return Operation{State: NotFound}
	default:
		return Operation{}
	}
}

func operationPath(endpoint string, key Key) string {
	return "/v1/operations?" + url.Values{"endpoint": {endpoint}, "key": {string(key)}}.Encode()
}

// refused tells the caller, and the dead letters when no correction by a user could help.
func (c *Client) refused(ctx context.Context, out *outgoing, last reply) error {
	p := last.problem()
	refused := &Refused{Endpoint: out.endpoint(), Key: out.key, Status: last.status, Code: p.Code,
		Detail: cmp.Or(p.Detail, http.StatusText(last.status)), Fields: p.Errors, SafeNewKey: p.SafeNewKey && (!out.given || last.settles()), Resource: p.Resource, Body: last.body}
	if out.key == "" || isAnswer(last.status) {
		return refused
	}
	return c.bury(ctx, out, DeadLetter{Reason: ReasonRefused, Status: last.status, Code: p.Code}, refused)
}

// isAnswer tells the refusals that are meant for who asked (declined, no such order, sold out, a field
// that breaks a rule) from those that only a programmer or an operator can do something about.
func isAnswer(status int) bool {
	switch status {
	case http.StatusPaymentRequired, http.StatusNotFound, http.StatusUnprocessableEntity:
		return true
	default:
		return false
	}
}

// unknown ends a call that got no answer to go by. A caller who gave up is told so.
func (c *Client) unknown(ctx context.Context, out *outgoing, last reply, op Operation) error {
	why := last.failure()
	if gaveUp := context.Cause(ctx); gaveUp != nil {
		why = gaveUp
	}
	if out.key == "" {
		return fmt.Errorf("%s: no answer after %d attempts: %w", out.endpoint(), out.attempts, why)
	}
	unknown := &Unknown{Endpoint: out.endpoint(), Key: out.key, State: op.State, Operation: op, Attempts: out.attempts, Err: why}
	return c.bury(ctx, out, DeadLetter{Reason: ReasonUnknown, Status: last.status, Code: last.problem().Code}, unknown)
}
