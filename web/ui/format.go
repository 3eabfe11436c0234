package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // dates are shown in Amsterdam's time on every machine

	"example.com/eenmaal/domain"
)

const noBreakSpace = "\u00a0"

// Money writes an amount as people read it: €1,234.50 in English and € 1.234,50 in Dutch, with a
// no-break space.
func Money(l Lang, m domain.Money) string {
	sign, cents := "", uint64(m.Amount)
	if m.Amount < 0 {
		sign, cents = "-", -uint64(m.Amount)
	}
	symbol := "€"
	if m.Currency != "EUR" {
		symbol = m.Currency + noBreakSpace
	}
	if l == Dutch {
		return strings.TrimSuffix(symbol, noBreakSpace) + noBreakSpace + sign + grouped(cents/100, ".") + fmt.Sprintf(",%02d", cents%100)
	}
	return sign + symbol + grouped(cents/100, ",") + fmt.Sprintf(".%02d", cents%100)
}

func grouped(n uint64, separator string) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + separator + s[i:]
	}
	return s
}

var amsterdam = func() *time.Location {
	loc, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		panic(err) // the zone is compiled in
	}
	return loc
}()

var months = [...]Text{
	{"January", "januari"}, {"February", "februari"}, {"March", "maart"}, {"April", "april"},
	{"May", "mei"}, {"June", "juni"}, {"July", "juli"}, {"August", "augustus"},
	{"September", "september"}, {"October", "oktober"}, {"November", "november"}, {"December", "december"},
}

// Moment writes a time as it is on the clocks of Amsterdam: 30 November 2026 14:05.
func Moment(l Lang, t time.Time) string {
	t = t.In(amsterdam)
	return fmt.Sprintf("%d%s%s%s%d %02d:%02d", t.Day(), noBreakSpace, months[t.Month()-1].In(l), noBreakSpace, t.Year(), t.Hour(), t.Minute())
}

// MaskEmail keeps just enough of an address for its owner to recognise it: s...@example.nl.
func MaskEmail(s string) string {
	local, host, ok := strings.Cut(s, "@")
	if !ok || local == "" {
		return "..."
	}
	first := []rune(local)[0]
	return string(first) + "...@" + host
}

// VATIncluded is the 21 % VAT that an amount holds, rounded to the nearest cent.
func VATIncluded(total domain.Money) domain.Money {
	return domain.Money{Amount: (total.Amount*21 + 60) / 121, Currency: total.Currency}
}

// Seconds writes a length of time.
func Seconds(l Lang, n int) string {
	if n == 1 {
		return TSecond.In(l)
	}
	return strings.Replace(TSeconds.In(l), "{n}", strconv.Itoa(n), 1)
}
