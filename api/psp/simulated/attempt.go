package simulated

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"

	"example.com/eenmaal/domain"
)

// maxAnswer is more than the provider ever says about one key.
const maxAnswer = 1 << 20

// retryable marks the failure of a try that another try may repair.
type retryable struct{ err error }

func (e *retryable) Error() string { return e.err.Error() }
func (e *retryable) Unwrap() error { return e.err }

// tryCharge is one try. Its error wraps domain.ErrNotCharged only if this try certainly did nothing.
func (c *Client) tryCharge(ctx context.Context, key string, r domain.ChargeRequest, body []byte) (domain.Charge, error) {
	status, answer, err := c.send(ctx, http.MethodPost, c.base+chargesPath, key, body)
	switch {
	case errors.Is(err, errNotSent):
		return domain.Charge{}, &retryable{fmt.Errorf("%w: %w", domain.ErrNotCharged, err)}
	case err != nil:
		return domain.Charge{}, &retryable{err}
	case status == http.StatusCreated || status == http.StatusAccepted || status == http.StatusPaymentRequired:
		return readAnswer(answer, key, r)
	default:
		return domain.Charge{}, readFailure(status, answer)
	}
}

// errNotSent: no connection was made, so nothing can have been sent.
var errNotSent = errors.New("the provider could not be reached")

// send does one exchange within the client's timeout for one try.
//
// A dial error alone does not prove that nothing was sent. When a kept connection breaks, net/http
// sends a request with an Idempotency-Key again by itself on a new connection, and reports the
// second failure. So errNotSent also needs that no connection was ever got.
func (c *Client) send(ctx context.Context, method, address, key string, body []byte) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(keyHeader, key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		err = withoutURL(err)
		if !connected.Load() && isDialError(err) {
			return 0, nil, fmt.Errorf("%w: %w", errNotSent, err)
		}
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end, or abandoned
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	return res.StatusCode, answer, err
}

func isDialError(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// withoutURL drops the address from an error of net/http, since a key may be in it.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// readFailure tells a certain refusal from a failure that says nothing about the charge.
func readFailure(status int, answer []byte) error {
	var f failure
	_ = json.Unmarshal(answer, &f) // what is not ours has no code, and proves nothing
	switch {
	case status == http.StatusUnprocessableEntity && f.Code == codeUnsupportedToken:
		return fmt.Errorf("%w: %w", domain.ErrNotCharged, domain.Errorf(domain.Refused,
			"payment_method_not_supported", "The payment provider does not support this payment method."))
	case status == http.StatusUnprocessableEntity && f.certain():
		return fmt.Errorf("%w: the provider answered %d %s", domain.ErrNotCharged, status, f.Code)
	case status == http.StatusServiceUnavailable && f.certain():
		return fmt.Errorf("%w: the provider is unavailable", domain.ErrNotCharged)
	case status >= 500:
		return &retryable{fmt.Errorf("the provider answered %d %s", status, f.Code)}
	default:
		return fmt.Errorf("the provider answered %d %s", status, f.Code)
	}
}

// certain reports whether the provider is sure that nothing was done.
func (f failure) certain() bool { return f.Charged != nil && !*f.Charged }
