package psptest

import (
	"testing"
	"time"

	"example.com/eenmaal/domain"
)

// listsItsBooks leaves a minute for a provider whose clock differs.
func listsItsBooks(t *testing.T, c *customer) {
	from := time.Now().Add(-time.Minute)
	made := c.pay(t, c.key, c.Cards.Good)
	if got := c.listed(t, from, time.Now().Add(time.Minute)); len(got) != 1 || got[0] != made {
		t.Errorf("got %+v, want %+v", got, made)
	}
	if got := c.listed(t, from.Add(-time.Hour), from); len(got) != 0 {
		t.Errorf("before the charge: got %+v", got)
	}
	after := c.modify(t, c.key+"-r", domain.Refund, made, 1000).Charge
	if got := c.listed(t, from, time.Now().Add(time.Minute)); len(got) != 1 || got[0] != after {
		t.Errorf("after a refund: got %+v, want %+v", got, after)
	}
}

// listed reads all pages of a period and gives the charges with the customer's reference.
func (c *customer) listed(t *testing.T, from, to time.Time) (found []domain.Charge) {
	t.Helper()
	for cursor, pages := "", 1; ; pages++ {
		page, err := c.provider.List(t.Context(), from, to, cursor)
		if err != nil || pages > 1000 {
			t.Fatalf("page %d: %v", pages, err)
		}
		for _, charge := range page.Charges {
			if charge.Reference == c.reference {
				found = append(found, charge)
			}
		}
		if cursor = page.Next; cursor == "" {
			return found
		}
	}
}
