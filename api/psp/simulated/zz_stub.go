package simulated

import (
	"context"

	"example.com/eenmaal/domain"
)

func (c *Client) Get(context.Context, string) (domain.Charge, error) {
	return domain.Charge{}, domain.ErrNoCharge
}
func (c *Client) Modify(context.Context, string, domain.ModifyRequest) (domain.Modified, error) {
	return domain.Modified{}, domain.ErrNoCharge
}
func (c *Client) FindModification(context.Context, string, domain.ModifyRequest) (domain.Modified, error) {
	return domain.Modified{}, domain.ErrNoCharge
}
