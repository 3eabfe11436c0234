package web_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web"
)

// rowID is the nth id of a kind, in the order of time.
func rowID(kind, n int) string { return fmt.Sprintf("%08d-0000-7000-8000-%012d", kind, n) }

// inTrouble signs in where everything that can go wrong has: one of each.
func inTrouble(t *testing.T) *bundle {
	t.Helper()
	b := atTheDesk(t)
	b.payments[0].Status = domain.PaymentUnknown
	s := &b.desk.support
	s.flags = []domain.Attention{
		{ID: rowID(1, 1), Kind: "paid_in_vain", About: b.payments[0].ID, Note: "paid twice", CreatedAt: b.now.Add(-3 * time.Hour)},
		{ID: rowID(1, 2), Kind: domain.PaymentInDoubt, About: b.payments[0].ID, Note: "order EM-7K4Q-1M", CreatedAt: b.now.Add(-72 * time.Hour)},
		{ID: rowID(1, 3), Kind: "old", About: "x", Note: "long ago", CreatedAt: b.now, SettledAt: b.now, SettledBy: "piet"},
	}
	s.messages = []domain.Message{{ID: rowID(2, 1), Reference: "C-58", Name: "Sanne", Email: "sanne@example.nl", Text: "Is the mug blue?", CreatedAt: b.now}}
	s.mails = []domain.Mail{
		{ID: rowID(3, 1), MessageID: "m1@shop", Subject: "Je bestelling is betaald", Language: "nl", To: "sanne@example.nl", Text: "Thank you.", CreatedAt: b.now, DeadAt: b.now},
		{ID: rowID(3, 2), MessageID: "m2@shop", Subject: "Money back", To: "eva@example.nl", Text: "Here.", CreatedAt: b.now, SentAt: b.now},
	}
	s.events = []domain.InboxEvent{
		{ID: rowID(4, 1), Provider: "simulated", EventID: "evt_1", Type: "charge.succeeded", Body: []byte(`{"amount":12345678901234567890}`), Event: "{}", State: domain.EventPoison, Note: "amount differs", PaymentID: b.payments[0].ID, ReceivedAt: b.now},
		{ID: rowID(4, 2), Provider: "simulated", EventID: "sha256:x", Type: "", Body: []byte("not \xff JSON"), State: domain.EventPoison, Note: "unreadable", ReceivedAt: b.now},
	}
	s.endpoints = []domain.WebhookEndpoint{{ID: rowID(5, 1), URL: "https://hook.example/in", ConsumerName: "alpha", CreatedAt: b.now}}
	s.deliveries = []domain.Delivery{{ID: rowID(6, 1), EventID: rowID(7, 1), EventType: "order.paid", EndpointID: rowID(5, 1), State: domain.DeliveryDead, Tries: 9, LastStatus: 503, LastError: domain.ReceiverRefuses, CreatedAt: b.now}}
	s.jobs = []domain.DeadJob{{ID: 1, Kind: "send_mail", About: rowID(3, 1), Tries: 25, Error: "550 no such user", EndedAt: b.now}}
	return b
}

// deskLists are the desk's lists, each with a row of inTrouble and a filter.
var deskLists = []struct{ path, row, filter string }{
	{"/admin/attention", "flag-row", "settled"}, {"/admin/messages", "message-row", "answered"}, {"/admin/mails", "mail-row", "dead"},
	{"/admin/inbox", "inbox-row", "parked"}, {"/admin/deliveries", "delivery-row", "dead"}, {"/admin/endpoints", "endpoint-row", ""},
}

