package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// settle waits until the order is as it should be and no job is left but for later: the provider is asked
// for a pending payment after half a minute, in vain when its event has come.
func (r *killRun) settle(want outcome) {
	r.t.Helper()
	left := func() int {
		r.died()
		return r.number("SELECT count(*) FROM river_job WHERE state NOT IN ('completed', 'scheduled')")
	}
	state := func() string { return r.text("SELECT coalesce(max(status), '') FROM orders") }
	eventually(r.t, 3*patience, func() string {
		return fmt.Sprintf("the order is %q and every job completed; it is %q and %d are not: %s", want.status, state(), left(),
			r.text("SELECT coalesce(max(kind || ' ' || state), '') FROM river_job WHERE state NOT IN ('completed', 'scheduled')"))
	}, func() bool { return state() == want.status && left() == 0 })
}

// verify compares everything with everything: what the client was told, the shop's database, the
// provider's ledger and the mail that came.
func (r *killRun) verify(want outcome) {
	r.t.Helper()
	r.answersStand()
	for query, n := range map[string]int{
		"SELECT count(*) FROM orders":                                             1,
		"SELECT count(*) FROM orders WHERE status = '" + want.status + "'":        1,
		"SELECT count(*) FROM payments":                                           want.charges,
		"SELECT coalesce(sum(captured), 0) FROM payments":                         want.captured,
		"SELECT coalesce(sum(refunded), 0) FROM payments":                         want.refunded,
		"SELECT count(*) FROM modifications WHERE status <> 'succeeded'":          0,
		"SELECT count(*) FROM idempotency_keys":                                   len(r.asked),
		"SELECT count(*) FROM idempotency_keys WHERE state <> 3":                  0,
		"SELECT count(*) FROM inbox WHERE state NOT IN ('applied', 'superseded')": 0,
		"SELECT count(*) FROM attention":                                          0,
		"SELECT count(*) FROM mails":                                              want.mails,
		"SELECT count(*) FROM mails WHERE sent_at IS NULL":                        0,
		`SELECT count(*) FROM products p WHERE p.stock <> 1000 - (SELECT coalesce(sum(l.quantity), 0) FROM order_lines l
			JOIN orders o ON o.id = l.order_id WHERE l.sku = p.sku AND o.status <> 'cancelled') AND p.sku <> 'lamp'`: 0,
	} {
		if got := r.number(query); got != n {
			r.t.Errorf("%s gives %d, want %d", query, got, n)
		}
	}
	r.chargedOnce(want)
	copies := r.mails.copies(r.t, r.email)
	if len(copies) != want.mails {
		r.t.Errorf("%d different mails came, want %d", len(copies), want.mails)
	}
	for id, texts := range copies {
		if len(slices.Compact(texts)) != 1 {
			r.t.Errorf("the copies of mail %s differ: %q", id, texts)
		}
	}
}

// answersStand: each answer is given again, byte for byte, and what it says was made is there.
func (r *killRun) answersStand() {
	r.t.Helper()
	for _, e := range r.asked {
		if again := r.untilFinal(e); again != e.answer {
			r.t.Errorf("%s was answered with %+v and now with %+v", e.path, e.answer, again)
		}
		var made struct{ ID, Number, Order string }
		if err := json.Unmarshal([]byte(e.answer.body), &made); err != nil {
			r.t.Fatal(err)
		}
		table := e.path[strings.LastIndex(e.path, "/")+1:]
		if table == "captures" || table == "refunds" {
			table = "modifications"
		}
		if n := r.number("SELECT count(*) FROM " + table + " WHERE id = '" + made.ID + "'"); n != 1 {
			r.t.Errorf("%s was answered with %s, of which there are %d", e.path, e.answer.body, n)
		}
		req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+r.shop.addr+e.answer.location, nil)
		if err != nil {
			r.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer demo-alpha")
		if status, body := do(r.t, req); status != http.StatusOK || e.answer.location == "" {
			r.t.Errorf("%s was answered with the location %q, which answers %d %s", e.path, e.answer.location, status, body)
		}
	}
}

// chargedOnce looks at all that the provider was asked for.
func (r *killRun) chargedOnce(want outcome) {
	r.t.Helper()
	var all []charge
	for reference := range r.references() {
		all = append(all, ledger(r.t, r.psp.addr, reference)...)
	}
	captured, refunded := 0, 0
	for _, c := range all {
		captured, refunded = captured+c.Captured, refunded+c.Refunded
	}
	if len(all) != want.charges || captured != want.captured || refunded != want.refunded {
		r.t.Errorf("the provider has the charges %+v, want %d with %d captured and %d refunded", all, want.charges, want.captured, want.refunded)
	}
}

func (r *killRun) text(query string) (text string) {
	r.t.Helper()
	if err := r.sql.QueryRowContext(r.t.Context(), query).Scan(&text); err != nil {
		r.t.Fatal(err)
	}
	return text
}
