package api_test

import (
	"strings"
	"testing"

	"example.com/eenmaal/store/storetest"
)

// The mail lists everything that its total is made of, in the order's language.
func TestTheConfirmationAddsUp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		for language, want := range map[string][]string{
			"en": {"is paid", "2 x Early Mug  EUR 37.00", "Delivery  EUR 4.95", "Total including VAT  EUR 41.95", "http://127.0.0.1/orders/EM-"},
			"nl": {"is betaald", "2 x Mok Vroeg  EUR 37,00", "Bezorging  EUR 4,95", "Totaal inclusief btw  EUR 41,95", "http://127.0.0.1/nl/orders/EM-"},
		} {
			placed := s.order(newKey(), strings.Replace(mugOrder, "{", `{"language":"`+language+`",`, 1))
			if paid := s.pay(newKey(), placed.field(t, "id"), "tok_ok"); paid.Status != 201 {
				t.Fatalf("pay: %d %s", paid.Status, paid.Body)
			}
			mails, err := s.db.MailsAbout(t.Context(), placed.field(t, "id"))
			must(t, err)
			if len(mails) != 1 {
				t.Fatalf("%s: %d mails", language, len(mails))
			}
			for _, part := range want {
				if !strings.Contains(mails[0].Text, part) {
					t.Errorf("%s: %q is not in\n%s", language, part, mails[0].Text)
				}
			}
		}
	})
}
