package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
)

func parsed(t *testing.T, text string) domain.Key {
	t.Helper()
	key, err := domain.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// aKey is a key of the payments' endpoint that has its answer.
func aKey(t *testing.T, at time.Time) domain.KeyRecord {
	t.Helper()
	return domain.KeyRecord{Scope: domain.Scope{Key: parsed(t, "01a22c73-8af0-75c2-8076-c03278e2791b"), Consumer: -7, Endpoint: 4},
		Endpoint: "POST /v1/payments", State: domain.Done, Attempt: 2, Status: 201, Resource: "/v1/payments/7", Request: "request-1",
		Print: "0a1b2c3d4e5f", FirstSeen: at, DoneAt: at.Add(time.Second)}
}

const aKeyPath = "/admin/keys/01a22c73-8af0-75c2-8076-c03278e2791b/-7/4"

func TestTheDeskListsKeys(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.get("/nl/admin/keys")
	b.want(200, "/nl/admin/keys", "list-empty")
	if !strings.Contains(b.last.body, "nog geen verzoek met een sleutel") {
		t.Error("an empty list does not say so")
	}
	stopped := aKey(t, b.now)
	stopped.Scope.Key, stopped.State, stopped.Status, stopped.Consumer = parsed(t, "opaque:0123456789"), domain.Released, 0, "alpha"
	b.desk.keysFake.keys, b.desk.older = []domain.KeyRecord{aKey(t, b.now), stopped}, "a cursor"
	b.get("/admin/keys?q=POST+/v1/payments&state=finished&before=here")
	b.want(200, "/admin/keys?q=POST+/v1/payments&state=finished&before=here", "key-row", "older", "filter-untimed")
	if got := b.desk.search; got != (domain.KeySearch{Text: "POST /v1/payments", State: domain.KeysFinished}) || b.desk.cursor.Before != "here" {
		t.Errorf("asked for %+v at %+v", got, b.desk.cursor)
	}
	for _, want := range []string{aKeyPath, "opaque:0123456789", "Finished", "Waits for a retry", "a browser", "alpha"} {
		if !strings.Contains(b.last.body, want) {
			t.Errorf("the list does not tell %q", want)
		}
	}
	b.get("/admin/keys?q=op_AAQBoixzivB1woB2wDJ44nkb/-7") // as a flag about the key names it
	b.want(200, aKeyPath, "key-facts")
}

func TestTheDeskTellsAKeysStory(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	for _, path := range []string{aKeyPath, "/admin/keys/x/-7/4", "/admin/keys/01a22c73-8af0-75c2-8076-c03278e2791b/x/4", "/admin/keys/01a22c73-8af0-75c2-8076-c03278e2791b/-7/70000"} {
		if got := b.get(path); got.status != 404 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	b.desk.keysFake.keys = []domain.KeyRecord{aKey(t, b.now)}
	b.get(aKeyPath)
	b.want(200, aKeyPath, "key-facts", "timeline-empty")
	b.desk.timeline.Events = told(b.now, domain.KeyClaimed, domain.KeyCalling, domain.KeyStopped, domain.KeyTakenOver, domain.KeyCalling, domain.KeyCalled, domain.KeyFinished, domain.KeyReplayed)
	for i := range b.desk.timeline.Events {
		b.desk.timeline.Events[i].Attempt = int64(1 + i/3)
		b.desk.timeline.Events[i].Step = "charge"
	}
	b.desk.timeline.Events[4].Attempt, b.desk.timeline.Events[5].Attempt = 2, 2
	b.desk.timeline.Events[5].Detail = "card_declined"
	b.desk.mismatches = []domain.KeyMismatch{{ID: 3, Scope: b.desk.keysFake.keys[0].Scope, Key: "01a22c73-8af0", Fields: []string{"amount"}, Times: 2}}
	b.get(aKeyPath)
	b.want(200, aKeyPath, "key-facts", "event-claimed", "event-taken_over", "event-replayed", "call", "mismatch-row")
	if n := strings.Count(b.last.body, `data-testid="call"`); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
	for _, want := range []string{"no answer yet", "card_declined", "The bank said no", "0a1b2c3d4e5f", "/v1/payments/7", "attempt 2"} {
		if !strings.Contains(b.last.body, want) {
			t.Errorf("the page does not tell %q", want)
		}
	}
	running := aKey(t, b.now)
	running.State, running.LeaseLeft, running.Steps, running.Looks, running.LookAt = domain.Running, 12*time.Second, []string{"reserve"}, 3, b.now
	b.desk.keysFake.keys = []domain.KeyRecord{running}
	if page := b.get("/nl" + aKeyPath).body; !strings.Contains(page, "Loopt") || !strings.Contains(page, "12s") || !strings.Contains(page, "3 keer vergeefs") || !strings.Contains(page, "reserve") {
		t.Error("an unfinished key is not told as such")
	}
}

// TestASearchThatStopsSaysSo: what was not looked at yet is not said to be missing.
func TestASearchThatStopsSaysSo(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	for older, said := range map[string]string{"": "Nothing matches.", "0_1_1": "Older ones have not been looked at yet."} {
		b.desk.older = older
		b.get("/admin/keys?q=beta")
		b.want(200, "/admin/keys?q=beta", "list-empty")
		if !strings.Contains(b.last.body, said) || b.last.has("older") != (older != "") {
			t.Errorf("with %q older: %s", older, b.last.body)
		}
	}
}

// TestAMismatchIsExplainedOnce covers a double click: the second press changes nothing.
func TestAMismatchIsExplainedOnce(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.get("/admin/mismatches")
	b.want(200, "/admin/mismatches", "list-empty")
	for n := range int64(50) {
		b.desk.mismatches = append(b.desk.mismatches, domain.KeyMismatch{ID: n + 1, Scope: aKey(t, b.now).Scope, Key: "01a22c73-8af0", Endpoint: "POST /v1/orders", Times: 1})
	}
	b.get("/admin/mismatches?before=9_1")
	b.want(200, "/admin/mismatches?before=9_1", "mismatch-row", "older", "newer", "explain-7", "filter-explained")
	if b.desk.listing.Before != "9_1" || b.desk.listing.State != "" || !strings.Contains(b.last.body, "before=5_3") || !strings.Contains(b.last.body, "after=7_9") {
		t.Errorf("asked for %+v", b.desk.listing)
	}
	b.get("/admin/mismatches/7/explain")
	path, form := b.last.form(t, b.last.path)
	b.post(path, form)
	if b.last.status != 422 || !b.last.has("error-note") {
		t.Errorf("without a word: %d", b.last.status)
	}
	form.Set("note", strings.Repeat("x", 501))
	if got := b.post(path, form); got.status != 422 {
		t.Errorf("too long: %d", got.status)
	}
	for _, note := range []string{"A test of theirs.", "Something else."} {
		form.Set("note", note)
		b.post(path, form)
		b.want(200, "/admin/mismatches?state=explained", "mismatch-row")
	}
	if got := b.desk.mismatches[6]; got.Note != "A test of theirs." || got.ExplainedBy != "staff" || !strings.Contains(b.last.body, "A test of theirs.") {
		t.Errorf("got %+v", got)
	}
	if len(b.desk.actions) == 0 || b.desk.actions[len(b.desk.actions)-1].Action != "explain" || b.desk.actions[len(b.desk.actions)-1].About != "7" {
		t.Errorf("who did it is not noted: %+v", b.desk.actions)
	}
	if b.get(path); !strings.Contains(b.last.body, "This was explained already") {
		t.Error("the form does not say that it is done")
	}
	for _, path := range []string{"/admin/mismatches/99/explain", "/admin/mismatches/x/explain", "/admin/mismatches/7/explain/x"} {
		if got := b.get(path); got.status != 404 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	other := url.Values{"note": {"x"}}
	if got := b.do(http.MethodPost, path, other, http.Header{"Idempotency-Key": {"01a22c73-0000-75c2-8076-c03278e2791b"}}); got.status != 400 {
		t.Errorf("a key that is not the form's: %d", got.status)
	}
}

func TestTheDeskShowsTheDuplicateRate(t *testing.T) {
	t.Parallel()
	b := atTheDesk(t)
	b.get("/admin/duplicates")
	b.want(200, "/admin/duplicates", "list-empty")
	hour := b.now.Truncate(time.Hour)
	count := func(ago int, endpoint string, outcome domain.KeyEventKind, n int64) {
		b.desk.counts = append(b.desk.counts, domain.KeyCount{Hour: hour.Add(-time.Duration(ago) * time.Hour), Endpoint: endpoint, Outcome: outcome, Requests: n})
	}
	count(1, "POST /v1/orders", domain.KeyExecuted, 150)
	count(0, "POST /v1/orders", domain.KeyExecuted, 40)
	count(0, "POST /v1/orders", domain.KeyReplayed, 6)
	count(0, "POST /v1/orders", domain.KeyWaited, 2)
	count(0, "POST /v1/orders", domain.KeyInProgress, 1)
	count(0, "POST /v1/orders", domain.KeyMismatched, 1)
	count(0, "POST /v1/payments", domain.KeyExecuted, 99)
	count(0, "POST /v1/payments", domain.KeyReplayed, 1)
	for _, tt := range []struct{ path, orders, payments, line string }{
		{"/admin/duplicates", "4.5%", "1.0%", "5.0%"}, {"/nl/admin/duplicates", "4,5%", "1,0%", "5,0%"},
	} {
		page := b.get(tt.path).body
		for _, want := range []string{tt.orders, tt.payments, tt.line, ">200<", ">8<", ">1<", `data-testid="hours"`} {
			if !strings.Contains(page, want) {
				t.Errorf("%s does not tell %s", tt.path, want)
			}
		}
		if strings.Index(page, "POST /v1/orders") > strings.Index(page, "POST /v1/payments") {
			t.Error("the busiest endpoint is not first")
		}
	}
	if !b.desk.since.Equal(b.now.Add(-24 * time.Hour)) {
		t.Errorf("counted since %s", b.desk.since)
	}
	for name, want := range map[string]time.Duration{"hour": time.Hour, "week": 7 * 24 * time.Hour, "quarter": 90 * 24 * time.Hour, "nonsense": 24 * time.Hour} {
		b.get("/admin/duplicates?window=" + name)
		if !b.desk.since.Equal(b.now.Add(-want)) || b.last.has("hours") != (name == "week" || name == "nonsense") {
			t.Errorf("%s: counted since %s", name, b.desk.since)
		}
	}
	b.desk.counts = nil
	count(0, "POST /v1/orders", domain.KeyReplayed, 3)
	count(0, "POST /v1/orders", domain.KeyExecuted, 1)
	if page := b.get("/admin/duplicates").body; !strings.Contains(page, "bar-high") || !strings.Contains(page, fmt.Sprintf("%.1f%%", 75.0)) {
		t.Error("a rate that is too high does not stand out")
	}
}
