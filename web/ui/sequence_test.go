package ui

import (
	"testing"

	"example.com/eenmaal/domain"
)

// TestALineSaysNoMoreThanHappened: an order has one line, which tells of its request as well; a bank that
// answered may have said no.
func TestALineSaysNoMoreThanHappened(t *testing.T) {
	t.Parallel()
	order, payment := domain.Scope{Endpoint: 1}, domain.Scope{Endpoint: 4}
	lines := Sequence([]domain.KeyEvent{
		{Scope: order, Kind: domain.KeyFinished, Detail: "201"},
		{Scope: payment, Kind: domain.KeyClaimed, Step: "reserve"},
		{Scope: payment, Kind: domain.KeyCalled, Step: "charge", Detail: "ok"},
		{Scope: payment, Kind: domain.KeyFinished, Detail: "402"},
	})
	for i, want := range []struct {
		text Text
		code string
	}{{TEvOnce, "201"}, {TEvClaimed, "reserve"}, {TEvCalled, "charge"}, {TEvFinished, "402"}} {
		if got := lines[i]; got.Text != want.text || got.Code != want.code {
			t.Errorf("line %d: got %q %s, want %q %s", i, got.Text.In(English), got.Code, want.text.In(English), want.code)
		}
	}
}