// TestEveryListOfTheDeskTellsWhatItHas: rows, none, none that match, more than a page, and a database that
// is not there; in both languages.
func TestEveryListOfTheDeskTellsWhatItHas(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "/nl"} {
		full, empty := inTrouble(t), atTheDesk(t)
		s := &full.desk.support
		for _, list := range deskLists {
			full.get(prefix + list.path)
			full.want(200, prefix+list.path, list.row)
			empty.get(prefix + list.path)
			empty.want(200, prefix+list.path, "list-empty")
			if list.filter != "" {
				full.get(prefix + list.path + "?state=" + list.filter + "&q=none@x.nl&state=odd")
				if got := s.asked[len(s.asked)-1]; got.State != list.filter || got.Limit != 50 {
					t.Errorf("%s asked for %+v", list.path, got)
				}
				full.want(200, prefix+list.path, "filter-"+list.filter)
			}
			full.get(prefix + list.path + "?state=odd&before=" + rowID(9, 9))
			full.want(200, prefix+list.path, list.row)
			if got := s.asked[len(s.asked)-1]; got.State != "" || got.Before != rowID(9, 9) {
				t.Errorf("%s asked for %+v", list.path, got)
			}
		}
		for _, path := range []string{"/admin/dead", "/admin/jobs"} {
			full.get(prefix + path)
			full.want(200, prefix+path, "job-row")
			empty.get(prefix + path)
			empty.want(200, prefix+path, "list-empty")
		}
		full.get(prefix + "/admin/dead")
		full.want(200, prefix+"/admin/dead", "dead-mails", "dead-deliveries", "dead-events", "dead-jobs")
		if !strings.Contains(full.last.body, "1000+") {
			t.Error("a count that stops does not say so")
		}
		s.perPage, s.messages = 1, append(s.messages, domain.Message{ID: rowID(2, 2), Reference: "C-59", Text: "Second", CreatedAt: full.now})
		full.get(prefix + "/admin/messages?q=C-")
		full.want(200, prefix, "older")
		if want := "before=" + rowID(2, 2) + "&amp;q=C-"; !strings.Contains(full.last.body, want) {
			t.Errorf("the next page is not at %s", want)
		}
		full.readFails = errors.New("the database is gone")
		for _, list := range append(deskLists, struct{ path, row, filter string }{"/admin/dead", "", ""}) {
			full.get(prefix + list.path)
			full.want(503, prefix+list.path, "problem")
		}
	}
}

// TestEveryThingOfTheDeskHasItsPage, and an address that names nothing has none.
func TestEveryThingOfTheDeskHasItsPage(t *testing.T) {
	t.Parallel()
	b := inTrouble(t)
	for path, says := range map[string][]string{
		"/admin/attention/" + rowID(1, 1):    {"paid twice", "/admin/orders/EM-7K4Q-1M", "Check that the refund arrives", `data-testid="settle"`},
		"/admin/attention/" + rowID(1, 2):    {"Look the order number up", `data-testid="not-charged"`},
		"/admin/attention/" + rowID(1, 3):    {"long ago", "piet"},
		"/admin/messages/" + rowID(2, 1):     {"Is the mug blue?", `href="mailto:sanne@example.nl?subject=C-58"`, `data-testid="answered"`},
		"/admin/mails/" + rowID(3, 1):        {"Thank you.", `<h1 lang="nl">`, `<pre lang="nl"`, "m1@shop", `data-testid="send-again"`},
		"/admin/inbox/" + rowID(4, 1):        {"12345678901234567890", "amount differs", "/admin/orders/EM-7K4Q-1M", `data-testid="try-again"`},
		"/admin/inbox/" + rowID(4, 2):        {"not \uFFFD JSON", `data-testid="event-unreadable"`},
		"/admin/deliveries/" + rowID(6, 1):   {"https://hook.example/in", "503", "receiver_refuses", `data-testid="redeliver"`},
		"/nl/admin/attention/" + rowID(1, 1): {"Controleer of de terugbetaling aankomt"},
	} {
		b.get(path)
		b.want(200, path)
		for _, s := range says {
			if !strings.Contains(b.last.body, s) {
				t.Errorf("%s does not say %q", path, s)
			}
		}
	}
	for path, not := range map[string]string{"/admin/mails/" + rowID(3, 2): "send-again", "/admin/inbox/" + rowID(4, 2): "try-again",
		"/admin/attention/" + rowID(1, 3): "settle", "/admin/attention/" + rowID(1, 2): "settle"} {
		if b.get(path).has(not) {
			t.Errorf("%s offers %s", path, not)
		}
	}
	for _, path := range []string{"/admin/attention/x", "/admin/messages/' OR 1=1", "/admin/mails/" + rowID(9, 9), "/admin/inbox/1", "/admin/deliveries/1", "/admin/deliveries/x/redeliver"} {
		b.get(strings.ReplaceAll(path, " ", "%20"))
		b.want(404, "")
	}
}

