package domain

import "math"

// Money is an amount in the currency's minor unit (cents for EUR). It is never a fraction.
type Money struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// EUR makes an amount of euro cents.
func EUR(cents int64) Money { return Money{Amount: cents, Currency: "EUR"} }

// Plus adds two amounts of one currency. ok is false when the currencies differ or the sum overflows.
func (m Money) Plus(n Money) (sum Money, ok bool) {
	if m.Currency != n.Currency || (n.Amount > 0 && m.Amount > math.MaxInt64-n.Amount) ||
		(n.Amount < 0 && m.Amount < math.MinInt64-n.Amount) {
		return Money{}, false
	}
	return Money{m.Amount + n.Amount, m.Currency}, true
}

// Times multiplies by a count. ok is false when the product overflows or the count is negative.
func (m Money) Times(n int64) (product Money, ok bool) {
	if n < 0 || (n > 0 && (m.Amount > math.MaxInt64/n || m.Amount < math.MinInt64/n)) {
		return Money{}, false
	}
	return Money{m.Amount * n, m.Currency}, true
}
