package admin

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// typedAmount is an amount as people type it: 12, 12.50 or 12,50. A sign for thousands is refused, since
// nobody knows which one was meant.
var typedAmount = regexp.MustCompile(`^(\d{1,9})(?:[.,](\d{1,2}))?$`)

// parseAmount reads a typed amount of more than nothing and at most max.
func parseAmount(text string, max domain.Money) (domain.Money, ui.Text) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "€"))
	parts := typedAmount.FindStringSubmatch(text)
	switch {
	case text == "":
		return domain.Money{}, tAmountMissing
	case parts == nil:
		return domain.Money{}, tAmountForm
	}
	euros, _ := strconv.ParseInt(parts[1], 10, 64) // at most nine digits
	cents, _ := strconv.ParseInt((parts[2] + "00")[:2], 10, 64)
	amount := domain.Money{Amount: euros*100 + cents, Currency: max.Currency}
	switch {
	case amount.Amount == 0:
		return domain.Money{}, tAmountNone
	case amount.Amount > max.Amount:
		return domain.Money{}, tAmountMuch
	}
	return amount, ui.Text{}
}

// writeAmount writes an amount as parseAmount reads it.
func writeAmount(l ui.Lang, m domain.Money) string {
	point := "."
	if l == ui.Dutch {
		point = ","
	}
	return fmt.Sprintf("%d%s%02d", m.Amount/100, point, m.Amount%100)
}
