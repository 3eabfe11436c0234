package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"example.com/eenmaal/store/storetest"
)

// event is a signed event of the simulated provider as a test sends it.
type event struct {
	id     string
	at     time.Time // of the signature
	secret string
	body   string
}

// news makes an event about a charge, with some of its fields changed.
func (s *shop) news(kind, number string, change map[string]any) event {
	s.t.Helper()
	return newsOf(s.t, kind, s.rawCharge(number), change)
}

func newsOf(t *testing.T, kind string, charge, change map[string]any) event {
	t.Helper()
	charge = maps.Clone(charge)
	maps.Copy(charge, change)
	id := "evt_" + uuid.NewString()
	body, err := json.Marshal(map[string]any{"id": id, "type": kind, "created_at": time.Now().UTC().Format(time.RFC3339Nano), "charge": charge})
	must(t, err)
	return event{id: id, at: time.Now(), secret: eventSecret, body: string(body)}
}

// rawCharge is the newest charge of an order as the provider's ledger tells it.
func (s *shop) rawCharge(number string) map[string]any {
	s.t.Helper()
	resp, err := http.Get(s.provider + "/psp/v1/charges?reference=" + number)
	must(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	var list struct{ Charges []map[string]any }
	must(s.t, json.NewDecoder(resp.Body).Decode(&list))
	if len(list.Charges) == 0 {
		s.t.Fatalf("the provider has no charge for %s", number)
	}
	return list.Charges[len(list.Charges)-1]
}

func (s *shop) deliver(e event) answer {
	s.t.Helper()
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(e.secret, "whsec_"))
	must(s.t, err)
	signer, err := standardwebhooks.NewWebhookRaw(raw)
	must(s.t, err)
	signature, err := signer.Sign(e.id, e.at, []byte(e.body))
	must(s.t, err)
	return s.deliverWith(e.body, map[string]string{"Content-Type": "application/json", "webhook-id": e.id,
		"webhook-timestamp": strconv.FormatInt(e.at.Unix(), 10), "webhook-signature": signature})
}

func (s *shop) deliverWith(body string, header map[string]string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.server.URL+"/v1/webhooks/simulated", strings.NewReader(body))
	must(s.t, err)
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	must(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(s.t, err)
	got := answer{resp.StatusCode, resp.Header, string(text)}
	s.asAgreed(exchange{req, body, got})
	return got
}

// settled waits until an event has come to its end, and gives its state.
func (s *shop) settled(e event) (state string) {
	s.t.Helper()
	s.until("event "+e.id+" is settled", func() bool {
		kept, err := s.db.InboxEventByName(s.t.Context(), "simulated", e.id)
		state = string(kept.State)
		return err == nil && state != "received" && state != "parked"
	})
	return state
}

// atBank begins a payment that the customer has to finish at the bank.
func (s *shop) atBank() (order, number, payment string) {
	s.t.Helper()
	order, number = s.newOrder()
	a := s.do(call{path: "/v1/payments", key: newKey(), body: `{"order_id":"` + order + `","method":{"type":"ideal"}}`})
	wantStatus(s.t, "payment at the bank", a, 202)
	return order, number, a.field(s.t, "id")
}

func approved(version int) map[string]any {
	return map[string]any{"status": "succeeded", "captured": 4195, "version": version, "redirect_url": ""}
}

// TestEightDeliveriesOfOneEventHaveOneEffect covers T68, T69, T70 and F10: at one moment, and by either
// of two secrets.
func TestEightDeliveriesOfOneEventHaveOneEffect(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		_, number, payment := s.atBank()
		e := s.news("charge.succeeded", number, approved(2))
		for _, a := range together(t, 8, func(i int) (answer, error) {
			mine := e
			mine.secret = []string{eventSecret, oldEventSecret}[i%2]
			return s.deliver(mine), nil
		}) {
			wantStatus(t, "delivery", a, 200)
		}
		if got := s.settled(e); got != "applied" {
			t.Errorf("the event is %s", got)
		}
		wantStatus(t, "a ninth", s.deliver(e), 200)
		s.paidByEvents(payment)
		if got := s.count("SELECT count(*) FROM inbox"); got != 1 {
			t.Errorf("inbox: got %d", got)
		}
	})
}

