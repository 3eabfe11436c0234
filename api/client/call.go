package client

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"

	"example.com/eenmaal/domain"
)

// Key names one thing that should happen once. Two different calls never share one; every retry of
// one call, also by a program that was started again, uses the same.
type Key string

// NewKey makes a UUIDv7. Who must be able to go on after a crash makes the key, saves it together with
// what it is for, and only then calls, WithKey.
func NewKey() Key { return Key(uuid.Must(uuid.NewV7()).String()) }

// LogValue is the part of the key that may be logged.
func (k Key) LogValue() slog.Value { return slog.StringValue(string(k[:min(13, len(k))])) }

// Call is one request of the API.
type Call struct {
	Method string
	Path   string // with its query, from /v1 on
	Body   any    // encoded as JSON once, so that every retry sends the same bytes; nil for none
	Key    Key    // made by Do when empty; a GET has none
}

// Option changes a typed call.
type Option func(*Call)

// WithKey uses a key that the caller made, and perhaps saved, before the call.
func WithKey(k Key) Option { return func(c *Call) { c.Key = k } }

// Result is what came of a call. With a refusal or a doubt only Key and Attempts are set.
type Result[T any] struct {
	Value    T
	Status   int
	Header   http.Header
	Key      Key
	Replayed bool // it had been done before, by an earlier try or by an earlier run of the program
	Attempts int  // how often it was tried, counting what net/http sent again by itself
}

// Do carries one call out, with retries, and always ends within the budget or at the deadline of ctx,
// whichever comes first. How it ended is in the error:
//
//   - nil: the API has done it. Result.Value is its answer.
//   - *Refused: the API has said no. Sending it again is of no use.
//   - *Unknown: it may have happened. Keep the key; a later call with it finds out or does it.
//   - any other: this call sent nothing, or it was a GET, which changes nothing.
func (c *Client) Do(ctx context.Context, call Call) (Result[json.RawMessage], error) {
	out, err := c.prepare(call)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Result[json.RawMessage]{Key: call.Key}, err
	}
	budget, cancel := context.WithTimeout(ctx, c.budget)
	defer cancel()
	last := c.persist(budget, out)
	var op Operation
	if last.action != accept && last.action != refuse && out.key != "" {
		last, op = c.findOut(budget, out, last)
	}
	switch last.action {
	case accept:
		return out.result(last), nil
	case refuse:
		err = c.refused(ctx, out, last)
	default:
		err = c.unknown(ctx, out, last, op)
	}
	return Result[json.RawMessage]{Key: out.key, Attempts: out.attempts}, err
}

// persist tries until there is an answer to go by. It leaves the end of the budget for finding out
// what became of the key.
func (c *Client) persist(ctx context.Context, out *outgoing) reply {
	deadline, _ := ctx.Deadline()
	reserve := min(2*c.patience, time.Until(deadline)/4)
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(-reserve))
	defer cancel()
	for pauses := fullJitter(); ; {
		last := c.try(ctx, out)
		if last.action != again || !sleep(ctx, last.after+pauses.NextBackOff()) {
			return last
		}
		c.log.WarnContext(ctx, "trying again", "endpoint", out.endpoint(), "key", out.key, "try", out.tries+1, "because", last.failure())
	}
}

const (
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
)

// fullJitter draws each pause evenly from 0 to min(longestPause, firstPause * 2^n), so that clients
// which failed together do not come back together. The library draws around an interval: all of it to
// either side, around half of what we want, is exactly that.
func fullJitter() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: firstPause / 2, MaxInterval: longestPause / 2, Multiplier: 2, RandomizationFactor: 1}
}

// sleep reports whether there is time for another try. A pause that does not fit is not begun: the
// time is of better use to find out what happened.
func sleep(ctx context.Context, pause time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && pause >= time.Until(deadline) {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// outgoing is a call made ready: whatever happens later, its key and its bytes stay.
type outgoing struct {
	method, path string
	key          Key
	body         []byte
	given        bool // the caller brought the key: it may have been used before
	doubt        bool // a try had no clear answer
	tries        int  // by this package
	attempts     int  // net/http's own repeats included
}

// prepare finds every mistake that would keep the call from being sent.
func (c *Client) prepare(call Call) (*outgoing, error) {
	out := &outgoing{method: call.Method, path: call.Path, key: call.Key, given: call.Key != ""}
	if _, err := url.Parse(c.base + call.Path); err != nil || !strings.HasPrefix(call.Path, "/") {
		return nil, fmt.Errorf("client: %q is not a path", call.Path)
	}
	if call.Body != nil {
		var err error
		if out.body, err = json.Marshal(call.Body); err != nil {
			return nil, fmt.Errorf("client: encode %s: %w", out.endpoint(), err)
		}
	}
	switch call.Method {
	case http.MethodGet:
		out.key = ""
		return out, nil
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return nil, fmt.Errorf("client: %q is not a method of the API", call.Method)
	}
	if out.key == "" {
		out.key = NewKey()
	}
	if _, err := domain.ParseKey(string(out.key)); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return out, nil
}

// endpoint is the call as the API's operations are asked for it.
func (o *outgoing) endpoint() string { return o.method + " " + o.path }

func (o *outgoing) result(r reply) Result[json.RawMessage] {
	return Result[json.RawMessage]{Value: r.body, Status: r.status, Header: r.header, Key: o.key,
		Replayed: r.header.Get("Idempotent-Replayed") == "true", Attempts: o.attempts}
}
