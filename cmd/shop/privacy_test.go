package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"example.com/eenmaal/api"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store/storetest"
	"example.com/eenmaal/web/admin"
	"example.com/eenmaal/web/ui"
)

// person is somebody whose every word can be found again. secrets are in no place at all; words are
// where the business needs them and nowhere else.
type person struct {
	name, email, street, city, message, token string
	bearer, cookie, orderToken, hookSecret    string
}

func newPerson() person {
	mark := "q" + strings.ReplaceAll(uuid.NewString(), "-", "")[:10]
	return person{name: "Naam" + mark, email: "mail" + mark + "@example.nl", street: "Straat" + mark + " 1", city: "Stad" + mark,
		message: "Bericht" + mark, token: "tok_kaart" + mark, bearer: "geheim" + mark + strings.Repeat("x", 32)}
}

func (p *person) words() map[string]string {
	return map[string]string{"name": p.name, "email": p.email, "street": p.street, "city": p.city, "message": p.message, "card token": p.token}
}

func (p *person) secrets() map[string]string {
	return map[string]string{"bearer key": p.bearer, "cookie": p.cookie, "webhook secret": p.hookSecret}
}

// cardNumber is the test number of every card scheme's examples.
const cardNumber = "4111111111111111"

// mayHold are the tables of the business, and of whom we talk to: what is in them is needed there.
var mayHold = map[string][]string{
	"orders": {"name", "email", "street", "city", "order token"}, "messages": {"name", "email", "message"},
	"mails": {"name", "email", "street", "city", "message", "order token"}, "drafts": {"name", "email", "street", "city", "card token"},
	"webhook_endpoints": {"webhook secret"},
}

// logbook is a log that several goroutines write.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// visit is one life with the shop: over the API and on the pages, with everything that can go wrong.
type visit struct {
	t *testing.T
	h http.Handler
	p *person
}

func (v visit) call(method, path, key, body string, header ...string) *httptest.ResponseRecorder {
	header = append(header, "Authorization", "Bearer "+v.p.bearer, "Content-Type", "application/json", "User-Agent", v.p.email)
	if key != "" {
		header = append(header, "Idempotency-Key", key)
	}
	return send(v.h, method, path, body, header...)
}

func (v visit) post(path string, form url.Values, header ...string) *httptest.ResponseRecorder {
	return send(v.h, "POST", path, form.Encode(), append(header, "Content-Type", "application/x-www-form-urlencoded", "User-Agent", v.p.name)...)
}

func (v visit) want(what string, w *httptest.ResponseRecorder, statuses ...int) {
	v.t.Helper()
	if !slices.Contains(statuses, w.Code) {
		v.t.Errorf("%s: %d %s, want %v", what, w.Code, w.Body, statuses)
	}
}

func newKey() string { return uuid.Must(uuid.NewV7()).String() }

