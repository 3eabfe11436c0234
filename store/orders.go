package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"example.com/eenmaal/domain"
)

type orderRow struct {
	ID         string
	ConsumerID int64
	Number     string
	Token      string
	Status     string
	Email      string
	Name       string
	Line1      string
	PostalCode string
	City       string
	Country    string
	Language   string
	Shipping   int64
	Total      int64
	Currency   string
	CreatedAt  time.Time

	CancelledFor string
}

type lineRow struct {
	OrderID   string
	SKU       string `gorm:"column:sku"`
	Name      string
	Quantity  int64
	UnitPrice int64
}

func (r orderRow) order(lines []lineRow) domain.Order {
	o := domain.Order{
		ID: r.ID, Consumer: r.ConsumerID, Number: r.Number, Token: r.Token, Status: domain.OrderStatus(r.Status), Email: r.Email, Name: r.Name,
		Address:  domain.Address{Line1: r.Line1, PostalCode: r.PostalCode, City: r.City, Country: r.Country},
		Language: r.Language, CreatedAt: r.CreatedAt.UTC(), CancelledFor: domain.CancelReason(r.CancelledFor),
		Shipping: domain.Money{Amount: r.Shipping, Currency: r.Currency},
		Total:    domain.Money{Amount: r.Total, Currency: r.Currency},
	}
	for _, l := range lines {
		o.Lines = append(o.Lines, domain.Line{SKU: l.SKU, Name: l.Name, Quantity: l.Quantity,
			UnitPrice: domain.Money{Amount: l.UnitPrice, Currency: r.Currency}})
	}
	return o
}

// Order reads an order by its id.
func (db *DB) Order(ctx context.Context, id string) (domain.Order, error) {
	return db.orderWhere(ctx, "id = ?", id)
}

// OrderByNumber reads an order by the number that people see.
func (db *DB) OrderByNumber(ctx context.Context, number string) (domain.Order, error) {
	return db.orderWhere(ctx, "number = ?", number)
}

// OrderOf reads the order that a browser flow made, if it made one.
func (db *DB) OrderOf(ctx context.Context, consumer int64) (domain.Order, bool, error) {
	o, err := db.orderWhere(ctx, "consumer_id = ? AND consumer_id < 0", consumer)
	if err != nil && domain.KindOf(err) == domain.NotFound {
		return domain.Order{}, false, nil
	}
	return o, err == nil, err
}

// OrdersByID reads the orders of these ids that exist, the newest first.
func (db *DB) OrdersByID(ctx context.Context, ids []string) ([]domain.Order, error) {
	var rows []orderRow
	if err := db.gorm.WithContext(ctx).Table("orders").Where("id IN ?", ids).Order("created_at DESC, id DESC").Find(&rows).Error; err != nil {
		return nil, err
	}
	var lines []lineRow
	if err := db.gorm.WithContext(ctx).Table("order_lines").Where("order_id IN ?", ids).Order("order_id, position").Find(&lines).Error; err != nil {
		return nil, err
	}
	linesOf := map[string][]lineRow{}
	for _, l := range lines {
		linesOf[l.OrderID] = append(linesOf[l.OrderID], l)
	}
	orders := make([]domain.Order, len(rows))
	for i, row := range rows {
		orders[i] = row.order(linesOf[row.ID])
	}
	return orders, nil
}

func (db *DB) orderWhere(ctx context.Context, condition string, arg any) (domain.Order, error) {
	var row orderRow
	if err := db.gorm.WithContext(ctx).Table("orders").Where(condition, arg).Take(&row).Error; err != nil {
		return domain.Order{}, notFound(err, "order_not_found", "There is no such order.")
	}
	var lines []lineRow
	if err := db.gorm.WithContext(ctx).Table("order_lines").Where("order_id = ?", row.ID).Order("position").Find(&lines).Error; err != nil {
		return domain.Order{}, err
	}
	return row.order(lines), nil
}

