package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// deskRows fills the tables of the desk with n rows each: every hundredth is in trouble. Ids count up,
// as those that are made in the order of time do.
func deskRows(t *testing.T, db *store.DB, n int) {
	t.Helper()
	numbers, pad, bytes, now := "generate_series(1, %d) AS g(i)", "lpad(%s::text, 12, '0')", "'\\x00'::bytea", "now()"
	if !db.Postgres() {
		numbers = "(WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < %d) SELECT i FROM g) AS g"
		pad, bytes, now = "printf('%%012d', %s)", "x'00'", "datetime('now')"
	}
	from := " FROM " + fmt.Sprintf(numbers, n)
	id := func(kind int) string {
		of := fmt.Sprintf("('%08d-0000-7000-8000-' || ", kind) + fmt.Sprintf(pad, "i") + ")"
		if db.Postgres() {
			return of + "::uuid"
		}
		return of
	}
	trouble := "CASE WHEN i %% 100 = 0 THEN %s ELSE %s END"
	for _, statement := range []string{
		"INSERT INTO messages (id, reference, name, email, message, consumer_id, key, created_at, answered_at) SELECT " + id(1) +
			", 'C-' || i, '', 'a' || i || '@example.nl', 'Question ' || i, 1, " + id(1) + ", " + now + ", " + fmt.Sprintf(trouble, "NULL", now) + from,
		"INSERT INTO mails (id, message_id, kind, about, recipient, subject, body, created_at, sent_at, dead_at) SELECT " + id(2) +
			", i || '@shop', 'order_paid', " + id(2) + ", 'a' || i || '@example.nl', 's', 'b', " + now + ", " +
			fmt.Sprintf(trouble, "NULL", now) + ", " + strings.Replace(fmt.Sprintf(trouble, now, "NULL"), "= 0", "= 0 AND i %% 200 = 0", 1) + from,
		"INSERT INTO inbox (id, provider, event_id, type, body, event, state, tries, note, payment_id, occurred_at, received_at) SELECT " + id(3) +
			", 'simulated', 'evt_' || i, 't', " + bytes + ", 'e', " + strings.Replace(fmt.Sprintf(trouble, "'poison'", "'applied'"), " ELSE", " WHEN i %% 100 = 50 THEN 'parked' ELSE", 1) + ", 1, '', " + id(3) + ", " + now + ", " + now + from,
		"INSERT INTO events (id, consumer_id, type, about, data, occurred_at) SELECT " + id(4) + ", 1, 'order.paid', " + id(4) + ", '{}', " + now + from,
		"INSERT INTO webhook_endpoints (id, consumer_id, slot, url, secret, events, key, created_at) SELECT " + id(5) +
			", 100 + i, 1, 'https://x.example/' || i, 'whsec_secret', '', " + id(5) + ", " + now + from,
		"INSERT INTO deliveries (id, event_id, endpoint_id, state, tries, retry_until, last_status, last_error, created_at) SELECT " + id(6) + ", " + id(4) + ", " + id(5) +
			", " + fmt.Sprintf(trouble, "'dead'", "'delivered'") + ", 1, " + now + ", 0, '', " + now + from,
		"INSERT INTO attention (id, kind, about, note, created_at, settled_at) SELECT " + id(7) + ", 'event_altered', " + id(3) + ", 'n', " + now + ", " +
			fmt.Sprintf(trouble, "NULL", now) + from,
	} {
		_, err := db.SQL().ExecContext(t.Context(), strings.ReplaceAll(statement, "%%", "%"))
		if err != nil {
			t.Fatalf("%v\n%s", err, statement)
		}
	}
	_, err := db.SQL().ExecContext(t.Context(), "ANALYZE")
	must(t, err)
}

// deskLists are all lists of the desk, each as the ids of a page.
func deskLists(db *store.DB) map[string]func(context.Context, domain.Listing) ([]string, string, error) {
	return map[string]func(context.Context, domain.Listing) ([]string, string, error){
		"attention":  idsOf(db.ListAttention, func(a domain.Attention) string { return a.ID }),
		"messages":   idsOf(db.ListMessages, func(m domain.Message) string { return m.ID }),
		"mails":      idsOf(db.ListMails, func(m domain.Mail) string { return m.ID }),
		"inbox":      idsOf(db.ListInbox, func(e domain.InboxEvent) string { return e.ID }),
		"deliveries": idsOf(db.ListDeliveries, func(d domain.Delivery) string { return d.ID }),
		"endpoints":  idsOf(db.ListWebhookEndpoints, func(e domain.WebhookEndpoint) string { return e.ID }),
	}
}

