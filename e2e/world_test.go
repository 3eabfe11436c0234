package e2e

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// world is one shop with everything around it: a proxy on each side and a witness of what it did.
type world struct {
	t    *testing.T
	db   database
	args []string // which part of the program the shop is; empty means all of it

	program string // the binary; empty means the shop as it is released
	env     settings
	shop    *process
	front   *proxy // between browsers and the shop
	bank    *proxy // between the shop and the payment provider
	news    *proxy // between the provider and the shop's inbox; nil when the provider sends no events
	pages   string // where the provider's own pages are
	psp     *process
	sql     *sql.DB
}

// newWorld starts a shop on db. Its provider is the one that all tests share, which outlives the shop.
func newWorld(t *testing.T, db database) *world {
	t.Helper()
	addr := freeAddress()
	return openWorld(&world{t: t, db: db, psp: provider, front: newProxy(t, addr)}, addr)
}

// newWorldOfItsOwn has a provider of its own. In the shared one a shop finds the charges of others when it
// compares the books, and calls for a person.
func newWorldOfItsOwn(t *testing.T, db database) *world {
	t.Helper()
	psp, err := startProcess([]string{"psp"}, settings{"DATA_DIR": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(psp.kill)
	addr := freeAddress()
	return openWorld(&world{t: t, db: db, psp: psp, front: newProxy(t, addr)}, addr)
}

// newWorldWithBank has a provider of its own, which sends its events to this shop and whose pages are on
// another site: to a browser, localhost is not 127.0.0.1.
func newWorldWithBank(t *testing.T, db database) *world {
	t.Helper()
	addr, bank := freeAddress(), freeAddress()
	w := &world{t: t, db: db, front: newProxy(t, addr), news: newProxy(t, addr)}
	w.pages = "http://" + strings.Replace(bank, "127.0.0.1", "localhost", 1)
	var err error
	w.psp, err = startProcess([]string{"psp"}, settings{
		"ADDR": bank, "DATA_DIR": t.TempDir(), "BASE_URL": w.front.url, "PSP_PUBLIC_URL": w.pages,
		"PSP_WEBHOOK_URL": w.news.url + "/v1/webhooks/simulated",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.psp.kill)
	return openWorld(w, addr)
}

func openWorld(w *world, addr string) *world {
	w.t.Helper()
	w.bank = newProxy(w.t, w.psp.addr)
	env := settings{
		"ADDR": addr, "BASE_URL": w.front.url, "DATA_DIR": w.db.dir, "DATABASE_URL": w.db.url, "PSP_URL": w.bank.url,
	}
	maps.Copy(env, w.env)
	w.env = env
	if w.pages != "" {
		w.env["PSP_PUBLIC_URL"] = w.pages
	}
	w.start()
	w.sql = w.db.open(w.t)
	return w
}

// start starts the shop, for the first time or again.
func (w *world) start() {
	w.t.Helper()
	w.shop = w.startAnother(nil)
}

// startAnother starts a process with the world's settings and these.
func (w *world) startAnother(more settings) *process {
	w.t.Helper()
	env := maps.Clone(w.env)
	maps.Copy(env, more)
	p, err := startProgram(cmp.Or(w.program, binary), w.args, env)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		p.kill()
		if w.t.Failed() {
			w.t.Logf("the shop printed:\n%s", p.out)
		}
	})
	return p
}

// counts is what a shop has done to the world. charges are those whose money the shop keeps, and refunds
// those of which it gave all back.
type counts struct{ orders, paid, charges, refunds, mails, messages int }

func (c counts) String() string {
	return fmt.Sprintf("%d orders, %d of them paid, %d charges, %d refunds, %d mails, %d messages",
		c.orders, c.paid, c.charges, c.refunds, c.mails, c.messages)
}

// once is one order, paid once.
var once = counts{orders: 1, paid: 1, charges: 1, mails: 1}

// wants waits until the counts are as they should be and looks again when every request has ended: a
// second effect may come late.
func (w *world) wants(want counts) {
	w.t.Helper()
	eventually(w.t, patience, func() string { return fmt.Sprintf("%s; there are %s", want, w.counts()) },
		func() bool { return w.counts() == want })
	w.front.running.Wait()
	w.bank.running.Wait()
	if w.news != nil {
		w.news.running.Wait()
	}
	time.Sleep(200 * time.Millisecond)
	if got := w.counts(); got != want {
		w.t.Fatalf("in the end there are %s, want %s", got, want)
	}
	w.stockAddsUp()
}

// counts reads the shop's database and the provider's ledger.
func (w *world) counts() counts {
	w.t.Helper()
	c := counts{
		orders: w.number("SELECT count(*) FROM orders"), paid: w.number("SELECT count(*) FROM orders WHERE status = 'paid'"),
		mails: w.number("SELECT count(*) FROM mails"), messages: w.number("SELECT count(*) FROM messages"),
	}
	for reference := range w.references() {
		for _, charge := range ledger(w.t, w.psp.addr, reference) {
			switch {
			case charge.Captured > charge.Refunded:
				c.charges++
			case charge.Refunded > 0:
				c.refunds++
			}
		}
	}
	return c
}

func (w *world) number(query string) (n int) {
	w.t.Helper()
	if err := w.sql.QueryRowContext(w.t.Context(), query).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// references are the order numbers in the database and all that the provider was asked with.
func (w *world) references() map[string]bool {
	w.t.Helper()
	all := map[string]bool{}
	for _, post := range w.bank.seen("/charges") {
		var asked struct{ Reference string }
		if err := json.Unmarshal([]byte(post.body), &asked); err != nil {
			w.t.Fatal(err)
		}
		all[asked.Reference] = true
	}
	rows, err := w.sql.QueryContext(w.t.Context(), "SELECT number FROM orders")
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var number string
		if err := rows.Scan(&number); err != nil {
			w.t.Fatal(err)
		}
		all[number] = true
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// stockAddsUp: what has left the stock is what was ordered. The demo sells 1000 of everything, and 3 lamps.
func (w *world) stockAddsUp() {
	w.t.Helper()
	wrong := w.number(`SELECT count(*) FROM products p WHERE p.stock + (SELECT coalesce(sum(l.quantity), 0) FROM order_lines l WHERE l.sku = p.sku)
		<> CASE p.sku WHEN 'lamp' THEN 3 ELSE 1000 END`)
	if wrong != 0 {
		w.t.Errorf("the stock of %d products is not what was there less what was ordered", wrong)
	}
}

type charge struct {
	Reference string
	Status    string
	Key       string `json:"idempotency_key"`
	Captured  int
	Refunded  int
}

// ledger asks the provider at addr for the charges of an order.
func ledger(t *testing.T, addr, reference string) []charge {
	t.Helper()
	var list struct{ Charges []charge }
	status, body := get(t, "http://"+addr+"/psp/v1/charges?reference="+url.QueryEscape(reference))
	if status != http.StatusOK {
		t.Fatalf("the ledger answers %d: %s", status, body)
	}
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	return list.Charges
}

func get(t *testing.T, address string) (status int, body []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, req)
}

func do(t *testing.T, req *http.Request) (status int, body []byte) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}