// InsertOrder queues a new order with its lines. A line whose article no longer has the line's price
// gives ErrStale: the price is looked up again by the insert, and NULL is refused. So does a number
// that another order has.
func (tx *Tx) InsertOrder(o domain.Order, s domain.Scope) {
	tx.queue(`INSERT INTO orders (id, number, token, status, email, name, line1, postal_code, city, country,
		language, shipping, total, currency, consumer_id, key, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		o.ID, o.Number, o.Token, string(o.Status), o.Email, o.Name, o.Address.Line1, o.Address.PostalCode,
		o.Address.City, o.Address.Country, o.Language, o.Shipping.Amount, o.Total.Amount, o.Total.Currency,
		s.Consumer, keyID(s), o.CreatedAt).or("orders_once_per_key", ErrKeySpent).or("orders_number_key", ErrStale)
	for i, l := range o.Lines {
		tx.queue(`INSERT INTO order_lines (order_id, position, sku, name, quantity, unit_price)
			VALUES (?, ?, ?, ?, ?, (SELECT price FROM products WHERE sku = ? AND price = ?))`,
			o.ID, i, l.SKU, l.Name, l.Quantity, l.SKU, l.UnitPrice.Amount).or("order_lines.unit_price", ErrStale)
	}
}

// MarkPaid queues the order's step to paid. ErrStale says that it was not awaiting payment.
func (tx *Tx) MarkPaid(orderID string) {
	tx.queue(`UPDATE orders SET status = 'paid' WHERE id = ? AND status = 'awaiting_payment'`, orderID).orMissing(ErrStale)
}

// ChangeAddress queues another delivery address, and that there was a change, under id. ErrStale says
// that the order's status is another one.
func (tx *Tx) ChangeAddress(id string, o domain.Order, s domain.Scope) {
	tx.queue(`INSERT INTO address_changes (id, order_id, consumer_id, key, created_at) VALUES (?, ?, ?, ?, ?)`,
		id, o.ID, s.Consumer, keyID(s), tx.Now()).or("address_changes_once_per_key", ErrKeySpent)
	tx.queue(`UPDATE orders SET line1 = ?, postal_code = ?, city = ?, country = ? WHERE id = ? AND status = ?`,
		o.Address.Line1, o.Address.PostalCode, o.Address.City, o.Address.Country, o.ID, string(o.Status)).orMissing(ErrStale)
}

// CancelOrder queues the end of an order and puts its articles back. ErrStale says that its status is no
// longer the one in o, or that its payments are not the ones by which that was decided.
//
// InsertPayment locks the order that it is for. So the second write, which begins when the first has its
// lock, sees every payment there is, and none can be added after it.
func (tx *Tx) CancelOrder(o domain.Order, why domain.CancelReason, payments []domain.Payment) {
	tx.queue(`UPDATE orders SET status = 'cancelled' WHERE id = ? AND status = ?`, o.ID, string(o.Status)).orMissing(ErrStale)
	tx.queue(`UPDATE orders SET cancelled_for = ? WHERE id = ?
		AND (SELECT CAST(count(*) + coalesce(sum(revision), 0) AS bigint) FROM payments WHERE order_id = ?) = ?`,
		string(why), o.ID, o.ID, changesOf(payments)).orMissing(ErrStale)
	lines := slices.Clone(o.Lines)
	slices.SortFunc(lines, func(a, b domain.Line) int { return strings.Compare(a.SKU, b.SKU) }) // one order of locks
	for _, l := range lines {
		tx.queue(`UPDATE products SET stock = stock + ? WHERE sku = ?`, l.Quantity, l.SKU)
	}
}

// changesOf counts what ever happened to payments: it is another number after anything has.
func changesOf(payments []domain.Payment) (n int64) {
	for _, p := range payments {
		n += 1 + p.Revision
	}
	return n
}

// InsertCancellation queues that a client had an order cancelled, under id.
func (tx *Tx) InsertCancellation(id string, o domain.Order, s domain.Scope) {
	tx.queue(`INSERT INTO cancellations (id, order_id, consumer_id, key, created_at) VALUES (?, ?, ?, ?, ?)`,
		id, o.ID, s.Consumer, keyID(s), tx.Now()).or("cancellations_order_id_key", ErrStale)
}

// KeepOrder queues the check that an order's status is still the one in o, and lets nobody change it
// before the commit. ErrStale says that it is another one.
func (tx *Tx) KeepOrder(o domain.Order) {
	tx.queue(`UPDATE orders SET status = status WHERE id = ? AND status = ?`, o.ID, string(o.Status)).orMissing(ErrStale)
}
