package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"example.com/eenmaal/domain"
)

// Modify captures, voids or refunds, on every try with the same key.
//
// A refusal may be the echo of our own success: the provider has forgotten the key, and nothing is
// left because the first request took it. So the key is looked up before a refusal is believed.
func (c *Client) Modify(ctx context.Context, key string, r domain.ModifyRequest) (domain.Modified, error) {
	return repeat(ctx, c, string(r.Kind), r.ChargeID, func() (domain.Modified, error) {
		made, err := c.tryModify(ctx, key, r)
		if domain.KindOf(err) != domain.Refused {
			return made, err
		}
		found, lookup := c.tryFindModification(ctx, key, r)
		if errors.Is(lookup, domain.ErrNoCharge) {
			return domain.Modified{}, err
		}
		return found, lookup
	})
}

func (c *Client) tryModify(ctx context.Context, key string, r domain.ModifyRequest) (domain.Modified, error) {
	var wire modifyRequest
	if r.Kind != domain.Void {
		wire.Amount = r.Amount.Amount
	}
	body, err := json.Marshal(wire)
	if err != nil {
		return domain.Modified{}, err
	}
	status, answer, err := c.send(ctx, http.MethodPost, c.base+chargesPath+"/"+url.PathEscape(r.ChargeID)+"/"+string(r.Kind)+"s", key, body)
	switch {
	case err != nil:
		return domain.Modified{}, &retryable{err}
	case status == http.StatusCreated:
		return readModification(answer, key, r)
	default:
		return domain.Modified{}, readModifyFailure(status, answer, r.Kind)
	}
}

// readModifyFailure gives the refusals that the provider keeps as the key's answer their own kind.
func readModifyFailure(status int, answer []byte, kind domain.ModificationKind) error {
	var f failure
	_ = json.Unmarshal(answer, &f) // what is not ours has no code, and proves nothing
	switch {
	case status == http.StatusUnprocessableEntity && f.Code == codeExceedsRest:
		return domain.Errorf(domain.Refused, string(kind)+"_exceeds_rest", "The payment provider has less than that left to %s.", kind)
	case status == http.StatusUnprocessableEntity && f.Code == codeRefused:
		return domain.Errorf(domain.Refused, string(kind)+"_refused", "The payment provider refused to %s.", kind)
	case status >= 500 && !f.certain():
		return &retryable{fmt.Errorf("the provider answered %d %s", status, f.Code)}
	default:
		return fmt.Errorf("the provider answered %d %s", status, f.Code)
	}
}
