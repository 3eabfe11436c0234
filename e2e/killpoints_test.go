package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// killFlow is what a client and its customer do. The shop is killed at every point of do; what comes
// before it is as it should be.
type killFlow struct {
	name   string
	bank   bool // the provider has pages and sends events
	before func(r *killRun) (id string)
	first  outcome // of before
	do     func(r *killRun, id string)
	want   outcome
}

// outcome is what has come of the one order; without a status there is none.
type outcome struct {
	status             string
	captured, refunded int
	charges, mails     int
}

var killFlows = []killFlow{
	{name: "Pay", before: nothing, do: func(r *killRun, _ string) { r.pay(r.order(), "automatic", "paid") },
		want: outcome{"paid", mugDelivered, 0, 1, 1}},
	{name: "CaptureAndRefund", before: func(r *killRun) string { return r.pay(r.order(), "manual", "authorized") },
		do: func(r *killRun, payment string) {
			var m struct{ ID string }
			r.ask("/v1/payments/"+payment+"/captures", "{}", http.StatusCreated, &m)
			r.ask("/v1/payments/"+payment+"/refunds", `{"amount":500}`, http.StatusAccepted, &m)
		},
		first: outcome{"awaiting_payment", 0, 0, 1, 0}, want: outcome{"paid", mugDelivered, 500, 1, 2}},
	{name: "SettledByTheBank", bank: true, before: (*killRun).order,
		do: func(r *killRun, order string) {
			var pay struct {
				NextAction struct {
					RedirectURL string `json:"redirect_url"`
				} `json:"next_action"`
			}
			r.ask("/v1/payments", `{"order_id":"`+order+`","method":{"type":"ideal"}}`, http.StatusAccepted, &pay)
			r.approve(pay.NextAction.RedirectURL)
		},
		first: outcome{"awaiting_payment", 0, 0, 0, 0}, want: outcome{"paid", mugDelivered, 0, 1, 1}},
	{name: "Cancel",
		before: func(r *killRun) string { id := r.order(); r.pay(id, "automatic", "paid"); return id },
		do: func(r *killRun, order string) {
			var cancellation struct{ ID string }
			r.ask("/v1/orders/"+order+"/cancellations", "", http.StatusCreated, &cancellation)
		},
		first: outcome{"paid", mugDelivered, 0, 1, 1}, want: outcome{"cancelled", mugDelivered, mugDelivered, 1, 3}},
}

// mugDelivered is the price of a mug with its delivery.
const mugDelivered = 2345

// goesOn says that a flow goes on from what is there before it.
func (f killFlow) goesOn() bool { return f.first != outcome{} }

// halved flows are killed at every second point on Postgres, and at the others on SQLite. For the page of
// evidence every flow is killed at every point on both.
func (f killFlow) halved() bool { return f.goesOn() && figures() == "" }

func nothing(*killRun) string { return "" }

func (r *killRun) order() (id string) {
	r.t.Helper()
	var order struct{ ID string }
	r.ask("/v1/orders", orderOf(r.email), http.StatusCreated, &order)
	return order.ID
}

func (r *killRun) pay(order, capture, status string) (id string) {
	r.t.Helper()
	var pay struct{ ID, Status string }
	r.ask("/v1/payments", `{"order_id":"`+order+`","method":{"type":"card","token":"tok_ok"},"capture":"`+capture+`"}`, http.StatusCreated, &pay)
	if pay.Status != status {
		r.t.Fatalf("the payment is %s, want %s", pay.Status, status)
	}
	return pay.ID
}

// The shop is killed, as by kill -9, at each point that it passes, in turn, and started again. Its client
// retries with the same keys. Whatever the moment was: one order, one charge, one mail, and every
// answer is the same for ever.
func TestKilledAtEveryPoint(t *testing.T) {
	for _, f := range killFlows {
		t.Run(f.name, func(t *testing.T) {
			eachDatabase(t, f.killAtEveryPoint)
		})
	}
}

