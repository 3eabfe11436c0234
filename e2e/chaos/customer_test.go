package chaos

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// customer buys one thing after the other, in ways that the seed decides.
type customer struct {
	world  *world
	number int
	rng    *rand.Rand
	paid   int // how often he has tried
}

func (c *customer) chance(percent int) bool { return c.rng.IntN(100) < percent }

// buys orders, pays and perhaps changes his mind.
func (c *customer) buys() {
	order := c.order()
	var placed struct{ ID, Number string }
	if !c.together(order, &placed, http.StatusCreated) {
		return // sold out, or the key went to the other payload
	}
	switch {
	case c.chance(5):
		var cancelled struct{ Status string }
		c.together(c.operation(order, "POST /v1/orders/{id}/cancellations", placed.ID, ""), &cancelled, 0)
		return
	case c.chance(3):
		return // never pays
	}
	c.pays(order, placed.ID)
}

// tokens are the ways to pay, with how many of a hundred choose each. Those of the pretend bank that
// make trouble are nemeses of their own.
var tokens = []struct {
	name  string
	share int
}{
	{"tok_ok", 46}, {"tok_declined", 8}, {"tok_slow", 2}, {"tok_charged_then_timeout", 8},
	{"tok_charged_then_500", 8}, {"tok_unavailable", 8}, {"ideal", 20},
}

// token is a way to pay, by chance; but the first customers between them begin with one of each, and then
// go to the bank, so that even a short run has them all.
func (c *customer) token() string {
	n := c.rng.IntN(100)
	switch c.paid++; c.paid {
	case 1:
		return tokens[c.number%len(tokens)].name
	case 2:
		return "ideal"
	}
	for _, t := range tokens {
		if n -= t.share; n < 0 {
			return t.name
		}
	}
	panic("the shares do not add up to 100")
}

func (c *customer) order() operation {
	sku, quantity := "mug", 1+c.rng.IntN(3)
	if c.chance(6) {
		sku, quantity = "lamp", 1
	}
	op := operation{consumer: "alpha", endpoint: "POST /v1/orders", path: "/v1/orders", key: newKey()}
	if c.chance(20) {
		op.key = "order:" + op.key // a key that does not tell its age
	}
	op.body, op.print = orderOf(sku, quantity), fmt.Sprintf("%d %s", quantity, sku)
	return op
}

func orderOf(sku string, quantity int) string {
	return fmt.Sprintf(`{"email":"sanne@example.nl","name":"Sanne de Vries","language":"nl",
		"address":{"line1":"Keizersgracht 1","postal_code":"1015 CJ","city":"Amsterdam","country":"NL"},
		"items":[{"sku":%q,"quantity":%d}]}`, sku, quantity)
}

// operation makes another one of the same consumer, about something that was made.
func (c *customer) operation(of operation, endpoint, id, body string) operation {
	_, path, _ := strings.Cut(endpoint, " ")
	return operation{consumer: of.consumer, endpoint: endpoint, path: strings.Replace(path, "{id}", id, 1), key: newKey(), body: body, print: body + id}
}

func (c *customer) pays(order operation, id string) {
	if c.paysWith(c.token(), order, id) == "declined" && c.chance(60) {
		c.world.fire("another card after a refusal", 1)
		c.paysWith("tok_ok", order, id)
	}
}