// TestAPressAtTheDeskCountsOnce: the same form sent twice, and a form of another tab, do one thing; who was
// first is shown, and kept.
func TestAPressAtTheDeskCountsOnce(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct{ action, did, then, noted string }{
		"/admin/attention/" + rowID(1, 1): {"/settle", "settled by staff", "settled-by", "settle"},
		"/admin/messages/" + rowID(2, 1):  {"/answered", "answered by staff", "answered-by", "answered"},
		"/admin/mails/" + rowID(3, 1):     {"/send", "sent again by staff", "mail-waiting", "send_again"},
		"/admin/inbox/" + rowID(4, 1):     {"/try", "tried again by staff", "event-received", "try_again"},
	} {
		b := inTrouble(t)
		post, form := b.get(path).form(t, want.action)
		_, other := b.get(path).form(t, want.action)
		for _, f := range []url.Values{form, form, other} {
			b.post(post, f)
			b.want(200, path, want.then)
		}
		if got := b.desk.support.did; !slices.Equal(got, []string{want.did}) {
			t.Errorf("%s did %v", path, got)
		}
		if n := b.desk.actions; len(n) != 2 || n[0].Action != want.noted || n[0].Staff != "staff" || path != path[:strings.LastIndex(path, "/")+1]+n[0].About {
			t.Errorf("%s noted %+v", path, n)
		}
		if b.post(post, url.Values{}); b.last.status != 400 {
			t.Errorf("%s without a key: %d", path, b.last.status)
		}
		b.desk.noteFails = errors.New("the database is gone")
		if b.post(post, other); b.last.status != 503 {
			t.Errorf("%s that cannot be noted: %d", path, b.last.status)
		}
	}
}

// TestAPaymentInDoubtIsSettledInTwoSteps, once for a double click.
func TestAPaymentInDoubtIsSettledInTwoSteps(t *testing.T) {
	t.Parallel()
	b, path := inTrouble(t), "/admin/attention/"+rowID(1, 2)
	b.get(path + "/not-charged")
	b.want(200, path+"/not-charged", "action-form", "do")
	if b.payments[0].Status != domain.PaymentUnknown {
		t.Fatal("looking at the form settles it")
	}
	post, form := b.last.form(t, "/not-charged")
	for range 2 {
		b.post(post, form)
		b.want(200, path, "settled-by")
	}
	if got := b.desk.support.did; !slices.Equal(got, []string{"not_charged by staff"}) || b.payments[0].Status != domain.PaymentFailed {
		t.Errorf("did %v; the payment is %s", got, b.payments[0].Status)
	}
	b.get(path + "/not-charged") // there is nothing to settle any more
	b.want(200, path, "settled-by")
	b.get("/admin/attention/" + rowID(1, 1) + "/not-charged") // of another kind
	b.want(200, "/admin/attention/"+rowID(1, 1), "settle")
}

// TestARedeliveryIsAskedForOnce for one form; a second form, while it is on its way, is told so.
func TestARedeliveryIsAskedForOnce(t *testing.T) {
	t.Parallel()
	b, path := inTrouble(t), "/admin/deliveries/"+rowID(6, 1)
	open := func() (string, url.Values) {
		b.get(path + "/redeliver")
		b.want(200, path+"/redeliver/", "action-form")
		return b.last.form(t, strings.TrimPrefix(b.last.path, path))
	}
	post, form := open()
	later, other := open()
	for range 2 {
		b.post(post, form)
		b.want(200, path, "delivery-pending")
	}
	b.post(later, other)
	b.want(422, later, "action-problem")
	if got := b.desk.support.did; !slices.Equal(got, []string{"redelivered"}) {
		t.Errorf("did %v", got)
	}
}