func idsOf[T any](list func(context.Context, domain.Listing) (domain.Part[T], error), id func(T) string) func(context.Context, domain.Listing) ([]string, string, error) {
	return func(ctx context.Context, l domain.Listing) (ids []string, older string, err error) {
		page, err := list(ctx, l)
		for _, row := range page.Items {
			ids = append(ids, id(row))
		}
		return ids, page.Older, err
	}
}

// deskSearches are the questions that the desk asks of each list.
var deskSearches = map[string][]domain.Listing{
	"attention": {{}, {State: domain.FlagSettled}},
	"messages": {{}, {State: domain.MessageOpen}, {State: domain.MessageAnswered}, {Text: "c-700"}, {Text: "A700@example.nl"},
		{Text: "question 700"}, {Text: "question", State: domain.MessageOpen}},
	"mails": {{}, {State: "waiting"}, {State: "sent"}, {State: "dead"}, {Text: "a700@EXAMPLE.nl"}, {Text: "EM-NONE-NONE"}},
	"inbox": {{}, {State: "applied"}, {State: "parked"}, {State: "poison"}, {State: "unreadable"}, {State: "altered"},
		{Text: "evt_700"}, {Text: "evt_700", State: "poison"}},
	"deliveries": {{}, {State: "delivered"}, {State: "pending"}, {State: "dead"}, {Text: "00000004-0000-7000-8000-000000000700"},
		{Text: "00000005-0000-7000-8000-000000000700"}},
	"endpoints": {{}},
}

// TestALongListIsReadPageByPage: every row once, newest first, whatever the page begins with.
func TestALongListIsReadPageByPage(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		deskRows(t, db, 1000)
		for name, list := range deskLists(db) {
			l, seen, last := domain.Listing{Limit: 300}, 0, "z"
			for pages := 0; ; pages++ {
				ids, older, err := list(t.Context(), l)
				must(t, err)
				for _, id := range ids {
					if id >= last {
						t.Fatalf("%s: %s comes after %s", name, id, last)
					}
					last = id
				}
				if seen += len(ids); older == "" || pages > 9 {
					break
				}
				l.Before = older
			}
			if want := map[string]int{"attention": 10}[name]; seen != want && (want != 0 || seen != 1000) {
				t.Errorf("%s: %d rows", name, seen)
			}
			wrong := domain.Cursor{Before: "' OR 1=1"}
			if _, _, err := list(t.Context(), domain.Listing{Cursor: wrong, Limit: 3}); domain.KindOf(err) != domain.Malformed {
				t.Errorf("%s: a cursor that is none gave %v", name, err)
			}
			if _, err := db.ListMessages(t.Context(), domain.Listing{Text: "words", Cursor: wrong, Limit: 3}); domain.KindOf(err) != domain.Malformed {
				t.Errorf("a search from a cursor that is none gave %v", err)
			}
		}
	})
}

// TestSearchFindsWhatItSays, and its states what is in them.
func TestSearchFindsWhatItSays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		deskRows(t, db, 1000)
		want := map[string][]int{"attention": {10, 990}, "messages": {1000, 10, 990, 1, 1, 1, 10}, "mails": {1000, 5, 990, 5, 1, 0},
			"inbox": {1000, 980, 10, 10, 0, 1000, 1, 1}, "deliveries": {1000, 990, 0, 10, 1, 1}, "endpoints": {1000}}
		for name, list := range deskLists(db) {
			for i, l := range deskSearches[name] {
				l.Limit = 2000
				ids, older, err := list(t.Context(), l)
				must(t, err)
				if len(ids) != want[name][i] || older != "" {
					t.Errorf("%s %+v: %d rows, want %d; older %q", name, l, len(ids), want[name][i], older)
				}
			}
		}
		if counts, err := db.DeskCounts(t.Context()); err != nil || counts != (domain.DeskCounts{Attention: 10, Unanswered: 10, DeadMails: 5, DeadDeliveries: 10, PoisonEvents: 10}) {
			t.Errorf("counts: %+v %v", counts, err)
		}
		endpoints, err := db.ListWebhookEndpoints(t.Context(), domain.Listing{Limit: 1})
		if err != nil || endpoints.Items[0].Secret != "" || endpoints.Items[0].URL == "" {
			t.Errorf("an endpoint's secret is read for a list: %v", err)
		}
	})
}