func (v visit) overTheAPI() {
	p := v.p
	order := fmt.Sprintf(`{"email":%q,"name":%q,"address":{"line1":%q,"postal_code":"1012 AB","city":%q,"country":"NL"},"items":[{"sku":"mug","quantity":2}]}`,
		p.email, p.name, p.street, p.city)
	key := newKey()
	made := v.call("POST", "/v1/orders", key, order)
	v.want("order", made, 201)
	id := field(made, "id")
	v.want("its replay", v.call("POST", "/v1/orders", key, order, "Retry-Attempt", "1"), 201)
	v.want("a mismatch", v.call("POST", "/v1/orders", key, strings.Replace(order, p.name, p.name+"x", 1)), 409)
	v.want("an invalid order", v.call("POST", "/v1/orders", newKey(), strings.Replace(order, `"NL"`, `"`+p.city+`"`, 1)), 422)
	v.want("a broken body", v.call("POST", "/v1/orders", newKey(), order[:len(order)-1]), 400)
	v.want("an unknown field", v.call("POST", "/v1/orders", newKey(), `{"`+p.email+`":1}`), 400)
	v.want("a changed address", v.call("PATCH", "/v1/orders/"+id, newKey(), fmt.Sprintf(`{"address":{"line1":%q,"postal_code":"1012 AB","city":%q,"country":"NL"}}`, p.street, p.city)), 200)
	pay := func(token string) string {
		return fmt.Sprintf(`{"order_id":%q,"method":{"type":"card","token":%q}}`, id, token)
	}
	v.want("a card number for a token", v.call("POST", "/v1/payments", newKey(), pay(cardNumber)), 422)
	v.want("an unknown card", v.call("POST", "/v1/payments", newKey(), pay(p.token)), 402, 422, 503)
	v.want("a declined card", v.call("POST", "/v1/payments", newKey(), pay("tok_declined")), 402, 422)
	message := fmt.Sprintf(`{"name":%q,"email":%q,"message":%q}`, p.name, p.email, p.message)
	v.want("a message", v.call("POST", "/v1/contact-messages", newKey(), message), 201)
	v.want("a panic", v.call("POST", "/v1/contact-messages", newKey(), message, "X-Panic", "before_finish"), 503)
	v.want("a failure", v.call("POST", "/v1/contact-messages", newKey(), message, "X-Fail", "before_finish"), 503)
	hook := v.call("POST", "/v1/webhook-endpoints", newKey(), `{"url":"http://127.0.0.1:1/"}`)
	v.want("a webhook endpoint", hook, 201)
	told := send(v.h, "GET", "/v1/webhook-endpoints/"+field(hook, "id"), "", "Authorization", "Bearer "+p.bearer)
	p.hookSecret = strings.TrimPrefix(field(told, "secret")+field(hook, "secret"), "whsec_")
	for _, path := range []string{"/v1/" + p.email, "/" + p.name, "/orders/" + p.name + "?t=" + p.email, "/v1/orders/" + p.email + "?x=" + p.bearer, "/static/" + p.message} {
		v.want(path, v.call("GET", path, p.message+"-key", ""), 404)
	}
	v.want("a stranger", send(v.h, "GET", "/v1/orders/"+id, "", "Authorization", "Bearer "+p.name), 401)
}

func field(w *httptest.ResponseRecorder, name string) string {
	m := regexp.MustCompile(`"` + name + `":"([^"]*)"`).FindStringSubmatch(w.Body.String())
	if m == nil {
		return ""
	}
	return m[1]
}

func (v visit) onThePages(a *app) {
	p, attempt := v.p, newKey()
	basket := v.post("/basket", url.Values{"sku": {"mug"}, "quantity": {"1"}})
	v.want("basket", basket, 303)
	cookies := basket.Result().Cookies()
	if len(cookies) == 0 {
		v.t.Fatal("no cookie")
	}
	p.cookie = cookies[0].Value
	cookie := []string{"Cookie", cookies[0].Name + "=" + p.cookie}
	v.want("start", v.post("/checkout", url.Values{"attempt": {attempt}}, cookie...), 303)
	details := url.Values{"email": {p.email}, "name": {p.name}, "line1": {p.street}, "postal_code": {"1012 AB"}, "city": {p.city}, "country": {"NL"},
		"method": {ui.Methods(true)[0].Choice}}
	v.want("wrong details", v.post("/checkout/"+attempt, url.Values{"email": {p.message}}, cookie...), 422)
	v.want("details", v.post("/checkout/"+attempt, details, cookie...), 303)
	d, err := a.db.Draft(v.t.Context(), attempt)
	if err != nil {
		v.t.Fatal(err)
	}
	done := v.post("/checkout/"+attempt+"/pay", url.Values{"order_key": {d.OrderKey}, "payment_key": {d.PaymentKey}}, cookie...)
	v.want("pay", done, 303)
	order, found, err := a.db.OrderOf(v.t.Context(), domain.FlowConsumer("checkout", attempt).ID)
	if err != nil || !found {
		v.t.Fatalf("the page's order: %v, %v; it led to %s", found, err, done.Header().Get("Location"))
	}
	p.orderToken = order.Token
	v.want("the order", send(v.h, "GET", "/orders/"+order.Number+"?t="+order.Token, "", cookie...), 200)
	form := newKey()
	message := url.Values{"key": {form}, "name": {p.name}, "email": {p.email}, "message": {p.message}}
	v.want("a message", v.post("/contact/"+form, message), 303)
	v.want("another message with its key", v.post("/contact/"+form, url.Values{"key": {form}, "email": {p.email}, "message": {p.message + "!"}}), 409)
	v.want("a panic", v.post("/contact/"+newKey(), message, "X-Panic", "before_finish"), 503, 303, 409)
	v.want("a sign-in at the desk", v.post("/admin/sign-in", url.Values{"user": {p.email}, "password": {p.bearer}, "to": {"/admin/orders?q=" + p.email}}), 422)
	v.want("a search at the desk", send(v.h, "GET", "/admin/orders?q="+p.email, ""), 303)
	for range 200 {
		if v.post("/basket", url.Values{"sku": {p.name}, "quantity": {p.email}}).Code == 429 {
			return
		}
	}
	v.t.Error("never met the limit")
}