// TestHostileTextIsText covers S21 at the desk: whatever people, providers and receivers write is shown,
// and adds nothing to a page or a link.
func TestHostileTextIsText(t *testing.T) {
	t.Parallel()
	b := inTrouble(t)
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>'javascript:alert(1)`
	s := &b.desk.support
	s.flags[0].Note, s.flags[0].About, s.flags[0].Kind = evil, evil, evil
	s.messages[0].Name, s.messages[0].Email, s.messages[0].Text, s.messages[0].Reference = evil, evil+"?bcc=a@b.c&body=x", evil, evil+"&bcc=a@b.c"
	s.mails[0].Subject, s.mails[0].To, s.mails[0].Text = evil, evil, evil
	s.events[0].Type, s.events[0].EventID, s.events[0].Note, s.events[0].Body = evil, evil, evil, []byte(evil)
	s.endpoints[0].URL, s.endpoints[0].ConsumerName = "javascript:alert(1)//"+evil, evil
	s.deliveries[0].EventType, s.deliveries[0].LastError = evil, evil
	s.jobs[0].Error, s.jobs[0].About = evil, evil
	for _, path := range []string{"/admin/attention", "/admin/messages", "/admin/mails", "/admin/inbox", "/admin/deliveries", "/admin/endpoints", "/admin/dead", "/admin/jobs",
		"/admin/attention/" + rowID(1, 1), "/admin/messages/" + rowID(2, 1), "/admin/mails/" + rowID(3, 1), "/admin/inbox/" + rowID(4, 1), "/admin/deliveries/" + rowID(6, 1),
		"/admin/messages?q=" + url.QueryEscape(evil)} {
		b.get(path)
		b.want(200, "/admin")
		for _, trouble := range []string{"<script>alert", "<img src=x", `href="javascript:`, "onerror=alert(1)>"} {
			if strings.Contains(b.last.body, trouble) {
				t.Errorf("%s holds %s", path, trouble)
			}
		}
		if to := mailLink.FindString(b.last.body); strings.Count(to, "?") > 1 || strings.Contains(to, "&amp;bcc") {
			t.Errorf("%s: a mail goes %s", path, to)
		}
	}
	if b.get("/admin/messages/" + rowID(2, 1)); mailLink.FindString(b.last.body) == "" {
		t.Error("there is no link for an answer")
	}
}

var mailLink = regexp.MustCompile(`href="mailto:[^"]*"`)

// TestAFileHoldsNoFormula covers S49: cells that a spreadsheet would reckon with are text, and everything
// else is as it was.
func TestAFileHoldsNoFormula(t *testing.T) {
	t.Parallel()
	b := inTrouble(t)
	cells := []string{"=1+1", "+31 20 1234567", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1+1", "\u200b=1", "＝1+1", "\"=1\"", "a,b;\"c\"\nd", "Één €", "fine", "=HYPERLINK(\"http://evil\",\"x\")", "'=1", ""}
	s := &b.desk.support
	s.messages, s.perPage = nil, 3
	for i, cell := range cells {
		s.messages = append(s.messages, domain.Message{ID: rowID(2, i+1), Reference: "C-1", Name: cell, Email: cell + "@example.nl", Text: cell, CreatedAt: b.now})
	}
	b.get("/admin/messages.csv")
	b.want(200, "/admin/messages.csv")
	if got := b.last.header; got.Get("Content-Type") != "text/csv; charset=utf-8; header=present" || got.Get("Content-Disposition") != `attachment; filename="messages-2026-11-30.csv"` || got.Get("Cache-Control") != "no-store" {
		t.Errorf("header %v", got)
	}
	rows, err := csv.NewReader(strings.NewReader(b.last.body)).ReadAll()
	if err != nil || len(rows) != len(cells)+1 || strings.Join(rows[0], " ") != "reference sent_at name email message answered_at answered_by" {
		t.Fatalf("%d rows, %v: %v", len(rows), err, rows[:1])
	}
	for i, row := range rows[1:] {
		cell := cells[len(cells)-1-i]
		want := cell
		if i := slices.Index(cells, cell); i < 9 || i == 13 {
			want = "'" + cell
		}
		if want = strings.ReplaceAll(want, "\r\n", "\n"); row[2] != want || row[4] != want || row[1] != "2026-11-30T13:05:00Z" || row[5] != "" {
			t.Errorf("%q is %q", cell, row)
		}
	}
	b.orders[0].Name, b.orders[0].Address.City = "=cmd|' /C calc'!A0", "-Amsterdam"
	b.get("/admin/orders.csv?q=EM-7K4Q-1M&status=paid")
	b.want(200, "/admin/orders.csv")
	if want := "EM-7K4Q-1M,2026-11-30T13:05:00Z,paid,41.95,4.95,EUR,sanne@example.nl,'=cmd|' /C calc'!A0,Damrak 1,1012 AB,'-Amsterdam,NL,en\n"; !strings.HasSuffix(b.last.body, want) {
		t.Errorf("got %s, want %s", b.last.body, want)
	}
	if b.get("/admin/orders.csv?status=cancelled"); strings.Count(b.last.body, "\n") != 1 {
		t.Errorf("a filter is not kept: %s", b.last.body)
	}
}

