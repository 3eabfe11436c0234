package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"gorm.io/gorm"

	"example.com/eenmaal/domain"
)

// ErrStale: something that was read or drawn before the commit is no longer right: a price changed,
// or a random number is in use already. Nothing was written; decide again.
var ErrStale = errors.New("decided on something that has changed")

// MaxStale is how often something is decided because of ErrStale, the first time included.
const MaxStale = 5

type productRow struct {
	SKU      string `gorm:"column:sku"`
	Name     string
	Price    int64
	Currency string
	Stock    int64
}

func (r productRow) product() domain.Product {
	return domain.Product{SKU: r.SKU, Name: r.Name, Price: domain.Money{Amount: r.Price, Currency: r.Currency}, Stock: r.Stock}
}

// Products gives the catalogue in the shop's order, with the stock of this moment.
func (db *DB) Products(ctx context.Context) ([]domain.Product, error) {
	var rows []productRow
	if err := db.gorm.WithContext(ctx).Table("products").Order("position, sku").Find(&rows).Error; err != nil {
		return nil, err
	}
	products := make([]domain.Product, len(rows))
	for i, r := range rows {
		products[i] = r.product()
	}
	return products, nil
}

// priceList remembers names and prices between orders. It may be old: the write of an order line
// checks its price again and drops the list when it was.
type priceList struct {
	products atomic.Pointer[map[string]domain.Product]
	reading  sync.Mutex // many orders that find no list read the table once
}

// Prices gives the catalogue by SKU, possibly a little old; its Stock means nothing. An order made
// with an old price fails with ErrStale, after which Prices is fresh.
func (db *DB) Prices(ctx context.Context) (map[string]domain.Product, error) {
	if known := db.prices.products.Load(); known != nil {
		return *known, nil
	}
	db.prices.reading.Lock()
	defer db.prices.reading.Unlock()
	if known := db.prices.products.Load(); known != nil {
		return *known, nil
	}
	products, err := db.Products(ctx)
	if err != nil {
		return nil, err
	}
	list := make(map[string]domain.Product, len(products))
	for _, p := range products {
		list[p.SKU] = p
	}
	db.prices.products.Store(&list)
	return list, nil
}

// ForgetPrices makes the next Prices read the table.
func (db *DB) ForgetPrices() { db.prices.products.Store(nil) }

// TakeStock queues taking a line's articles from the stock. Too few gives soldOut.
func (tx *Tx) TakeStock(line domain.Line, soldOut error) {
	tx.queue(`UPDATE products SET stock = stock - ? WHERE sku = ?`, line.Quantity, line.SKU).
		or("products_stock_not_negative", soldOut)
}

// Seed makes the demo's catalogue and API consumers where they are missing. Existing rows stay as
// they are. secrets maps a consumer's name to its bearer key, of which only a hash is kept.
func (db *DB) Seed(ctx context.Context, products []domain.Product, secrets map[string]string) error {
	tx := db.Begin()
	for i, p := range products {
		tx.queue(`INSERT INTO products (sku, name, price, currency, stock, position) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			p.SKU, p.Name, p.Price.Amount, p.Price.Currency, p.Stock, i)
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		hash := sha256.Sum256([]byte(secrets[name]))
		tx.queue(`INSERT INTO consumers (name, secret_hash) VALUES (?, ?) ON CONFLICT DO NOTHING`, name, hash[:])
	}
	return tx.Commit(ctx)
}

// ConsumerBySecret finds the API consumer of a bearer key. The key is compared by its hash, so the
// time a wrong one takes tells nothing about a right one.
func (db *DB) ConsumerBySecret(ctx context.Context, secret string) (domain.Consumer, error) {
	hash := sha256.Sum256([]byte(secret))
	var c domain.Consumer
	err := db.gorm.WithContext(ctx).Table("consumers").Select("id, name").Where("secret_hash = ?", hash[:]).Take(&c).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return c, domain.Errorf(domain.Unauthenticated, "unauthenticated", "This API key is not known.")
	}
	return c, err
}