// withFaults lets a request panic or fail at a point. Every test calls from a line of its own, since
// they share a Redis and its buckets.
func withFaults(next http.Handler) http.Handler {
	id := uuid.New()
	line := fmt.Sprintf("[2001:db8:%x:%x::1]:1234", id[:2], id[2:4])
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = line
		ctx := fault.With(r.Context(), func(_ context.Context, point string) error {
			switch point {
			case r.Header.Get("X-Panic"):
				panic("at " + point)
			case r.Header.Get("X-Fail"):
				return fmt.Errorf("at %s", point)
			default:
				return nil
			}
		})
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// TestPersonalDataIsWhereTheBusinessNeedsItAndNowhereElse covers S31, S32 and S34: after everything that
// a customer can do, and that can go wrong, all that the shop has written is searched for him.
func TestPersonalDataIsWhereTheBusinessNeedsItAndNowhereElse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var book logbook
		p := newPerson()
		a := startApp(t, slog.New(slog.NewJSONHandler(&book, &slog.HandlerOptions{Level: slog.LevelDebug})), map[string]string{
			"DATABASE_URL": d.URL, "DATA_DIR": dirOf(t, d), "REDIS_URL": storetest.RedisURL(t), "API_CONSUMERS": "marked=" + p.bearer, "RATE_LIMIT_ADDRESS": "60",
			"ADMIN_PASSWORD_HASH": admin.HashPassword("correct horse battery")})
		if err := a.jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		v := visit{t, withFaults(a.handler()), &p}
		v.overTheAPI()
		v.onThePages(a)
		metrics := send(v.h, "GET", "/metrics", "").Body.String()
		if !strings.Contains(metrics, `jobs{state="waiting"}`) {
			t.Error("the metrics do not count the jobs")
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := a.jobs.Stop(ctx); err != nil {
			t.Error(err)
		}
		if err := a.registry.Drain(ctx); err != nil {
			t.Error(err)
		}
		if err := a.answers.Close(); err != nil { // copies what is queued
			t.Error(err)
		}
		a.answers = nil
		a.journal.Close() // writes what waits
		if p.hookSecret == "" || p.orderToken == "" || len(p.cookie) < 10 {
			t.Fatalf("nothing to search for: %+v", p)
		}

		copies, shop := dumpRedis(t), "eenmaal:"+a.db.Instance()+":"
		if !strings.Contains(copies, shop+"answer:") || !strings.Contains(copies, shop+"strangers:") {
			t.Error("the search in Redis finds nothing at all")
		}
		places := map[string]string{"the log": book.String(), "the metrics": metrics, "Redis": copies}
		tables := dumpTables(t, a)
		for name, text := range tables {
			places["table "+name] = text
		}
		for place, text := range places {
			search(t, place, text, p)
		}
		for table, what := range map[string]string{"orders": p.email, "messages": p.message, "mails": p.email, "drafts": p.street} {
			if !strings.Contains(tables[table], what) {
				t.Errorf("%s is not in table %s, where it belongs: the search is blind", what, table)
			}
		}
		for _, table := range []string{"idempotency_keys", "key_events", "mismatches", "river_job"} {
			if tables[table] == "" {
				t.Errorf("table %s is empty: nothing was searched", table)
			}
		}
		wantWiped(t, a, d)
	})
}

func dirOf(t *testing.T, d storetest.Database) string {
	if d.Dir != "" {
		return d.Dir
	}
	return t.TempDir()
}

