package store

import (
	"context"
	"encoding/json"
	"time"

	"example.com/eenmaal/domain"
)

type draftRow struct {
	ID          string
	OrderKey    string
	PaymentKey  string
	Language    string
	Items       string
	Email       string
	Name        string
	Line1       string
	PostalCode  string
	City        string
	Country     string
	MethodType  string
	MethodToken string
	CreatedAt   time.Time
}

// Draft reads a checkout by the id in its address.
func (db *DB) Draft(ctx context.Context, id string) (domain.Draft, error) {
	var r draftRow
	if err := db.gorm.WithContext(ctx).Table("drafts").Where("id = ?", id).Take(&r).Error; err != nil {
		return domain.Draft{}, notFound(err, "checkout_not_found", "There is no such checkout.")
	}
	d := domain.Draft{
		ID: r.ID, OrderKey: r.OrderKey, PaymentKey: r.PaymentKey, Language: r.Language, Email: r.Email, Name: r.Name,
		Address: domain.Address{Line1: r.Line1, PostalCode: r.PostalCode, City: r.City, Country: r.Country},
		Method:  domain.PaymentMethod{Type: r.MethodType, Token: r.MethodToken}, CreatedAt: r.CreatedAt.UTC(),
	}
	return d, json.Unmarshal([]byte(r.Items), &d.Items)
}

// StartDraft keeps a new checkout. One that exists already stays as it is, with its keys.
func (db *DB) StartDraft(ctx context.Context, d domain.Draft) error {
	items, err := json.Marshal(d.Items)
	if err != nil {
		return err
	}
	tx := db.Begin()
	tx.queue(`INSERT INTO drafts (id, order_key, payment_key, language, items, email, name, line1, postal_code,
		city, country, method_type, method_token, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		d.ID, d.OrderKey, d.PaymentKey, d.Language, string(items), d.Email, d.Name, d.Address.Line1, d.Address.PostalCode,
		d.Address.City, d.Address.Country, d.Method.Type, d.Method.Token, d.CreatedAt)
	return tx.Commit(ctx)
}

// SaveDraft keeps what was typed and chosen. Keys and items are not changed by it.
func (db *DB) SaveDraft(ctx context.Context, d domain.Draft) error {
	tx := db.Begin()
	tx.queue(`UPDATE drafts SET language = ?, email = ?, name = ?, line1 = ?, postal_code = ?, city = ?, country = ?,
		method_type = ?, method_token = ? WHERE id = ?`,
		d.Language, d.Email, d.Name, d.Address.Line1, d.Address.PostalCode, d.Address.City, d.Address.Country,
		d.Method.Type, d.Method.Token, d.ID)
	return tx.Commit(ctx)
}

// RenewPaymentKey gives the checkout the key of its next payment attempt, unless that was done
// already: old is the key of the attempt that ended.
func (db *DB) RenewPaymentKey(ctx context.Context, id, old, key string) error {
	tx := db.Begin()
	tx.queue(`UPDATE drafts SET payment_key = ? WHERE id = ? AND payment_key = ?`, key, id, old)
	return tx.Commit(ctx)
}