// paidByEvents checks the effects of a payment that events alone have settled.
func (s *shop) paidByEvents(payment string) {
	s.t.Helper()
	order := s.orderOf(payment)
	for query, want := range map[string]int{
		"SELECT count(*) FROM payments WHERE order_id = ? AND status = 'paid'": 1,
		"SELECT count(*) FROM orders WHERE id = ? AND status = 'paid'":         1,
		"SELECT count(*) FROM mails WHERE about = ?":                           1,
	} {
		if got := s.count(query, order); got != want {
			s.t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
}

// TestEventsOutOfOrderChangeNothingBackwards covers T65 and T66.
func TestEventsOutOfOrderChangeNothingBackwards(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		_, number, payment := s.atBank()
		paid, pending := s.news("charge.succeeded", number, approved(3)), s.news("charge.pending", number, map[string]any{"version": 2})
		canceled := s.news("charge.canceled", number, map[string]any{"status": "canceled", "version": 2})
		for _, step := range []struct {
			e     event
			state string
		}{{paid, "applied"}, {pending, "superseded"}, {canceled, "superseded"}} {
			wantStatus(t, "delivery", s.deliver(step.e), 200)
			if got := s.settled(step.e); got != step.state {
				t.Errorf("got %s, want %s", got, step.state)
			}
		}
		// Another event that tells the same version of the charge is no second fact.
		again := s.news("charge.captured", number, approved(3))
		wantStatus(t, "delivery", s.deliver(again), 200)
		s.settled(again)
		s.paidByEvents(payment)
	})
}

func TestACancelledVisitToTheBankChargesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		order, number, payment := s.atBank()
		e := s.news("charge.canceled", number, map[string]any{"status": "canceled", "version": 2, "redirect_url": ""})
		s.deliver(e)
		if got := s.settled(e); got != "applied" {
			t.Errorf("the event is %s", got)
		}
		if got := s.do(call{method: "GET", path: "/v1/payments/" + payment}); got.field(t, "status") != "failed" {
			t.Errorf("payment: %s", got.Body)
		}
		wantStatus(t, "another payment", s.pay(newKey(), order, "tok_ok"), 201)
	})
}

// TestASecondSuccessfulPaymentIsGivenBack: the customer left the bank's page, paid by card, and then
// paid at the bank after all.
func TestASecondSuccessfulPaymentIsGivenBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		order, number, first := s.atBank()
		bank := s.rawCharge(number)
		wantStatus(t, "by card", s.pay(newKey(), order, "tok_ok"), 201)
		s.approveAtProvider(bank)
		e := newsOf(t, "charge.succeeded", bank, approved(2))
		for _, a := range together(t, 4, func(int) (answer, error) { return s.deliver(e), nil }) {
			wantStatus(t, "delivery", a, 200)
		}
		s.settled(e)
		s.until("the second payment is given back", func() bool {
			return s.do(call{method: "GET", path: "/v1/payments/" + first}).field(t, "status") == "refunded"
		})
		kept := int64(0)
		for _, c := range s.charges(number) {
			kept += c.Captured.Amount - c.Refunded.Amount
		}
		if kept != 4195 {
			t.Errorf("the provider keeps %d, want 4195", kept)
		}
		for query, want := range map[string]int{
			"SELECT count(*) FROM mails WHERE kind = 'paid_in_vain'":                            1,
			"SELECT count(*) FROM mails WHERE kind = 'order_paid'":                              1,
			"SELECT count(*) FROM attention WHERE kind = 'paid_in_vain'":                        1,
			"SELECT count(*) FROM modifications WHERE kind = 'refund' AND reason = 'duplicate'": 1,
			"SELECT count(*) FROM orders WHERE status = 'paid'":                                 1,
		} {
			if got := s.count(query); got != want {
				t.Errorf("%s: got %d, want %d", query, got, want)
			}
		}
	})
}