func (f killFlow) killAtEveryPoint(t *testing.T, db database) {
	needMailServer(t)
	g, begin := newGround(t, db), time.Now()
	first, points := f.points(t, g)
	t.Logf("%d points, from number %d: %v", len(points), first, points)
	kills, want := killsAt{}, 0
	t.Run("at", func(t *testing.T) {
		for i, name := range points {
			if f.halved() && (first+i)%2 == 0 != (db.url == "") {
				continue
			}
			want++
			t.Run(fmt.Sprintf("%d_%s", first+i, name), func(t *testing.T) {
				t.Parallel()
				kills.note(f.killedAt(t, g, first+i))
			})
		}
	})
	// Jobs run side by side, so a number is not the same point every time. Each name has its turn.
	for _, name := range slices.Compact(slices.Sorted(slices.Values(points))) {
		if !f.goesOn() && kills.at(name) == 0 {
			t.Run(name, func(t *testing.T) {
				at, _ := f.killed(t, g, ",kill:"+name+":1")
				kills.note(at)
			})
		}
	}
	if n := kills.all(); n < want || want == 0 {
		t.Errorf("%d kills at %d points: the test is void", n, want)
	}
	keepFigures(t, "killpoints-"+f.name+"-"+db.name(), killFigures{Flow: f.name, Database: db.name(), Points: len(points),
		Names: len(slices.Compact(slices.Sorted(slices.Values(points)))), Kills: kills.count, Seconds: time.Since(begin).Seconds(), Failed: t.Failed()})
}

// killFigures is what came of one flow on one database.
type killFigures struct {
	Flow     string         `json:"flow"`
	Database string         `json:"database"`
	Points   int            `json:"points"` // that the flow passes
	Names    int            `json:"names"`  // of them that differ
	Kills    map[string]int `json:"kills"`  // by the name of the point
	Seconds  float64        `json:"seconds"`
	Failed   bool           `json:"failed"`
}

// points runs the flow undisturbed. It gives the points that do passes, and the number of the first.
func (f killFlow) points(t *testing.T, g ground) (first int, points []string) {
	t.Helper()
	t.Run("undisturbed", func(t *testing.T) {
		r := newKillRun(t, g, f, "")
		r.patient = true
		id := f.before(r)
		r.settle(f.first)
		if f.goesOn() {
			first = len(r.passed())
		}
		f.do(r, id)
		r.settle(f.want)
		points = r.passed()[first:]
		r.verify(f.want)
	})
	if len(points) == 0 {
		t.Fatal("no points were passed")
	}
	return first + 1, points
}

// killedAt runs the flow with a kill at the nth point, and gives that point's name. A run that meets
// fewer points than expected, because nobody got in anybody's way, is done again with its last one.
func (f killFlow) killedAt(t *testing.T, g ground, n int) string {
	t.Helper()
	name, passed := f.killed(t, g, fmt.Sprintf(",kill@%d", n))
	for range 3 {
		if name != "" || passed >= n {
			break
		}
		n = passed
		name, passed = f.killed(t, g, fmt.Sprintf(",kill@%d", n))
	}
	if name == "" {
		t.Errorf("the shop did not die at point %d: the test is void", n)
	}
	return name
}

// killed runs the flow with a kill in it. It gives the name of the point, which is empty when there was
// no kill, and how many points were passed.
func (f killFlow) killed(t *testing.T, g ground, failpoints string) (name string, passed int) {
	t.Helper()
	r := newKillRun(t, g, f, failpoints)
	id := f.before(r)
	r.settle(f.first)
	f.do(r, id)
	r.settle(f.want)
	all, deaths := r.passed(), r.died()
	r.verify(f.want)
	if deaths > 1 {
		t.Fatalf("the shop died %d times, want once", deaths)
	}
	if deaths == 1 {
		name = all[len(all)-1]
	}
	return name, len(all)
}

// killsAt counts kills by the name of their point.
type killsAt struct {
	mu    sync.Mutex
	count map[string]int
}

// note counts a kill; without a name there was none.
func (k *killsAt) note(name string) {
	if name == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.count == nil {
		k.count = map[string]int{}
	}
	k.count[name]++
}

func (k *killsAt) at(name string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.count[name]
}

func (k *killsAt) all() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range k.count {
		n += one
	}
	return n
}
