package simulated_test

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/domain"
)

const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// delivery is one webhook as the shop got it.
type delivery struct {
	header http.Header
	body   []byte
	at     time.Time
}

// receiver is the shop's end of the webhooks. It answers with the statuses one after the other, and
// with 200 when there are no more.
type receiver struct {
	URL      string
	mu       sync.Mutex
	statuses []int
	got      []delivery
}

func receive(t *testing.T, statuses ...int) *receiver {
	t.Helper()
	r := &receiver{statuses: statuses}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, delivery{req.Header.Clone(), body, time.Now()})
		status := http.StatusOK
		if len(r.statuses) > 0 {
			status, r.statuses = r.statuses[0], r.statuses[1:]
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(web.Close)
	r.URL = web.URL
	return r
}

func (r *receiver) all() []delivery { r.mu.Lock(); defer r.mu.Unlock(); return slices.Clone(r.got) }

// await waits for n deliveries and gives their events, each checked as the shop would.
func (r *receiver) await(t *testing.T, n int) []domain.ProviderEvent {
	t.Helper()
	eventually(t, "the webhooks arrive", func() bool { return len(r.all()) >= n })
	var events []domain.ProviderEvent
	for _, d := range r.all() {
		e, err := reader(t, time.Now, secret).ReadEvent(d.header, d.body)
		if err != nil {
			t.Fatalf("webhook %s: %v", d.body, err)
		}
		events = append(events, e)
	}
	return events
}