// TestAFileThatCannotBeEndedBreaksOff: a download that ends is whole.
func TestAFileThatCannotBeEndedBreaksOff(t *testing.T) {
	t.Parallel()
	b := inTrouble(t)
	s := &b.desk.support
	for n := range 40 {
		s.messages = append(s.messages, domain.Message{ID: rowID(2, n+2), Reference: "C-1", Text: strings.Repeat("text ", 200), CreatedAt: b.now})
	}
	s.perPage, s.breakAfter, s.parts = 10, 3, 0
	req, err := http.NewRequest(http.MethodGet, b.server.URL+"/admin/messages.csv", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := b.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if body, err := io.ReadAll(res.Body); err == nil || res.StatusCode != 200 || len(body) == 0 {
		t.Errorf("%d and %d bytes look whole", res.StatusCode, len(body))
	}
	b.desk.mu.Lock()
	s.breakAfter, s.parts = 1, 1
	b.desk.mu.Unlock()
	if b.get("/admin/messages.csv"); b.last.status != 503 || b.last.header.Get("Content-Disposition") != "" {
		t.Errorf("a file that does not begin: %d", b.last.status)
	}
}

// TestDeadLettersSayWhatCanBeTriedAgain: the page's sentence is true of everything that it lists.
func TestDeadLettersSayWhatCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	for prefix, said := range map[string]string{"": "Two kinds cannot be", "/nl": "Twee soorten kunnen dat niet"} {
		b := inTrouble(t)
		b.get(prefix + "/admin/dead")
		b.want(200, prefix+"/admin/dead", "dead-mails", "dead-deliveries", "dead-events", "dead-jobs")
		if !strings.Contains(b.last.body, said) {
			t.Errorf("%q does not say what cannot be tried again", prefix)
		}
		again := func(path, button string, possible bool) {
			t.Helper()
			if b.get(prefix + path); b.last.has(button) != possible {
				t.Errorf("%s can be tried again: %t", path, !possible)
			}
		}
		again("/admin/mails/"+rowID(3, 1), "send-again", true)
		again("/admin/inbox/"+rowID(4, 1), "try-again", true)
		again("/admin/inbox/"+rowID(4, 2), "try-again", false) // unreadable
		again("/admin/deliveries/"+rowID(6, 1), "redeliver", true)
		b.desk.support.endpoints[0].DeletedAt = b.now
		again("/admin/deliveries/"+rowID(6, 1), "redeliver", false)
	}
}

// TestWhatTheStaffDidIsSaidInItsLanguage: every deed has a word, and an unknown one is its own.
func TestWhatTheStaffDidIsSaidInItsLanguage(t *testing.T) {
	t.Parallel()
	for prefix, words := range map[string][]string{"": {"Refund", "Cancellation", "of old"}, "/nl": {"Terugbetaling", "Annulering", "of old"}} {
		b := atTheDesk(t)
		for _, code := range []string{"refund", "cancel", "of old"} {
			b.desk.actions = append(b.desk.actions, domain.StaffAction{Staff: "eva", Action: code, About: b.orders[0].ID, At: b.now})
		}
		b.get(prefix + "/admin/orders/EM-7K4Q-1M")
		b.want(200, prefix+"/admin/orders/EM-7K4Q-1M", "action-row")
		for _, word := range words {
			if !strings.Contains(b.last.body, "<td>"+word+"</td>") {
				t.Errorf("%q does not say %q", prefix, word)
			}
		}
	}
}

// TestAPressIsCounted, and a second one with its form as a duplicate. What the operations count is not counted
// here.
func TestAPressIsCounted(t *testing.T) {
	t.Parallel()
	var pressed []string
	b := setup(t, func(cfg *web.Config) {
		cfg.Desk.Pressed = func(action string, again bool) { pressed = append(pressed, fmt.Sprint(action, " ", again)) }
	})
	b.signIn("", "")
	b.desk.support.messages = []domain.Message{{ID: rowID(2, 1), Reference: "C-58", Text: "Hello", CreatedAt: b.now}}
	b.get("/admin/messages/" + rowID(2, 1))
	path, form := b.last.form(t, "/answered")
	for range 2 {
		b.post(path, form)
		b.want(200, "/admin/messages/"+rowID(2, 1), "answered-by")
	}
	b.desk.mismatches = []domain.KeyMismatch{{ID: 7, Scope: aKey(t, b.now).Scope}}
	b.get("/admin/mismatches/7/explain")
	path, form = b.last.form(t, b.last.path)
	form.Set("note", "A test of theirs.")
	for range 2 {
		b.post(path, form)
	}
	if got := strings.Join(pressed, ", "); got != "answered false, answered true, explain false, explain true" {
		t.Errorf("counted %s", got)
	}
}
