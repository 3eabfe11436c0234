package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"

	"example.com/eenmaal/domain"
)

// reply is the outcome of one try and what to do about it.
type reply struct {
	verdict
	status int
	header http.Header
	body   []byte
	err    error // no answer arrived whole
}

// try sends the call once and waits for its answer.
func (c *Client) try(ctx context.Context, out *outgoing) reply {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	// The hook is called for every time that the request is written: net/http repeats one with an
	// Idempotency-Key by itself when a kept connection breaks.
	var written atomic.Int64
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { written.Add(1) }})
	var r reply
	r.status, r.header, r.body, r.err = c.send(ctx, out)
	out.tries++
	out.attempts += max(int(written.Load()), 1)
	r.verdict = decide(r.status, r.header, r.err)
	if r.action == refuse && out.doubt && !r.settles() {
		r.action = stop
	}
	out.doubt = out.doubt || r.action == again && out.key != ""
	return r
}

// settles reports whether a refusal is the API's word on the key, so that it holds for the earlier
// tries as well. 401, 403 and 400 come before the key is looked at; what has no code came from a
// stranger on the way.
func (r reply) settles() bool {
	switch r.status {
	case http.StatusPaymentRequired, http.StatusConflict, http.StatusGone, http.StatusUnprocessableEntity:
		return r.problem().Code != ""
	default:
		return false
	}
}

// maxAnswer is far above every answer of the API.
const maxAnswer = 4 << 20

func (c *Client) send(ctx context.Context, out *outgoing) (int, http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, out.method, c.base+out.path, bytes.NewReader(out.body))
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.secret)
	req.Header.Set("Accept", "application/json")
	if out.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if out.key != "" {
		req.Header.Set("Idempotency-Key", string(out.key))
	}
	if out.tries > 0 {
		req.Header.Set("Retry-Attempt", strconv.Itoa(out.tries))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err == nil && resp.StatusCode < 300 && len(body) > 0 && !json.Valid(body) {
		err = errors.New("the answer is not JSON") // half of it, or a stranger's on the way
	}
	return resp.StatusCode, resp.Header, body, err
}

// problem is an error as the API tells it (RFC 9457). A declined payment has the same fields.
type problem struct {
	Code       string              `json:"code"`
	Detail     string              `json:"detail"`
	SafeNewKey bool                `json:"safe_new_key"`
	Resource   string              `json:"resource"`
	Errors     []domain.FieldError `json:"errors"`
}

// problem is empty when a stranger on the way answered.
func (r reply) problem() (p problem) {
	if r.err != nil || json.Unmarshal(r.body, &p) != nil {
		return problem{}
	}
	return p
}

// failure says why this is no answer.
func (r reply) failure() error {
	if r.err != nil {
		return r.err
	}
	return fmt.Errorf("status %d %s", r.status, r.problem().Code)
}