func reader(t *testing.T, now func() time.Time, secrets ...string) domain.EventReader {
	t.Helper()
	r, err := simulated.NewEventReader(secrets, now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hooked is a provider that tells the receiver of everything.
func hooked(t *testing.T, r *receiver, cfg simulated.ServerConfig) *provider {
	t.Helper()
	cfg.WebhookURL, cfg.WebhookSecret = r.URL, secret
	return pages(t, cfg)
}

func wantTypes(t *testing.T, events []domain.ProviderEvent, want ...string) {
	t.Helper()
	var got []string
	for _, e := range events {
		got = append(got, strings.TrimPrefix(e.Type, "charge."))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got events %v, want %v", got, want)
	}
}

func TestEveryChangeIsTold(t *testing.T) {
	t.Parallel()
	r := receive(t)
	p := hooked(t, r, simulated.ServerConfig{})
	client := p.client(t, simulated.ClientConfig{})
	reserve := request("tok_ok")
	reserve.Manual = true
	charge, err := client.Charge(t.Context(), "key-1", reserve)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range []domain.ModifyRequest{
		{Kind: domain.Capture, Amount: domain.EUR(1000)}, {Kind: domain.Void}, {Kind: domain.Refund, Amount: domain.EUR(1)},
	} {
		m.ChargeID = charge.ID
		if _, err := client.Modify(t.Context(), "key-1-"+string(m.Kind), m); err != nil {
			t.Fatalf("modification %d: %v", i, err)
		}
	}
	p.post(t, "key-2", order("EM-1", "tok_declined"))
	p.press(t, p.pending(t, "EM-1", "ideal").RedirectURL, "approve")
	p.press(t, p.pending(t, "EM-2", "ideal").RedirectURL, "cancel")

	events := r.await(t, 9)
	wantTypes(t, events, "authorized", "captured", "voided", "refunded", "declined", "pending", "succeeded", "pending", "canceled")
	if got := events[0].Charge; got != charge {
		t.Errorf("got charge %+v, want %+v as it was then", got, charge)
	}
	for i, e := range events[:4] {
		if e.Charge.Version != int64(i+1) || e.OccurredAt.IsZero() || e.Charge.ID != charge.ID {
			t.Errorf("event %d: got %+v, want version %d of the charge", i, e, i+1)
		}
	}
}

func TestARefusalOrARepeatTellsNothing(t *testing.T) {
	t.Parallel()
	r := receive(t)
	p := hooked(t, r, simulated.ServerConfig{})
	p.post(t, "key-1", order("EM-1", "tok_ok"))
	p.post(t, "key-1", order("EM-1", "tok_ok"))
	refunds := chargesPath + "/" + p.entries(t, "reference", "EM-1")[0].ID + "/refunds"
	want(t, p.postTo(t, refunds, "key-2", `{"amount":4196}`), http.StatusUnprocessableEntity, "exceeds_rest")
	want(t, p.postTo(t, refunds, "key-3", `{"amount":4195}`), http.StatusCreated, "")
	want(t, p.postTo(t, refunds, "key-3", `{"amount":4195}`), http.StatusCreated, "")
	p.post(t, "key-4", order("EM-2", "tok_declined")) // the last word, so that anything before it has been sent
	wantTypes(t, r.await(t, 3), "succeeded", "refunded", "declined")
}

func TestAFailedDeliveryIsTriedAgainWithTheSameEvent(t *testing.T) {
	t.Parallel()
	r := receive(t, http.StatusInternalServerError, http.StatusFound)
	p := hooked(t, r, simulated.ServerConfig{})
	p.post(t, "key-1", order("EM-1", "tok_ok"))
	r.await(t, 3)
	got := r.all()
	for _, d := range got {
		if !bytes.Equal(d.body, got[0].body) || d.header.Get("webhook-id") != got[0].header.Get("webhook-id") {
			t.Errorf("got %s, want the same event and bytes as %s", d.body, got[0].body)
		}
	}
	if got[0].header.Get("webhook-timestamp") == got[2].header.Get("webhook-timestamp") {
		t.Error("got the old time, want each try signed anew")
	}
	if a, b := got[1].at.Sub(got[0].at), got[2].at.Sub(got[1].at); a < 900*time.Millisecond || b < 1800*time.Millisecond {
		t.Errorf("got pauses %s and %s, want 1 s and then 2 s", a, b)
	}
}

func TestAnEventOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	path, down := ledgerFile(t), receive(t, slices.Repeat([]int{503}, 100)...)
	before := hooked(t, down, simulated.ServerConfig{Path: path})
	before.post(t, "key-1", order("EM-1", "tok_ok"))
	eventually(t, "a first try", func() bool { return len(down.all()) > 0 })
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	up := receive(t)
	hooked(t, up, simulated.ServerConfig{Path: path})
	wantTypes(t, up.await(t, 1), "succeeded")
	if got, want := up.all()[0].body, down.all()[0].body; !bytes.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnEventIsGivenUpAfterADay(t *testing.T) {
	t.Parallel()
	now, r := newClock(), receive(t)
	p := serve(t, simulated.ServerConfig{Path: ledgerFile(t), Now: now.read, WebhookSecret: secret})
	p.post(t, "key-1", order("EM-1", "tok_ok"))
	now.pass(24*time.Hour + time.Second)
	p.post(t, "key-2", order("EM-2", "tok_declined"))
	p.SetWebhookURL(r.URL)
	eventually(t, "the webhook arrives", func() bool { return len(r.all()) > 0 })
	e, err := reader(t, now.read, secret).ReadEvent(r.all()[0].header, r.all()[0].body)
	if err != nil || e.Charge.Reference != "EM-2" {
		t.Errorf("got %+v, %v, want the event of today alone", e, err)
	}
}

func TestEventsWithoutAnAddressAreKept(t *testing.T) {
	t.Parallel()
	p := serve(t, simulated.ServerConfig{Path: ledgerFile(t), WebhookSecret: secret})
	p.post(t, "key-1", order("EM-1", "tok_ok"))
	p.post(t, "key-2", order("EM-2", "tok_declined"))
	r := receive(t)
	p.SetWebhookURL(r.URL)
	wantTypes(t, r.await(t, 2), "succeeded", "declined")
}

func TestTroubleWithWebhooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		button string
		types  []string
	}{
		{"approve", []string{"pending", "succeeded"}},
		{"stay", []string{"pending", "succeeded"}},
		{"thrice", []string{"pending", "succeeded", "succeeded", "succeeded"}},
		{"disorder", []string{"pending", "succeeded", "pending"}},
		{"late", []string{"pending", "succeeded"}},
	} {
		t.Run(c.button, func(t *testing.T) {
			t.Parallel()
			r := receive(t)
			p := hooked(t, r, simulated.ServerConfig{})
			e := p.pending(t, "EM-1", "ideal")
			r.await(t, 1)
			pressed := time.Now()
			p.press(t, e.RedirectURL, c.button)
			p.paid(t, "EM-1", 1)
			events := r.await(t, len(c.types))
			wantTypes(t, events, c.types...)
			ids := map[string]bool{}
			for _, e := range events {
				ids[e.ID] = true
			}
			wantIDs := map[string]int{"disorder": 3}[c.button]
			if len(ids) != cmp.Or(wantIDs, 2) {
				t.Errorf("got %d different ids in %d deliveries", len(ids), len(events))
			}
			if took := r.all()[1].at.Sub(pressed); (took > 4500*time.Millisecond) != (c.button == "late") {
				t.Errorf("the shop was told after %s", took)
			}
			if last := events[len(events)-1]; c.button == "disorder" && (last.Charge.Version != 1 || last.OccurredAt.After(events[1].OccurredAt)) {
				t.Errorf("got %+v last, want news older than %+v", last, events[1])
			}
		})
	}
}

func TestTheShopCanBeToldBeforeTheBrowser(t *testing.T) {
	t.Parallel()
	r := receive(t)
	p := hooked(t, r, simulated.ServerConfig{})
	e := p.pending(t, "EM-1", "ideal")
	r.await(t, 1)
	p.press(t, e.RedirectURL, "early")
	wantTypes(t, r.await(t, 1), "pending", "succeeded") // without waiting: the answer came after it
}

func TestTheShopIsNotTold(t *testing.T) {
	t.Parallel()
	r := receive(t)
	p := hooked(t, r, simulated.ServerConfig{})
	e := p.pending(t, "EM-1", "ideal")
	p.press(t, e.RedirectURL, "never")
	p.post(t, "key-2", order("EM-2", "tok_declined")) // sent after anything there might be of EM-1
	wantTypes(t, r.await(t, 2), "pending", "declined")
	p.paid(t, "EM-1", 1)
}

func TestWebhooksNeedASecret(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "whsec_", "whsec_c2hvcnQ=", "not base64!"} {
		_, err := simulated.NewServer(simulated.ServerConfig{Path: ledgerFile(t), WebhookURL: "http://127.0.0.1:1", WebhookSecret: bad})
		if err == nil || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%q: got %v, want an error that does not tell the secret", bad, err)
		}
	}
}
