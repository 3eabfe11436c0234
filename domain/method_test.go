package domain

import "testing"

// TestACardNumberIsNoToken covers S31: it would be stored and sent on.
func TestACardNumberIsNoToken(t *testing.T) {
	t.Parallel()
	for token, ok := range map[string]bool{
		"tok_ok": true, "tok_1": true, "a": true, "4111111111111111": false, "4111_1111_1111_1111": false, "4111 1111": false,
		"4111-1111": false, "": false, "_": false, "123": false, "tok ok": false, "tok\nok": false,
	} {
		draft := PaymentDraft{OrderID: "0198d6f0-0000-7000-8000-000000000001", Method: PaymentMethod{Type: "card", Token: token}}
		if err := draft.Validate(); (err == nil) != ok {
			t.Errorf("token %q: %v", token, err)
		}
	}
}
