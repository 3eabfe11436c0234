package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"example.com/eenmaal/domain"
)

type webhookEndpointRow struct {
	ID         string
	ConsumerID int64
	Slot       int
	URL        string `gorm:"column:url"`
	Secret     string
	Events     string
	CreatedAt  time.Time
	DisabledAt sql.NullTime
	DeletedAt  sql.NullTime
}

func (r webhookEndpointRow) endpoint() domain.WebhookEndpoint {
	e := domain.WebhookEndpoint{ID: r.ID, Consumer: r.ConsumerID, Slot: r.Slot, URL: r.URL, Secret: r.Secret,
		CreatedAt: r.CreatedAt.UTC(), DisabledAt: r.DisabledAt.Time.UTC(), DeletedAt: r.DeletedAt.Time.UTC()}
	if r.Events != "" {
		e.Events = strings.Split(r.Events, ",")
	}
	return e
}

// WebhookEndpoint reads an endpoint by its id, whoever has it and even when it is deleted.
func (db *DB) WebhookEndpoint(ctx context.Context, id string) (domain.WebhookEndpoint, error) {
	var row webhookEndpointRow
	err := db.gorm.WithContext(ctx).Table("webhook_endpoints").Where("id = ?", id).Take(&row).Error
	return row.endpoint(), notFound(err, "webhook_endpoint_not_found", "There is no such webhook endpoint.")
}

// WebhookEndpoints reads a consumer's endpoints that are not deleted, oldest first.
func (db *DB) WebhookEndpoints(ctx context.Context, consumer int64) ([]domain.WebhookEndpoint, error) {
	var rows []webhookEndpointRow
	err := db.gorm.WithContext(ctx).Table("webhook_endpoints").Where("consumer_id = ? AND deleted_at IS NULL", consumer).
		Order("created_at, id").Find(&rows).Error
	list := make([]domain.WebhookEndpoint, len(rows))
	for i, r := range rows {
		list[i] = r.endpoint()
	}
	return list, err
}

// listedEndpointRow is an endpoint with the name of whose it is.
type listedEndpointRow struct {
	Endpoint     webhookEndpointRow `gorm:"embedded"`
	ConsumerName string
}

func (r listedEndpointRow) endpoint() domain.WebhookEndpoint {
	e := r.Endpoint.endpoint()
	e.ConsumerName = r.ConsumerName
	return e
}

// ListWebhookEndpoints reads a part of all consumers' endpoints, newest first, without their secrets. The
// deleted ones are among them.
func (db *DB) ListWebhookEndpoints(ctx context.Context, l domain.Listing) (domain.Part[domain.WebhookEndpoint], error) {
	query := db.gorm.WithContext(ctx).Table("webhook_endpoints").
		Select("webhook_endpoints.id, consumer_id, slot, url, events, created_at, disabled_at, deleted_at, COALESCE(consumers.name, '') AS consumer_name").
		Joins("LEFT JOIN consumers ON consumers.id = consumer_id")
	return listed(query, "webhook_endpoints.id", l, listedEndpointRow.endpoint, func(r listedEndpointRow) string { return r.Endpoint.ID })
}

// InsertWebhookEndpoint queues a new endpoint. A slot that was taken meanwhile gives ErrStale; a URL that
// the consumer has already gives urlTaken.
func (tx *Tx) InsertWebhookEndpoint(e domain.WebhookEndpoint, s domain.Scope, urlTaken error) {
	tx.queue(`INSERT INTO webhook_endpoints (id, consumer_id, slot, url, secret, events, key, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		e.ID, e.Consumer, e.Slot, e.URL, e.Secret, strings.Join(e.Events, ","), keyID(s), e.CreatedAt).
		or("webhook_endpoints_once_per_key", ErrKeySpent).or("webhook_endpoints_one_per_slot", ErrStale).
		or("webhook_endpoints_one_per_url", urlTaken)
}

// DeleteWebhookEndpoint queues the end of an endpoint. One that is deleted already gives ErrStale.
func (tx *Tx) DeleteWebhookEndpoint(id string) {
	tx.queue(`UPDATE webhook_endpoints SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL`, tx.Now(), id).orMissing(ErrStale)
}

// DisableWebhookEndpoint queues that nothing is sent to the endpoint any more.
func (tx *Tx) DisableWebhookEndpoint(id string) {
	tx.queue(`UPDATE webhook_endpoints SET disabled_at = ? WHERE id = ? AND disabled_at IS NULL`, tx.Now(), id)
}