// TestATextStandsForItself: what is typed is searched for, wildcards and quotes included.
func TestATextStandsForItself(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		for _, text := range []string{"100% blue", "100 blue", "a_b", "axb", `back\slash`, "it's; DROP TABLE messages", "Één"} {
			m := message(db)
			m.ID, m.Text = uuid.Must(uuid.NewV7()).String(), text
			tx := db.Begin()
			tx.InsertMessage(m, scope(t))
			must(t, tx.Commit(t.Context()))
		}
		for text, want := range map[string]string{"100%": "100% blue", "A_B": "a_b", `k\s`: `back\slash`, "it's; drop": "it's; DROP TABLE messages", "Één": "Één"} {
			page, err := db.ListMessages(t.Context(), domain.Listing{Text: text, Limit: 9})
			must(t, err)
			if len(page.Items) != 1 || page.Items[0].Text != want {
				t.Errorf("%q found %+v", text, page.Items)
			}
		}
	})
}

// TestASearchLooksThroughSoManyAtATime: a text that only the oldest message holds is found by going on.
func TestASearchLooksThroughSoManyAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		deskRows(t, db, 2*store.SearchWindow+10)
		_, err := db.SQL().ExecContext(t.Context(), "UPDATE messages SET message = 'the needle' WHERE reference = 'C-5'")
		must(t, err)
		l, found := domain.Listing{Text: "needle", Limit: 10}, []int{}
		for {
			page, err := db.ListMessages(t.Context(), l)
			must(t, err)
			found = append(found, len(page.Items))
			if l.Before = page.Older; l.Before == "" {
				break
			}
		}
		if fmt.Sprint(found) != "[0 0 1]" {
			t.Errorf("found by page: %v", found)
		}
	})
}

// TestAListIsReadFromAnIndex: no page of the desk reads a table from end to end, or sorts what it read.
func TestAListIsReadFromAnIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		deskRows(t, db, 20000)
		explained := 0
		for name, searches := range deskSearches {
			for _, l := range searches {
				for _, l.Before = range []string{"", "00000009-0000-7000-8000-000000009000"} {
					l.Limit = 50
					plans := store.Explained(t.Context(), db, func(db *store.DB) {
						_, _, err := deskLists(db)[name](t.Context(), l)
						must(t, err)
					})
					explained += len(plans)
					for _, plan := range plans {
						byIndex(t, fmt.Sprintf("%s %+v", name, l), plan, l.Text == "c-700" || strings.HasPrefix(l.Text, "00000004"))
					}
				}
			}
		}
		counts := store.Explained(t.Context(), db, func(db *store.DB) { _, err := db.DeskCounts(t.Context()); must(t, err) })
		for _, plan := range counts {
			byIndex(t, "counts", plan, false)
		}
		if explained < 50 || len(counts) != 5 {
			t.Errorf("only %d and %d plans were seen", explained, len(counts))
		}
	})
}

// byIndex looks at the plan of a query. One that names a single thing may sort what little it found.
func byIndex(t *testing.T, what, plan string, single bool) {
	t.Helper()
	if sorts := strings.Contains(plan, "USE TEMP B-TREE") || strings.Contains(plan, "Sort Key"); sorts && !single {
		t.Errorf("%s sorts:\n%s", what, plan)
	}
	seen := false
	for table := range strings.SplitSeq("attention messages mails inbox events deliveries webhook_endpoints mismatches orders", " ") {
		seen = seen || strings.Contains(plan, table)
		if table != "orders" && (strings.Contains(plan, "Seq Scan on "+table) || strings.Contains(plan, "SCAN "+table+"\n")) {
			t.Errorf("%s reads all of %s:\n%s", what, table, plan)
		}
	}
	if !seen {
		t.Errorf("%s: no plan: %s", what, plan)
	}
}
