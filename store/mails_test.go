package store_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// TestAMailIsReadWithItsLanguage: that of the order, whether the mail is about it, about a payment of it or
// about a refund.
func TestAMailIsReadWithItsLanguage(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := storetest.Seeded(t, d, nil)
		order := anOrder(t, db)
		_, err := db.SQL().ExecContext(t.Context(), "UPDATE orders SET language = 'nl'")
		must(t, err)
		pay := domain.Payment{ID: uuid.NewString(), OrderID: order.ID, Status: domain.PaymentPaid, Amount: order.Total,
			Captured: order.Total, Refunded: domain.EUR(0), Method: domain.PaymentMethod{Type: "card"}, CreatedAt: db.Now()}
		refund := domain.Modification{ID: uuid.NewString(), PaymentID: pay.ID, Kind: domain.Refund, Status: domain.ModificationPending,
			Amount: domain.EUR(5), ProviderKey: "p", CreatedAt: db.Now()}
		tx, scope := db.Begin(), scope(t)
		tx.InsertPayment(pay, scope, nil)
		tx.InsertModification(refund, pay, &scope)
		must(t, tx.Commit(t.Context()))
		for about, want := range map[string]string{order.ID: "nl", pay.ID: "nl", refund.ID: "nl", uuid.NewString(): ""} {
			id := uuid.NewString()
			tx := db.Begin()
			tx.InsertMail(domain.Mail{ID: id, MessageID: id + "@shop", Kind: "order_paid", About: about, To: "a@example.nl", CreatedAt: db.Now()})
			must(t, tx.Commit(t.Context()))
			mail, err := db.Mail(t.Context(), id)
			must(t, err)
			list, err := db.MailsAbout(t.Context(), about)
			must(t, err)
			part, err := db.ListMails(t.Context(), domain.Listing{Limit: 9})
			must(t, err)
			listed := slices.ContainsFunc(part.Items, func(m domain.Mail) bool { return m.ID == id && m.Language == want })
			if mail.Language != want || len(list) != 1 || list[0].Language != want || !listed {
				t.Errorf("about %s: %q and %+v, want %q", about, mail.Language, list, want)
			}
		}
	})
}
