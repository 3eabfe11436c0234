package simulated

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"example.com/eenmaal/domain"
)

func readAnswer(answer []byte, key string, r domain.ChargeRequest) (domain.Charge, error) {
	var c charge
	if err := json.Unmarshal(answer, &c); err != nil {
		return domain.Charge{}, fmt.Errorf("read the provider's answer: %w", err)
	}
	return c.checked(key, r)
}

func readPage(answer []byte) (page domain.ChargePage, err error) {
	list, err := readCharges(answer)
	if err != nil {
		return domain.ChargePage{}, err
	}
	page.Charges, page.Next = make([]domain.Charge, len(list.Charges)), list.Next
	for i, c := range list.Charges {
		if page.Charges[i], err = c.read(); err != nil {
			return domain.ChargePage{}, err
		}
	}
	return page, nil
}

func readCharges(answer []byte) (list chargeList, err error) {
	if err := json.Unmarshal(answer, &list); err != nil {
		return list, fmt.Errorf("read the provider's list: %w", err)
	}
	if list.Charges == nil {
		return list, errors.New("the provider's answer is not a list of charges")
	}
	return list, nil
}

// readList picks the charge of the key. A key that the provider had forgotten can have several: one
// that holds money outweighs the others, and then the newest counts. Two that hold money are for a
// person to look at.
func readList(answer []byte, key string, r domain.ChargeRequest) (domain.Charge, error) {
	list, err := readCharges(answer)
	if err != nil {
		return domain.Charge{}, err
	}
	if len(list.Charges) == 0 {
		return domain.Charge{}, domain.ErrNoCharge
	}
	found, holding := list.Charges[len(list.Charges)-1], 0
	for _, c := range list.Charges {
		if c.is(domain.ChargeSucceeded) || c.is(domain.ChargeAuthorized) {
			found = c
			holding++
		}
	}
	if holding > 1 {
		return domain.Charge{}, fmt.Errorf("%d charges hold money under one key", holding)
	}
	return found.checked(key, r)
}

// checked turns the provider's charge into ours, provided it is the one that was asked for. Anything
// else is an error of unknown outcome: money may have moved, but not as asked.
func (c charge) checked(key string, r domain.ChargeRequest) (domain.Charge, error) {
	got, err := c.read()
	if err != nil {
		return domain.Charge{}, err
	}
	if got.Key != key || got.Reference != r.Reference || got.Amount != r.Amount {
		return domain.Charge{}, fmt.Errorf("the provider's charge %q is not the one that was asked for", got.ID)
	}
	return got, nil
}

var chargeStatuses = []domain.ChargeStatus{domain.ChargePending, domain.ChargeAuthorized, domain.ChargeSucceeded,
	domain.ChargeDeclined, domain.ChargeCanceled, domain.ChargeVoided}

// read turns the provider's charge into ours, provided it makes sense.
func (c charge) read() (domain.Charge, error) {
	money := func(amount int64) domain.Money { return domain.Money{Amount: amount, Currency: c.Currency} }
	got := domain.Charge{
		ID: c.ID, Reference: c.Reference, Key: c.IdempotencyKey, Amount: money(c.Amount),
		Captured: money(c.Captured), Refunded: money(c.Refunded), Status: domain.ChargeStatus(c.Status),
		RedirectURL: c.RedirectURL, Version: c.Version, CreatedAt: c.CreatedAt,
	}
	switch {
	case c.ID == "" || c.Reference == "" || c.IdempotencyKey == "" || c.Amount <= 0:
		return domain.Charge{}, fmt.Errorf("the provider's charge %q is incomplete", c.ID)
	case !slices.Contains(chargeStatuses, got.Status):
		return domain.Charge{}, fmt.Errorf("the provider's charge %q has the unknown status %q", c.ID, c.Status)
	case c.Captured < 0 || c.Captured > c.Amount || c.Refunded < 0 || c.Refunded > c.Captured,
		(c.Captured > 0) != c.is(domain.ChargeSucceeded):
		return domain.Charge{}, fmt.Errorf("the amounts of the provider's charge %q contradict each other", c.ID)
	default:
		return got, nil
	}
}

func readModification(answer []byte, key string, r domain.ModifyRequest) (domain.Modified, error) {
	var m modification
	if err := json.Unmarshal(answer, &m); err != nil {
		return domain.Modified{}, fmt.Errorf("read the provider's answer: %w", err)
	}
	return m.checked(key, r)
}

// readModifications picks the modification of the key. Several, under a key that the provider had
// forgotten, are for a person to look at.
func readModifications(answer []byte, key string, r domain.ModifyRequest) (domain.Modified, error) {
	var list modificationList
	if err := json.Unmarshal(answer, &list); err != nil {
		return domain.Modified{}, fmt.Errorf("read the provider's list: %w", err)
	}
	switch {
	case list.Modifications == nil:
		return domain.Modified{}, errors.New("the provider's answer is not a list of modifications")
	case len(list.Modifications) == 0:
		return domain.Modified{}, domain.ErrNoCharge
	case len(list.Modifications) > 1:
		return domain.Modified{}, fmt.Errorf("the provider made %d modifications under one key", len(list.Modifications))
	default:
		return list.Modifications[0].checked(key, r)
	}
}

func (m modification) checked(key string, r domain.ModifyRequest) (domain.Modified, error) {
	after, err := m.Charge.read()
	switch {
	case err != nil:
		return domain.Modified{}, err
	case m.ID == "" || m.IdempotencyKey != key || m.Kind != string(r.Kind) || m.ChargeID != r.ChargeID || after.ID != r.ChargeID,
		r.Kind != domain.Void && (m.Amount != r.Amount.Amount || after.Amount.Currency != r.Amount.Currency):
		return domain.Modified{}, fmt.Errorf("the provider's %s %q is not the one that was asked for", m.Kind, m.ID)
	default:
		return domain.Modified{ID: m.ID, Charge: after}, nil
	}
}
