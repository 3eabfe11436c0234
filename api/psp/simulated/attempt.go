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
	status, answer, err := c.send(ctx, http.MethodPost, c.charges, key, body)
	switch {
	case errors.Is(err, errNotSent):
		return domain.Charge{}, &retryable{fmt.Errorf("%w: %w", domain.ErrNotCharged, err)}
	case err != nil:
		return domain.Charge{}, &retryable{err}
	case status == http.StatusCreated || status == http.StatusPaymentRequired:
		return readAnswer(answer, key, r)
	default:
		return domain.Charge{}, readFailure(status, answer)
	}
}

func (c *Client) tryFind(ctx context.Context, key string, r domain.ChargeRequest) (domain.Charge, error) {
	query := url.Values{"idempotency_key": {key}}
	status, answer, err := c.send(ctx, http.MethodGet, c.charges+"?"+query.Encode(), "", nil)
	switch {
	case err != nil:
		return domain.Charge{}, &retryable{err}
	case status == http.StatusOK:
		return readList(answer, key, r)
	case status >= 500:
		return domain.Charge{}, &retryable{fmt.Errorf("the provider answered %d", status)}
	default:
		return domain.Charge{}, fmt.Errorf("the provider answered %d", status)
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

func readAnswer(answer []byte, key string, r domain.ChargeRequest) (domain.Charge, error) {
	var c charge
	if err := json.Unmarshal(answer, &c); err != nil {
		return domain.Charge{}, fmt.Errorf("read the provider's answer: %w", err)
	}
	return c.checked(key, r)
}

// readFailure tells a certain refusal from a failure that says nothing about the charge.
func readFailure(status int, answer []byte) error {
	var f failure
	_ = json.Unmarshal(answer, &f) // what is not ours has no code, and proves nothing
	switch {
	case status == http.StatusUnprocessableEntity && f.Code == codeUnsupportedToken:
		return fmt.Errorf("%w: %w", domain.ErrNotCharged, domain.Errorf(domain.Refused,
			"payment_method_not_supported", "The payment provider does not support this payment method."))
	case status == http.StatusServiceUnavailable && f.Charged != nil && !*f.Charged:
		return fmt.Errorf("%w: the provider is unavailable", domain.ErrNotCharged)
	case status >= 500:
		return &retryable{fmt.Errorf("the provider answered %d %s", status, f.Code)}
	default:
		return fmt.Errorf("the provider answered %d %s", status, f.Code)
	}
}

// readList picks the charge of the key. A key that the provider had forgotten can have several; one
// that succeeded outweighs those that were declined. Two that succeeded are for a person to look at.
func readList(answer []byte, key string, r domain.ChargeRequest) (domain.Charge, error) {
	var list chargeList
	if err := json.Unmarshal(answer, &list); err != nil {
		return domain.Charge{}, fmt.Errorf("read the provider's list: %w", err)
	}
	if list.Charges == nil {
		return domain.Charge{}, errors.New("the provider's answer is not a list of charges")
	}
	if len(list.Charges) == 0 {
		return domain.Charge{}, domain.ErrNoCharge
	}
	found, succeeded := list.Charges[0], 0
	for _, c := range list.Charges {
		if c.Status == string(domain.ChargeSucceeded) {
			found = c
			succeeded++
		}
	}
	if succeeded > 1 {
		return domain.Charge{}, fmt.Errorf("%d charges succeeded under one key", succeeded)
	}
	return found.checked(key, r)
}

// checked turns the provider's charge into ours, provided it is the one that was asked for. Anything
// else is an error of unknown outcome: money may have moved, but not as asked.
func (c charge) checked(key string, r domain.ChargeRequest) (domain.Charge, error) {
	got := domain.Charge{
		ID: c.ID, Reference: c.Reference, Key: c.IdempotencyKey,
		Amount: domain.Money{Amount: c.Amount, Currency: c.Currency}, Captured: domain.Money{Amount: c.Captured, Currency: c.Currency}, Refunded: domain.Money{Currency: c.Currency},
		Status: domain.ChargeStatus(c.Status), CreatedAt: c.CreatedAt,
	}
	switch {
	case got.ID == "" || got.Key != key || got.Reference != r.Reference || got.Amount != r.Amount:
		return domain.Charge{}, fmt.Errorf("the provider's charge %q is not the one that was asked for", got.ID)
	case got.Status != domain.ChargeSucceeded && got.Status != domain.ChargeDeclined:
		return domain.Charge{}, fmt.Errorf("the provider's charge %q has the unknown status %q", got.ID, got.Status)
	default:
		return got, nil
	}
}
