package e2e

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// office is a shop whose jobs talk to others: a mail server, the provider, and a consumer that wants to
// be told of events. On Postgres a process of its own works on the jobs; on SQLite it is the shop.
type office struct {
	*world
	mails  mailServer
	link   *mailLink // between the shop and the mail server
	hooks  *proxy    // between the shop and the consumer
	worker *process
	email  string // of every customer
}

func newOffice(t *testing.T, db database, more settings) *office {
	t.Helper()
	o := &office{mails: needMailServer(t), email: strings.ToLower(rand.Text()) + "@example.nl"}
	o.link = newMailLink(t, o.mails)
	consumer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(consumer.Close)
	o.hooks = newProxy(t, strings.TrimPrefix(consumer.URL, "http://"))
	more["SMTP_URL"] = o.link.url
	addr := freeAddress()
	o.world = &world{t: t, db: db, psp: provider, front: newProxy(t, addr), env: more}
	if db.url != "" {
		o.args = []string{"serve"}
	}
	openWorld(o.world, addr)
	o.worker = o.shop
	if db.url != "" {
		o.startWorker()
	}
	got := o.client().postUntilFinal("/v1/webhook-endpoints", newKey(), `{"url":"`+o.hooks.url+`/told","events":["order.paid","refund.succeeded"]}`)
	if got.status != http.StatusCreated {
		t.Fatalf("the endpoint is answered with %d: %s", got.status, got.body)
	}
	return o
}

func (o *office) client() client { return client{o.t, "http://" + o.shop.addr} }

// startWorker starts a worker in the place of one that is no more.
func (o *office) startWorker() {
	o.t.Helper()
	if o.db.url == "" {
		o.start()
		o.worker = o.shop
		return
	}
	p, err := launch([]string{"worker"}, o.env)
	if err != nil {
		o.t.Fatal(err)
	}
	o.worker = p
	o.t.Cleanup(func() {
		p.kill()
		if o.t.Failed() {
			o.t.Logf("the worker printed:\n%s", p.out)
		}
	})
}

// terminate asks the worker to stop, and returns when it has heard it.
func (o *office) terminate() {
	o.t.Helper()
	if err := o.worker.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		o.t.Fatal(err)
	}
	eventually(o.t, 10*time.Second, func() string { return "the worker is stopping" },
		func() bool { return strings.Contains(o.worker.out.String(), "stopping") })
}

// refundAmount is a part of what is paid, so that there could be a second refund.
const refundAmount = 500

// sell lets a customer pay an order and asks for a part of the money back. It makes three jobs that
// reach outside: a mail, a delivery and a refund. The refund makes two more.
func (o *office) sell() (number string) {
	o.t.Helper()
	c := o.client()
	order, number := c.orderFor(o.email, newKey())
	paid := c.postUntilFinal("/v1/payments", newKey(), payment(order, "tok_ok"))
	var pay struct{ ID, Status string }
	if err := json.Unmarshal([]byte(paid.body), &pay); err != nil || pay.Status != "paid" {
		o.t.Fatalf("paying is answered with %d: %s", paid.status, paid.body)
	}
	refund := c.postUntilFinal("/v1/payments/"+pay.ID+"/refunds", newKey(), fmt.Sprintf(`{"amount":%d}`, refundAmount))
	if refund.status != http.StatusAccepted {
		o.t.Fatalf("the refund is answered with %d: %s", refund.status, refund.body)
	}
	return number
}

// trouble is what holds the jobs.
type trouble struct{ mail, bank, hook holder }

func newTrouble(release chan struct{}) *trouble {
	return &trouble{mail: holder{release: release}, bank: holder{release: release}, hook: holder{release: release}}
}

// holdRequests holds every job before its work was done, until heal.
func (o *office) holdRequests() *trouble {
	all := newTrouble(nil)
	o.link.on(all.mail.wait, nil)
	o.bank.on("/refunds", -1, all.bank.request)
	o.hooks.on("/told", -1, all.hook.request)
	return all
}

// holdAnswers holds every job when its work is done and it does not know. A nil channel holds until heal.
func (o *office) holdAnswers(release chan struct{}) *trouble {
	all := newTrouble(release)
	o.link.on(nil, all.mail.wait)
	o.bank.on("/refunds", -1, all.bank.answer)
	o.hooks.on("/told", -1, all.hook.answer)
	return all
}

func (o *office) heal() {
	o.link.heal()
	o.bank.heal()
	o.hooks.heal()
}

// awaitHeld waits until a job of each kind is held.
func (o *office) awaitHeld(all *trouble) {
	o.t.Helper()
	held := func() []int32 { return []int32{all.mail.now.Load(), all.bank.now.Load(), all.hook.now.Load()} }
	eventually(o.t, 2*patience, func() string { return fmt.Sprintf("a mail, a refund and a delivery are held; there are %v", held()) },
		func() bool { return !slices.Contains(held(), 0) })
}

// jobs counts those in some state.
func (o *office) jobs(condition string) int {
	o.t.Helper()
	return o.number("SELECT count(*) FROM river_job WHERE " + condition)
}

// finish waits until every job is completed; none may be given up.
func (o *office) finish(within time.Duration) {
	o.t.Helper()
	begin := time.Now()
	eventually(o.t, within, func() string {
		return fmt.Sprintf("every job is completed; %d are not", o.jobs("state <> 'completed'"))
	},
		func() bool { return o.jobs("state <> 'completed'") == 0 })
	o.t.Logf("everything was done after %s", time.Since(begin).Round(time.Second))
}

// texts are the values of a column of text.
func (o *office) texts(query string) (list []string) {
	o.t.Helper()
	rows, err := o.sql.QueryContext(o.t.Context(), query)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			o.t.Fatal(err)
		}
		list = append(list, text)
	}
	if err := rows.Err(); err != nil {
		o.t.Fatal(err)
	}
	return list
}