// search looks for everything of a person in one place.
func search(t *testing.T, place, text string, p person) {
	t.Helper()
	table, _ := strings.CutPrefix(place, "table ")
	all := p.words()
	for what, secret := range p.secrets() {
		all[what] = secret
	}
	all["order token"] = p.orderToken
	for what, word := range all {
		for _, form := range []string{word, url.QueryEscape(word)} {
			if i := strings.Index(text, form); i >= 0 && !slices.Contains(mayHold[table], what) {
				t.Errorf("the %s is in %s: ...%s...", what, place, text[max(0, i-150):min(len(text), i+len(form)+50)])
				break
			}
		}
	}
	if strings.Contains(text, cardNumber) {
		t.Errorf("a card number is in %s", place)
	}
	for _, digits := range regexp.MustCompile(`\b[3-6]\d{12,18}\b`).FindAllString(text, -1) {
		if luhn(digits) {
			t.Errorf("what may be a card number is in %s: %s", place, digits)
		}
	}
}

// luhn reports whether digits have the check digit of a card's number.
func luhn(digits string) bool {
	sum := 0
	for i := range digits {
		n := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

// consumerID is the number of a page's flow, in the name of a copy and in the copy. It has as many digits
// as a card, by chance with a card's check digit.
var consumerID = regexp.MustCompile(`("c":|\{[0-9a-f-]{36}:)-?\d+`)

func dumpRedis(t *testing.T) string {
	t.Helper()
	options, err := redis.ParseURL(storetest.RedisURL(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	var all strings.Builder
	keys := client.Scan(t.Context(), 0, "*", 1000).Iterator()
	for keys.Next(t.Context()) {
		fmt.Fprintln(&all, consumerID.ReplaceAllString(keys.Val()+" "+client.Get(t.Context(), keys.Val()).Val(), "${1}CONSUMER"))
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// dumpTables reads every table: texts and bytes as text, numbers left out.
func dumpTables(t *testing.T, a *app) map[string]string {
	t.Helper()
	list := `SELECT name FROM sqlite_master WHERE type = 'table'`
	if a.db.Postgres() {
		list = `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace`
	}
	tables := map[string]string{}
	for _, row := range readAll(t, a, list) {
		name := row[0]
		var all strings.Builder
		for _, row := range readAll(t, a, `SELECT * FROM "`+name+`"`) {
			fmt.Fprintln(&all, strings.Join(row, "\x1f"))
		}
		tables[name] = all.String()
	}
	return tables
}

func readAll(t *testing.T, a *app, query string) (all [][]string) {
	t.Helper()
	rows, err := a.db.SQL().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := []string{}
		for _, v := range values {
			switch v := v.(type) {
			case string:
				row = append(row, v)
			case []byte:
				row = append(row, string(v))
			}
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// wantWiped turns the clock past every TTL and sweeps: of the answers nothing is left.
func wantWiped(t *testing.T, a *app, d storetest.Database) {
	t.Helper()
	clock := &storetest.Clock{}
	clock.Move(31 * 24 * time.Hour)
	later := d.Open(t, clock.Now)
	if _, err := later.Sweep(t.Context(), api.SweepRules(a.registry)); err != nil {
		t.Fatal(err)
	}
	for _, row := range readAll(t, a, `SELECT body, header, steps, input FROM idempotency_keys WHERE state <> 2`) {
		if text := strings.Join(row, ""); text != "" {
			t.Errorf("after its time the key table holds %q", text)
		}
	}
}

// TestNothingIsNamedForACard covers S31: no column and no field for a card's number, its code or date.
func TestNothingIsNamedForACard(t *testing.T) {
	t.Parallel()
	card := regexp.MustCompile(`(?i)\b(pan|card_?number|cardno|cvc2?|cvv2?|security_?code|exp(iry)?_?(month|year|date))\b`)
	if !card.MatchString(`json:"card_number"`) || !card.MatchString("    cvc text NOT NULL") {
		t.Fatal("the search is blind")
	}
	read := 0
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, entry fs.DirEntry, err error) error {
		ours := strings.HasSuffix(path, ".sql") || (strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"))
		if err != nil || entry.IsDir() || !ours {
			return err
		}
		text, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			return err
		}
		read++
		for line := range strings.Lines(string(text)) {
			if (strings.HasSuffix(path, ".sql") || strings.Contains(line, `json:"`)) && card.MatchString(line) {
				t.Errorf("%s: %s", path, line)
			}
		}
		return nil
	})
	if err != nil || read < 50 {
		t.Errorf("read %d files: %v", read, err)
	}
}