// paysWith gives the state of the payment, which is empty when there is none.
func (c *customer) paysWith(token string, order operation, id string) string {
	manual := c.chance(10)
	method, capture := fmt.Sprintf(`{"type":"card","token":%q}`, token), "automatic"
	if token == "ideal" {
		method, manual = `{"type":"ideal"}`, false
	}
	if manual {
		capture = "manual"
	}
	op := c.operation(order, "POST /v1/payments", "", fmt.Sprintf(`{"order_id":%q,"method":%s,"capture":%q}`, id, method, capture))
	op.away = token != "ideal" && c.chance(25)
	if token != "ideal" && !manual && !op.away && c.chance(5) {
		second := op // somebody pays the same order under another key: one of the two is refused
		second.key = newKey()
		defer c.beside(second)()
		c.world.fire("two payments of one order", 1)
	}
	var pay struct {
		ID, Status string
		NextAction struct {
			RedirectURL string `json:"redirect_url"`
		} `json:"next_action"`
	}
	if !c.together(op, &pay, 0) {
		return ""
	}
	if token != "tok_ok" && token != "tok_declined" {
		c.world.fire("provider: "+token, 1)
	}
	switch pay.Status {
	case "pending":
		c.atTheBank(pay.NextAction.RedirectURL)
	case "authorized":
		what := []string{"captures", "captures", "voids"}[c.rng.IntN(3)]
		var changed struct{ Status string }
		c.together(c.operation(order, "POST /v1/payments/{id}/"+what, pay.ID, ""), &changed, 0)
	case "paid":
		c.looksAtPaid(order, id, pay.ID)
	}
	return pay.Status
}

// looksAtPaid looks at what was paid, and perhaps wants money back.
func (c *customer) looksAtPaid(order operation, id, payment string) {
	var seen struct{ Status string }
	if c.world.read(order.consumer, "/v1/orders/"+id, &seen) && seen.Status != "paid" {
		c.world.violation("I14", "payment %s was answered with paid, and then order %s reads as %s", payment, id, seen.Status)
	}
	if c.chance(15) {
		var refund struct{ Status string }
		c.together(c.operation(order, "POST /v1/payments/{id}/refunds", payment, `{"amount":100}`), &refund, 0)
	}
}

// buttons of the pretend bank. What it says comes once, three times, late, before its answer, or after
// older news.
var buttons = []string{"approve", "approve", "decline", "cancel", "thrice", "late", "early", "disorder"}

// atTheBank presses a button until the bank has taken it.
func (c *customer) atTheBank(page string) {
	button := buttons[c.rng.IntN(len(buttons))]
	if c.paid == 2 {
		button = buttons[c.number%len(buttons)]
	}
	browser := http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for range 10 {
		resp, err := browser.PostForm(page, url.Values{"do": {button}})
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusSeeOther {
			c.world.fire("webhook: "+button, 1)
			return
		}
	}
	c.world.violation("harness", "the bank does not take %s at %s", button, page)
}

// together performs an operation, sometimes with company on its key, and reads its answer. It reports
// whether the operation has the wanted status; 0 is any.
func (c *customer) together(op operation, into any, status int) bool {
	var company []func()
	meet := func(percent int, nemesis string, others ...operation) {
		if !c.chance(percent) || op.away {
			return
		}
		c.world.fire(nemesis, 1)
		for _, other := range others {
			company = append(company, c.beside(other))
		}
	}
	meet(20, "twins on one key", op)
	meet(8, "triplets on one key", op, op)
	if op.endpoint == "POST /v1/orders" {
		other := op
		other.body, other.print = orderOf("bowl", 2), "2 bowl"
		meet(8, "another payload under the key", other)
		stranger := op
		stranger.consumer = "beta"
		meet(8, "another consumer with the key", stranger)
	}
	if c.chance(30) {
		company = append(company, c.looks(op))
	}
	got, ok := c.world.perform(op)
	for _, wait := range company {
		wait()
	}
	if !ok || status != 0 && got.Status != status || strings.HasPrefix(got.header, "Content-Type: application/problem") {
		return false
	}
	if err := json.Unmarshal(got.body, into); err != nil {
		c.world.violation("I4", "%s was answered with %d %s: %v", got.scope(), got.Status, got.body, err)
		return false
	}
	return true
}

// beside performs an operation at the same time.
func (c *customer) beside(op operation) (wait func()) {
	var one sync.WaitGroup
	one.Go(func() { c.world.perform(op) })
	return one.Wait
}

// looks asks a few times what became of the key.
func (c *customer) looks(op operation) (wait func()) {
	pauses := []int{c.rng.IntN(20), c.rng.IntN(100), c.rng.IntN(500)}
	var one sync.WaitGroup
	one.Go(func() {
		for _, ms := range pauses {
			time.Sleep(time.Duration(ms) * time.Millisecond)
			c.world.look(op)
		}
	})
	return one.Wait
}
