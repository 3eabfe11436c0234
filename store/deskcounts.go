package store

import (
	"context"
	"fmt"

	"example.com/eenmaal/domain"
)

// DeskCounts counts what waits for a person. Each count reads an index of just that, and no more of it
// than domain.MaxDeskCount rows.
func (db *DB) DeskCounts(ctx context.Context) (c domain.DeskCounts, err error) {
	for _, one := range []struct {
		into *int
		from string
	}{
		{&c.Attention, "attention WHERE settled_at IS NULL"},
		{&c.Unanswered, "messages WHERE answered_at IS NULL"},
		{&c.DeadMails, "mails WHERE dead_at IS NOT NULL"},
		{&c.DeadDeliveries, "deliveries WHERE " + inDelivery[domain.DeliveryDead]},
		{&c.PoisonEvents, "inbox WHERE " + inInbox[string(domain.EventPoison)]},
	} {
		query := fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM %s LIMIT %d) AS few", one.from, domain.MaxDeskCount)
		if err := db.gorm.WithContext(ctx).Raw(query).Scan(one.into).Error; err != nil {
			return c, err
		}
	}
	return c, nil
}
