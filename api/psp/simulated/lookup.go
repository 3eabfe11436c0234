package simulated

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"example.com/eenmaal/domain"
)

// Find looks up the charge that was made with key for r, as it is now. domain.ErrNoCharge means that
// the provider has none and is not working on one; a request that is still travelling to it is beyond
// its knowledge, so asking for the charge again with the same key is always right.
func (c *Client) Find(ctx context.Context, key string, r domain.ChargeRequest) (domain.Charge, error) {
	return repeat(ctx, c, "find the charge of", r.Reference, func() (domain.Charge, error) {
		answer, err := c.get(ctx, chargesPath+"?"+url.Values{"idempotency_key": {key}}.Encode())
		if err != nil {
			return domain.Charge{}, err
		}
		return readList(answer, key, r)
	})
}

// Get reads a charge by its id. domain.ErrNoCharge means that the provider has none.
func (c *Client) Get(ctx context.Context, id string) (domain.Charge, error) {
	return repeat(ctx, c, "read the charge", id, func() (domain.Charge, error) {
		answer, err := c.get(ctx, chargesPath+"/"+url.PathEscape(id))
		if err != nil {
			return domain.Charge{}, err
		}
		var got charge
		if err := json.Unmarshal(answer, &got); err != nil {
			return domain.Charge{}, fmt.Errorf("read the provider's answer: %w", err)
		}
		if got.ID != id {
			return domain.Charge{}, fmt.Errorf("the provider's charge %q is not the one that was asked for", got.ID)
		}
		return got.read()
	})
}

// List reads a page of the provider's books. Every charge in it must make sense.
func (c *Client) List(ctx context.Context, from, to time.Time, cursor string) (domain.ChargePage, error) {
	query := url.Values{"from": {from.UTC().Format(time.RFC3339Nano)}, "to": {to.UTC().Format(time.RFC3339Nano)}, "limit": {strconv.Itoa(maxPage)}}
	if cursor != "" {
		query.Set("after", cursor)
	}
	return repeat(ctx, c, "list charges from", query.Get("from"), func() (domain.ChargePage, error) {
		answer, err := c.get(ctx, chargesPath+"?"+query.Encode())
		if err != nil {
			return domain.ChargePage{}, err
		}
		return readPage(answer)
	})
}

// FindModification looks a modification up by its key, as Find does for charges.
func (c *Client) FindModification(ctx context.Context, key string, r domain.ModifyRequest) (domain.Modified, error) {
	return repeat(ctx, c, "find the "+string(r.Kind)+" of", r.ChargeID, func() (domain.Modified, error) {
		return c.tryFindModification(ctx, key, r)
	})
}

func (c *Client) tryFindModification(ctx context.Context, key string, r domain.ModifyRequest) (domain.Modified, error) {
	answer, err := c.get(ctx, modificationsPath+"?"+url.Values{"idempotency_key": {key}}.Encode())
	if err != nil {
		return domain.Modified{}, err
	}
	return readModifications(answer, key, r)
}

// get is one try to read.
func (c *Client) get(ctx context.Context, path string) (answer []byte, err error) {
	status, answer, err := c.send(ctx, http.MethodGet, c.base+path, "", nil)
	var f failure
	switch {
	case err != nil:
		return nil, &retryable{err}
	case status == http.StatusOK:
		return answer, nil
	case status == http.StatusNotFound && json.Unmarshal(answer, &f) == nil && f.Code == codeNoCharge:
		return nil, domain.ErrNoCharge
	case status >= 500:
		return nil, &retryable{fmt.Errorf("the provider answered %d", status)}
	default:
		return nil, fmt.Errorf("the provider answered %d", status)
	}
}

// repeat makes tries until one succeeds or another would not help. what and about are for the error.
func repeat[T any](ctx context.Context, c *Client, what, about string, try func() (T, error)) (T, error) {
	for n := 1; ; n++ {
		got, err := try()
		if err == nil {
			return got, nil
		}
		if !c.again(ctx, what, about, n, err) {
			return got, fmt.Errorf("%s %s: %w", what, about, err)
		}
	}
}
