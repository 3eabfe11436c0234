package api_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
)

// TestEveryOperationRefusesAnotherRequestWithItsKey covers T49: wherever the first answer is found,
// another request with its key is refused, logged and written down, and changes nothing.
func TestEveryOperationRefusesAnotherRequestWithItsKey(t *testing.T) {
	t.Parallel()
	eachSource(t, func(t *testing.T, s source) {
		for _, e := range examples {
			c := e.request(s.shop)
			c.key = newKey()
			first := s.do(c)
			wantStatus(t, e.pattern, first, e.status)
			s.only(c, e.pattern)
			effects := e.effects(s.shop)
			p := refusal(t, e.pattern, s.again(another(c)), 409, "idempotency_key_reused")
			if p.SafeNewKey || p.Retryable || p.Resource != first.Header.Get("Location") {
				t.Errorf("%s: %+v, want the first request's resource and no promises", e.pattern, p)
			}
			wantReplay(t, e.pattern, first, s.again(c))
			if after := e.effects(s.shop); after != effects {
				t.Errorf("%s: effects %s, then %s", e.pattern, effects, after)
			}
			s.keepsMismatches(e.pattern, c.key, first, 1, s.book)
		}
	})
}

// TestEveryOperationRefusesAnotherRequestWhileItRuns holds the first request at each of its points. Its
// own process knows it by then; another process does as soon as the key is claimed.
func TestEveryOperationRefusesAnotherRequestWhileItRuns(t *testing.T) {
	t.Parallel()
	eachOperation(t, func(t *testing.T, o *trial) {
		twin := newShop(t, o.database, withProvider(o.provider))
		for _, point := range o.points {
			o.survives("another request at "+point, func(c call) {
				other, before := another(c), o.keys()
				reached, release := o.faults.hold(t, point)
				running := o.inBackground(c)
				await(t, point, reached)
				times := 1
				refusal(t, "same process at "+point, o.do(other), 409, "idempotency_key_reused")
				if o.keys() > before {
					times++
					refusal(t, "other process at "+point, twin.do(other), 409, "idempotency_key_reused")
				}
				release()
				first := <-running
				wantStatus(t, point, first, o.example.status)
				must(t, twin.registry.Drain(t.Context()))
				o.keepsMismatches(o.example.pattern, c.key, first, times, o.book, twin.book)
			})
		}
	})
}

// keepsMismatches checks that the mismatches of a key are in the logs and, as one row, in the audit
// trail, and that neither holds the key or what was asked.
func (s *shop) keepsMismatches(pattern, key string, first answer, times int, books ...*logBook) {
	s.t.Helper()
	id, request := uuid.MustParse(key), first.Header.Get("Idempotency-Original-Request-Id")
	var rows []domain.KeyMismatch
	for _, m := range s.mismatches() {
		if m.Scope.Key.ID() == id {
			rows = append(rows, m)
		}
	}
	if len(rows) != 1 || rows[0].Endpoint != pattern || rows[0].Consumer != "alpha" || rows[0].FirstRequest != request || rows[0].Times != int64(times) {
		s.t.Errorf("%s: audit trail %+v, want one row of %d times", pattern, rows, times)
	}
	lines := 0
	for _, book := range books {
		for _, line := range book.lines("idempotency key used for another request") {
			if strings.Contains(line, `"first_request":"`+request+`"`) {
				lines++
			}
		}
		if all := strings.Join(book.lines(""), ""); strings.Contains(all, key) || strings.Contains(all, "example.nl") {
			s.t.Errorf("%s: a whole key or personal data in the log: %s", pattern, all)
		}
	}
	if lines != times {
		s.t.Errorf("%s: %d lines in the log, want %d", pattern, lines, times)
	}
}