// approveAtProvider does what the customer does on the bank's page.
func (s *shop) approveAtProvider(charge map[string]any) {
	s.t.Helper()
	page, _ := charge["redirect_url"].(string)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Post(page, "application/x-www-form-urlencoded", strings.NewReader("do=approve"))
	must(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusSeeOther {
		text, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("approve: %s %s", resp.Status, text)
	}
}

// TestMoneyForACancelledOrderIsGivenBack is the same with an order that is no longer wanted.
func TestMoneyForACancelledOrderIsGivenBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		order, number, payment := s.atBank()
		bank := s.rawCharge(number)
		wantStatus(t, "cancellation", s.cancel(order), 201)
		s.approveAtProvider(bank)
		s.deliver(newsOf(t, "charge.succeeded", bank, approved(2)))
		s.until("the payment is given back", func() bool {
			return s.do(call{method: "GET", path: "/v1/payments/" + payment}).field(t, "status") == "refunded"
		})
		if c := s.charges(number)[0]; c.Captured != c.Refunded || c.Captured.Amount != 4195 {
			t.Errorf("the provider has %+v", c)
		}
	})
}

// TestTheEventAndTheAnswerSettleOnePayment covers T33, T37, T40 and T76: the provider's event arrives
// while the request that pays is between the provider's answer and its own commit.
func TestTheEventAndTheAnswerSettleOnePayment(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var stop faults
		s := newShop(t, d, withPlan(stop.plan))
		s.work()
		order, number := s.newOrder()
		reached, release := stop.hold(t, "after_charge")
		paying := s.inBackground(call{path: "/v1/payments", key: newKey(), body: payBody(order, "tok_ok")})
		await(t, "the charge", reached)
		e := s.news("charge.succeeded", number, nil)
		wantStatus(t, "delivery", s.deliver(e), 200)
		if got := s.settled(e); got != "applied" {
			t.Errorf("the event is %s", got)
		}
		release()
		wantStatus(t, "the request", <-paying, 201)
		s.paidOnce(order, number)
	})
}

// TestAnEventAboutNothingKnownIsParkedAndAppliedLater covers F11 and S27, and T74: what waits or is
// poison holds up nothing else.
func TestAnEventAboutNothingKnownIsParkedAndAppliedLater(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		_, number, payment := s.atBank()
		early := s.news("charge.succeeded", number, approved(2))
		key := s.texts("SELECT provider_key FROM payments")[0]
		s.exec("UPDATE payments SET provider_key = 'not committed yet'")
		wantStatus(t, "early", s.deliver(early), 200)
		s.until("the event is parked", func() bool { return s.count("SELECT count(*) FROM inbox WHERE state = 'parked'") == 1 })

		_, otherNumber, other := s.atBank()
		cheap := s.news("charge.succeeded", otherNumber, map[string]any{"amount": 1, "captured": 1, "status": "succeeded", "version": 2})
		good := s.news("charge.succeeded", otherNumber, approved(3))
		for _, e := range []event{cheap, good} {
			wantStatus(t, "delivery", s.deliver(e), 200)
		}
		if got := s.settled(cheap); got != "poison" { // S28
			t.Errorf("the event with another amount is %s", got)
		}
		if got := s.settled(good); got != "applied" {
			t.Errorf("the event after it is %s", got)
		}
		s.paidByEvents(other)
		if got := s.count("SELECT count(*) FROM attention WHERE kind = 'event_poison'"); got != 1 {
			t.Errorf("calls for a person: got %d", got)
		}
		s.exec("UPDATE payments SET provider_key = '" + key + "' WHERE provider_key = 'not committed yet'")
		if got := s.settled(early); got != "applied" {
			t.Errorf("the early event is %s", got)
		}
		s.paidByEvents(payment)
	})
}

// TestOnlyAKeptEventIsAcknowledged covers T71, T72 and T73: before the event is durable the provider
// hears no 200 and sends it again; after that nothing is lost, whoever dies.
func TestOnlyAKeptEventIsAcknowledged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		_, number, payment := s.atBank()
		e := s.news("charge.succeeded", number, approved(2))
		s.exec("ALTER TABLE inbox RENAME TO inbox_gone")
		if got := s.deliver(e); got.Status < 500 {
			t.Fatalf("the inbox is gone: got %d %s", got.Status, got.Body)
		}
		s.exec("ALTER TABLE inbox_gone RENAME TO inbox")
		wantStatus(t, "redelivery", s.deliver(e), 200)
		// Its effect fails half-way, after the order was marked: all of it is undone and tried again.
		s.exec("ALTER TABLE mails RENAME TO mails_gone")
		s.work()
		s.until("a try has failed", func() bool { return s.count("SELECT count(*) FROM inbox WHERE state = 'parked'") == 1 })
		if got := s.count("SELECT count(*) FROM orders WHERE status = 'paid'"); got != 0 {
			t.Error("the order is paid by an event that failed")
		}
		wantStatus(t, "meanwhile again", s.deliver(e), 200)
		s.exec("ALTER TABLE mails_gone RENAME TO mails")
		if got := s.settled(e); got != "applied" {
			t.Errorf("the event is %s", got)
		}
		s.paidByEvents(payment)
	})
}

