package idempotent

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/eenmaal/domain"
)

// Record is what is known of one key: the answer to "what happened to my request?".
type Record struct {
	ID        string
	Endpoint  string // pattern, as it was registered
	Key       string // as its client sent it; empty when only its id is known
	State     RecordState
	Status    int    // of the answer; 0 while there is none
	Resource  string // path of what was made
	Attempts  int64
	Request   string    // id of the request that claimed the key, or finished it
	FirstSeen time.Time // times are zero while they are not known
	Completed time.Time
	Expires   time.Time // until when the answer is replayed
	Steps     []string  // finished steps of a run that has not ended
}

// RecordState says what the next request with the key meets.
type RecordState string

const (
	Completed  RecordState = "completed"   // the answer, again
	InProgress RecordState = "in_progress" // the first request, still running
	Retryable  RecordState = "retryable"   // a run that stopped half-way: it goes on
	Expired    RecordState = "expired"     // a refusal: its time is over
)

// Operation tells what is known of a consumer's key on an endpoint. A key that is nowhere recorded
// is NotFound: nothing has happened under it, unless its first request is running at this moment.
// One that is too old to know is Expired.
func (r *Registry) Operation(ctx context.Context, consumer domain.Consumer, endpoint Described, key domain.Key) (Record, error) {
	scope := domain.Scope{Key: key, Consumer: consumer.ID, Endpoint: endpoint.number}
	claim, found, err := r.claim(ctx, scope)
	if err != nil {
		return Record{}, err
	}
	now := r.cfg.DB.Now()
	if !found {
		if refused := domain.CheckUnknownKey(key, now, endpoint.TTL); domain.KindOf(refused) == domain.Expired {
			return Record{}, refused
		}
		return Record{}, errNoOperation()
	}
	if key.IsZero() { // it came by its id
		text, err := r.cfg.DB.KeyText(ctx, scope)
		if err != nil {
			return Record{}, err
		}
		scope.Key = domain.KeyOfID(key.ID(), text)
	}
	return recordOf(endpoint, scope, claim, now)
}

// OperationByID is Operation for the id that problems link to and Record carries.
func (r *Registry) OperationByID(ctx context.Context, consumer domain.Consumer, id string) (Record, error) {
	number, key, ok := parseOperationID(id)
	if !ok {
		return Record{}, errNoOperation()
	}
	for _, o := range r.operations {
		if o.number == number {
			return r.Operation(ctx, consumer, o, key)
		}
	}
	return Record{}, errNoOperation()
}

func errNoOperation() error {
	return domain.Errorf(domain.NotFound, "operation_not_found", "Nothing is recorded for this key.")
}

func recordOf(endpoint Described, s domain.Scope, c domain.Claim, now time.Time) (Record, error) {
	rec := Record{ID: operationID(s), Endpoint: endpoint.Pattern, Key: s.Key.String(), State: stateOf(c, now, endpoint.TTL),
		Resource: resourceOf(c), Attempts: c.Attempt, Request: c.Request, FirstSeen: c.FirstSeen}
	if !c.Answer.At.IsZero() {
		rec.Status, rec.Completed, rec.Expires = c.Answer.Status, c.Answer.At, c.Answer.At.Add(endpoint.TTL)
	}
	if len(c.Steps) > 0 {
		var steps map[string]json.RawMessage
		if err := json.Unmarshal(c.Steps, &steps); err != nil {
			return rec, fmt.Errorf("read finished steps: %w", err)
		}
		rec.Steps = slices.Sorted(maps.Keys(steps))
	}
	return rec, nil
}

// stateOf is what the rule book says to the same request, sent once more.
func stateOf(c domain.Claim, now time.Time, ttl time.Duration) RecordState {
	switch domain.Decide(c, c.Fingerprint, now, ttl) {
	case domain.Replay:
		return Completed
	case domain.Wait:
		return InProgress
	case domain.Gone:
		return Expired
	default:
		return Retryable
	}
}

// Find gives the operation that a name means: its pattern as registered (POST /things/:id), as
// documented (POST /things/{id}), or the method and path of a request (POST /things/7).
func (r *Registry) Find(name string) (Described, bool) {
	best, literal := Described{}, -1
	for _, o := range r.operations {
		if n := likeness(o.Pattern, name); n > literal {
			best, literal = o, n
		}
	}
	return best, literal >= 0
}

// likeness counts the parts in which a name is the pattern's, and is -1 when it is another path's.
func likeness(pattern, name string) (literal int) {
	want, got := strings.Split(pattern, "/"), strings.Split(name, "/")
	if len(want) != len(got) {
		return -1
	}
	for i, part := range want {
		switch {
		case part == got[i]:
			literal++
		case strings.HasPrefix(part, ":") && got[i] != "":
		default:
			return -1
		}
	}
	return literal
}

// An operation id is the key's scope without the consumer, who is known by his credentials: it is
// worth nothing to anybody else, and nothing has to be kept to resolve it.
const operationPrefix = "op_"

func operationID(s domain.Scope) string {
	id := s.Key.ID()
	return operationPrefix + base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint16(nil, uint16(s.Endpoint)), id[:]...)) //nolint:gosec // the same 16 bits
}

func parseOperationID(text string) (endpoint int16, key domain.Key, ok bool) {
	text, ok = strings.CutPrefix(text, operationPrefix)
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(b) != 18 || len(text) != 24 { // the decoder would skip line breaks
		return 0, domain.Key{}, false
	}
	return int16(binary.BigEndian.Uint16(b)), domain.KeyOfID([16]byte(b[2:]), ""), true //nolint:gosec // the same 16 bits
}

// operationPath is the link to an operation.
func (r *Registry) operationPath(s domain.Scope) string { return r.cfg.OperationPath + operationID(s) }

// linked gives an error the link to its key's operation. It is copied: an error value may be shared.
func (r *Registry) linked(s domain.Scope, err error) error {
	known, ok := errors.AsType[*domain.Error](err)
	if !ok || known.Operation != "" {
		return err
	}
	with := *known
	with.Operation = r.operationPath(s)
	return &with
}
