package simulated

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	defaultPage = 100
	maxPage     = 500 // charges; a page stays far below maxAnswer
)

// period asks for the charges that last changed from From on and before To, after a cursor.
type period struct {
	from, to time.Time
	after    string
	limit    int
}

// getPeriod lists the charges of a period in the order of their last change. A charge that changes
// while somebody pages leaves the period and is not listed twice.
func (s *Server) getPeriod(w http.ResponseWriter, r *http.Request) {
	p, bad := readPeriod(r.URL.Query())
	if bad != nil {
		bad.writeTo(w)
		return
	}
	charges, err := s.ledger.period(r.Context(), p)
	if err != nil {
		s.fail(err).writeTo(w)
		return
	}
	list := chargeList{Charges: charges}
	if len(charges) > p.limit {
		list.Charges = charges[:p.limit]
		list.Next = cursorOf(charges[p.limit-1])
	}
	jsonReply(http.StatusOK, list).writeTo(w)
}

func readPeriod(q url.Values) (p period, bad *reply) {
	var errFrom, errTo, errLimit error
	p.from, errFrom = time.Parse(time.RFC3339Nano, q.Get("from"))
	p.to, errTo = time.Parse(time.RFC3339Nano, q.Get("to"))
	p.after, p.limit = q.Get("after"), defaultPage
	if q.Has("limit") {
		p.limit, errLimit = strconv.Atoi(q.Get("limit"))
	}
	_, _, known := readCursor(p.after)
	switch {
	case errFrom != nil || errTo != nil:
		return p, refusal(http.StatusBadRequest, "period_invalid", "from and to must be times such as 2026-03-01T12:00:00Z.")
	case errLimit != nil || p.limit < 1 || p.limit > maxPage:
		return p, refusal(http.StatusBadRequest, "limit_invalid", fmt.Sprintf("The limit must be 1 to %d.", maxPage))
	case !known:
		return p, refusal(http.StatusBadRequest, "after_invalid", "after must be the next of an earlier answer.")
	}
	return p, nil
}

// cursorOf marks the place of a charge in the order of periods.
func cursorOf(c charge) string { return fmt.Sprintf("%d.%s", c.UpdatedAt.UnixMilli(), c.ID) }

// readCursor gives the place before everything for no cursor.
func readCursor(cursor string) (ms int64, id string, ok bool) {
	if cursor == "" {
		return 0, "", true
	}
	text, id, found := strings.Cut(cursor, ".")
	ms, err := strconv.ParseInt(text, 10, 64)
	return ms, id, found && err == nil
}

// period lists one charge more than the limit when there are more.
func (l *ledger) period(ctx context.Context, p period) ([]charge, error) {
	ms, id, _ := readCursor(p.after)
	return l.list(ctx, `updated_at >= ? AND updated_at < ? AND (updated_at, id) > (?, ?) ORDER BY updated_at, id LIMIT ?`,
		p.from.UnixMilli(), p.to.UnixMilli(), ms, id, p.limit+1)
}
