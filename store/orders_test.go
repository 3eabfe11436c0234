package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

func TestOrdersAreReadByTheirIDs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := storetest.Seeded(t, d, nil)
		place := func(number string, age time.Duration, skus ...string) string {
			o := domain.Order{ID: uuid.Must(uuid.NewV7()).String(), Number: number, Token: "token", Status: domain.OrderAwaitingPayment,
				Email: "sanne@example.nl", Name: "Sanne", Language: "nl", CreatedAt: db.Now().Add(-age), Shipping: domain.EUR(domain.ShippingCost),
				Address: domain.Address{Line1: "Damrak 1", PostalCode: "1012 AB", City: "Amsterdam", Country: "NL"}}
			products, err := db.Products(t.Context())
			must(t, err)
			o.Total = o.Shipping
			for _, sku := range skus {
				for _, p := range products {
					if p.SKU == sku {
						o.Lines = append(o.Lines, domain.Line{SKU: sku, Name: p.Name, Quantity: 1, UnitPrice: p.Price})
						o.Total.Amount += p.Price.Amount
					}
				}
			}
			tx := db.Begin()
			tx.InsertOrder(o, scope(t))
			must(t, tx.Commit(t.Context()))
			return o.ID
		}
		old := place("EM-OLD", time.Hour, "mug", "vase")
		young := place("EM-YOUNG", 0, "plate")
		place("EM-OTHER", time.Minute, "bowl")
		got, err := db.OrdersByID(t.Context(), []string{old, young, uuid.Must(uuid.NewV7()).String()})
		must(t, err)
		if len(got) != 2 || got[0].Number != "EM-YOUNG" || got[1].Number != "EM-OLD" {
			t.Fatalf("got %+v, want the young order and then the old one", got)
		}
		if a, b := got[0].Lines, got[1].Lines; len(a) != 1 || a[0].SKU != "plate" || len(b) != 2 || b[0].SKU != "mug" || b[1].SKU != "vase" {
			t.Errorf("the lines are %v and %v", a, b)
		}
		if none, err := db.OrdersByID(t.Context(), nil); err != nil || len(none) != 0 {
			t.Errorf("no ids give %v, %v", none, err)
		}
	})
}
