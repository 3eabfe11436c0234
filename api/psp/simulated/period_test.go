package simulated_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"example.com/eenmaal/api/psp/simulated"
)

// period asks for one page, and gives the references on it.
func (p *provider) period(t *testing.T, from, to time.Time, after string, limit int) (references []string, next string) {
	t.Helper()
	query := url.Values{"from": {from.Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}, "limit": {fmt.Sprint(limit)}}
	if after != "" {
		query.Set("after", after)
	}
	got := p.get(t, chargesPath+"?"+query.Encode())
	want(t, got, http.StatusOK, "")
	var list struct {
		Charges []entry
		Next    string
	}
	if err := json.Unmarshal([]byte(got.body), &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Charges {
		references = append(references, c.Reference)
	}
	return references, list.Next
}

// TestAPeriodIsReadInPagesByTheTimeOfTheLastChange: no page repeats or skips a charge when another one
// changes meanwhile.
func TestAPeriodIsReadInPagesByTheTimeOfTheLastChange(t *testing.T) {
	t.Parallel()
	clock := newClock()
	p := serve(t, simulated.ServerConfig{Path: ledgerFile(t), Now: clock.read})
	start := clock.read()
	for i := range 5 {
		p.post(t, fmt.Sprint("key-", i), order(fmt.Sprint("EM-", i), "tok_ok"))
		clock.pass(time.Minute)
	}
	first, next := p.period(t, start, start.Add(time.Hour), "", 2)
	clock.pass(time.Hour)
	id := p.entries(t, "reference", "EM-3")[0].ID
	want(t, p.postTo(t, chargesPath+"/"+id+"/refunds", "key-r", `{"amount":1}`), http.StatusCreated, "") // leaves the period
	second, next := p.period(t, start, start.Add(time.Hour), next, 2)
	if got := fmt.Sprint(first, second, next == ""); got != "[EM-0 EM-1] [EM-2 EM-4] true" {
		t.Errorf("got %s", got)
	}
	if got, _ := p.period(t, start.Add(time.Hour), start.Add(2*time.Hour), "", 2); fmt.Sprint(got) != "[EM-3]" {
		t.Errorf("later: got %v, want the refunded charge", got)
	}
	if got, _ := p.period(t, start.Add(time.Minute), start.Add(2*time.Minute), "", 2); fmt.Sprint(got) != "[EM-1]" {
		t.Errorf("one minute, without its end: got %v", got)
	}
}

func TestAPeriodThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	p := setup(t)
	for query, code := range map[string]string{
		"from=yesterday&to=2026-03-01T12:00:00Z":                          "period_invalid",
		"from=2026-03-01T12:00:00Z":                                       "period_invalid",
		"from=2026-03-01T12:00:00Z&to=2026-03-01T12:00:00Z&limit=0":       "limit_invalid",
		"from=2026-03-01T12:00:00Z&to=2026-03-01T12:00:00Z&limit=501":     "limit_invalid",
		"from=2026-03-01T12:00:00Z&to=2026-03-01T12:00:00Z&after=nothing": "after_invalid",
	} {
		want(t, p.get(t, chargesPath+"?"+query), http.StatusBadRequest, code)
	}
}

// TestALedgerFromBeforePeriodsIsUpgraded: its charges are listed by what is known of their times.
func TestALedgerFromBeforePeriodsIsUpgraded(t *testing.T) {
	t.Parallel()
	path, clock := ledgerFile(t), newClock()
	start := clock.read()
	before := serve(t, simulated.ServerConfig{Path: path, Now: clock.read})
	before.post(t, "key-1", order("EM-1", "tok_ok"))
	before.post(t, "key-2", order("EM-2", "tok_ok"))
	clock.pass(time.Hour)
	id := before.entries(t, "reference", "EM-2")[0].ID
	want(t, before.postTo(t, chargesPath+"/"+id+"/refunds", "key-r", `{"amount":1}`), http.StatusCreated, "")
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	file := url.URL{Scheme: "file", Path: path}
	db, err := sql.Open("sqlite", file.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"DROP INDEX charges_updated", "ALTER TABLE charges DROP COLUMN updated_at", "PRAGMA user_version = 2"} {
		if _, err := db.ExecContext(t.Context(), step); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	after := serve(t, simulated.ServerConfig{Path: path, Now: clock.read})
	if got, _ := after.period(t, start, start.Add(time.Hour), "", 9); fmt.Sprint(got) != "[EM-1]" {
		t.Errorf("made: got %v", got)
	}
	if got, _ := after.period(t, start.Add(time.Hour), start.Add(2*time.Hour), "", 9); fmt.Sprint(got) != "[EM-2]" {
		t.Errorf("refunded: got %v", got)
	}
}

// TestAChargeThatMakesNoSenseSpoilsItsPage: what cannot be read cannot be compared.
func TestAChargeThatMakesNoSenseSpoilsItsPage(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"charges":[{"id":"ch_1","status":"succeeded"}]}`, `[]`} {
		client := answering(t, body)
		if page, err := client.List(t.Context(), time.Now().Add(-time.Hour), time.Now(), ""); err == nil {
			t.Errorf("%s: got %+v", body, page)
		}
	}
	if page, err := answering(t, `{"charges":[]}`).List(t.Context(), time.Now(), time.Now(), ""); err != nil || len(page.Charges) != 0 {
		t.Errorf("no charges: %+v %v", page, err)
	}
}

// answering is the client of a provider that always says the same.
func answering(t *testing.T, body string) *simulated.Client {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(web.Close)
	client, err := simulated.NewClient(simulated.ClientConfig{BaseURL: web.URL})
	if err != nil {
		t.Fatal(err)
	}
	return client
}