// TestOneEventThatSaysTwoThings: the second has no effect, and somebody is called.
func TestOneEventThatSaysTwoThings(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		_, number, payment := s.atBank()
		e := s.news("charge.pending", number, map[string]any{"version": 1})
		s.deliver(e)
		s.settled(e)
		other := e
		other.body = strings.Replace(s.news("charge.succeeded", number, approved(2)).body, "evt_", "evt_", 1)
		var m map[string]any
		must(t, json.Unmarshal([]byte(other.body), &m))
		m["id"] = e.id
		text, err := json.Marshal(m)
		must(t, err)
		other.body = string(text)
		wantStatus(t, "the other body", s.deliver(other), 200)
		if got := s.count("SELECT count(*) FROM attention WHERE kind = 'event_altered'"); got != 1 {
			t.Errorf("calls for a person: got %d", got)
		}
		if got := s.do(call{method: "GET", path: "/v1/payments/" + payment}); got.field(t, "status") != "pending" {
			t.Errorf("payment: %s", got.Body)
		}
	})
}

// TestOnlyTheProviderIsBelieved covers S25, S26 and S29 at the route.
func TestOnlyTheProviderIsBelieved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		_, number, _ := s.atBank()
		e := s.news("charge.succeeded", number, approved(2))
		for what, change := range map[string]func(e *event){
			"another secret":       func(e *event) { e.secret = "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 32)) },
			"six minutes too late": func(e *event) { e.at = e.at.Add(-6 * time.Minute) },
			"six minutes ahead":    func(e *event) { e.at = e.at.Add(6 * time.Minute) },
		} {
			changed := e
			change(&changed)
			refusal(t, what, s.deliver(changed), 401, "webhook_signature_invalid")
		}
		plain := map[string]string{"Content-Type": "application/json"}
		refusal(t, "no signature", s.deliverWith(e.body, plain), 401, "webhook_signature_invalid")
		refusal(t, "too large", s.deliverWith(strings.Repeat(" ", 65<<10), plain), 413, "body_too_large")
		refusal(t, "a form", s.deliverWith("a=b", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}), 415, "unsupported_media_type")
		refusal(t, "another provider", s.do(call{path: "/v1/webhooks/nobody", body: "{}"}), 404, "provider_not_found")
		if got := s.count("SELECT count(*) FROM inbox"); got != 0 {
			t.Errorf("%d events were kept", got)
		}
		unreadable := event{id: "evt_broken", at: time.Now(), secret: eventSecret, body: `{"id":"evt_broken","type":7}`}
		for range 2 {
			wantStatus(t, "signed and unreadable", s.deliver(unreadable), 200)
		}
		if got := s.count("SELECT count(*) FROM inbox WHERE state = 'poison'"); got != 1 {
			t.Errorf("poison: got %d", got)
		}
	})
}

// TestManyEventsAtOnce lets events of many payments meet, three deliveries each, in any order.
func TestManyEventsAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		s := newShop(t, d)
		s.work()
		var all []event
		var payments []string
		for range 8 {
			_, number, payment := s.atBank()
			payments = append(payments, payment)
			all = append(all, s.news("charge.pending", number, nil), s.news("charge.succeeded", number, approved(2)))
		}
		var wait sync.WaitGroup
		for i := range 3 * len(all) {
			wait.Go(func() {
				if got := s.deliver(all[(i*7)%len(all)]); got.Status != 200 {
					t.Errorf("delivery: %d %s", got.Status, got.Body)
				}
			})
		}
		wait.Wait()
		for _, e := range all {
			s.settled(e)
		}
		for _, payment := range payments {
			s.paidByEvents(payment)
		}
	})
}
