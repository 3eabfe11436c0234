package simulated_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/api/psp/psptest"
	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/domain"
)

func TestTheClientKeepsTheProvidersPromises(t *testing.T) {
	t.Parallel()
	for _, attempts := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d attempts", attempts), func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			p.SetPublicURL(p.URL)
			psptest.Suite{
				NewProvider: func(t *testing.T) domain.PaymentProvider {
					return p.client(t, simulated.ClientConfig{Attempts: attempts, AttemptTimeout: 2 * time.Second})
				},
				Ledger:     func(reference string) []domain.Charge { return p.charges(t, reference) },
				Cards:      psptest.SimulatedCards,
				Manual:     true,
				Approve:    func(t *testing.T, pending domain.Charge) { p.press(t, pending.RedirectURL, "approve") },
				LoseAnswer: func(t *testing.T, kind domain.ModificationKind, id string) { p.fault(t, kind, "done_then_500", id) },
			}.Run(t)
		})
	}
}

func request(token string) domain.ChargeRequest {
	return domain.ChargeRequest{Reference: "EM-1", Amount: domain.EUR(4195), Method: domain.PaymentMethod{Type: "card", Token: token}}
}

func TestALostAnswerIsRepairedByTheSecondTry(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"tok_charged_then_timeout", "tok_charged_then_500"} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			client := p.client(t, simulated.ClientConfig{AttemptTimeout: 500 * time.Millisecond})
			got, err := client.Charge(t.Context(), "key-1", request(token))
			if err != nil || got.Status != domain.ChargeSucceeded || got.Key != "key-1" {
				t.Errorf("got %+v, %v, want the charge", got, err)
			}
			p.paid(t, "EM-1", 1)
		})
	}
}

func TestASlowChargeIsUnknownUntilFindHasWaitedForIt(t *testing.T) {
	t.Parallel()
	p := setup(t)
	hasty := p.client(t, simulated.ClientConfig{Attempts: 1, AttemptTimeout: 50 * time.Millisecond})
	_, err := hasty.Charge(t.Context(), "key-1", request("tok_slow"))
	unknown(t, err)
	_, err = hasty.Find(t.Context(), "key-1", request("tok_slow"))
	if err == nil || errors.Is(err, domain.ErrNoCharge) {
		t.Errorf("find while it runs: got %v, want an error that does not say there is none", err)
	}
	patient := p.client(t, simulated.ClientConfig{})
	found, err := patient.Find(t.Context(), "key-1", request("tok_slow"))
	if err != nil || found.Status != domain.ChargeSucceeded {
		t.Errorf("got %+v, %v, want the charge", found, err)
	}
}

func TestACancelledCallEndsAtOnceAndIsUnknown(t *testing.T) {
	t.Parallel()
	p := setup(t)
	client := p.client(t, simulated.ClientConfig{Attempts: 5})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(p.entries(t, "reference", "EM-1")) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	began := time.Now()
	_, err := client.Charge(ctx, "key-1", request("tok_charged_then_timeout"))
	unknown(t, err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it to tell the cancellation", err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("took %s, want it to end with its context", took)
	}
	p.paid(t, "EM-1", 1)
}

func TestAProviderThatCannotBeReachedChargesNothing(t *testing.T) {
	t.Parallel()
	client, err := simulated.NewClient(simulated.ClientConfig{BaseURL: "http://" + closedAddress(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Charge(t.Context(), "key-1", request("tok_ok")); !errors.Is(err, domain.ErrNotCharged) {
		t.Errorf("charge: got %v, want ErrNotCharged", err)
	}
	if _, err := client.Find(t.Context(), "key-1", request("tok_ok")); err == nil || errors.Is(err, domain.ErrNoCharge) {
		t.Errorf("find: got %v, want an error that does not say there is none", err)
	}
}

func TestAnUnreachableTryAfterADoubtfulOneLeavesTheDoubt(t *testing.T) {
	t.Parallel()
	p := oneConnection(t, func(_ net.Conn, requests *bufio.Reader) { readRequest(t, requests) })
	_, err := p.client(t, simulated.ClientConfig{}).Charge(t.Context(), "key-1", request("tok_ok"))
	unknown(t, err)
	if !strings.Contains(err.Error(), "could not be reached") {
		t.Errorf("got %v, want it to tell the last try as well", err)
	}
}

// A kept connection breaks after the request was sent; net/http itself sends it again and reports
// that it cannot connect. The one try that the client counts may have charged.
func TestAHiddenResendDoesNotHideTheDoubt(t *testing.T) {
	t.Parallel()
	p := oneConnection(t, func(conn net.Conn, requests *bufio.Reader) {
		readRequest(t, requests)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"charges\":[]}")
		readRequest(t, requests)
	})
	client := p.client(t, simulated.ClientConfig{Attempts: 1})
	if _, err := client.Find(t.Context(), "key-1", request("tok_ok")); !errors.Is(err, domain.ErrNoCharge) {
		t.Fatalf("got %v, want ErrNoCharge", err)
	}
	_, err := client.Charge(t.Context(), "key-1", request("tok_ok"))
	unknown(t, err)
}

func TestEveryTryCarriesTheSameKeyAndBody(t *testing.T) {
	t.Parallel()
	p, seen := scripted(t, script{500, `{}`}, script{502, `not even JSON`}, script{504, ``})
	_, err := p.client(t, simulated.ClientConfig{Attempts: 3}).Charge(t.Context(), "key-1", request("tok_ok"))
	unknown(t, err)
	got := seen()
	if len(got) != 3 || len(slices.Compact(slices.Clone(got))) != 1 || !strings.HasPrefix(got[0], "key-1 {") {
		t.Errorf("got requests %q, want three times the same with key-1", got)
	}
}

func TestOnlyADoubtfulAnswerIsAskedAgain(t *testing.T) {
	t.Parallel()
	down := script{503, `{"code":"unavailable","message":"-","charged":false}`}
	unsupported := script{422, `{"code":"unsupported_token","message":"-","charged":false}`}
	other := `{"id":"ch_1","reference":"EM-9","idempotency_key":"key-1","amount":4195,"currency":"EUR","status":"succeeded","captured":4195}`
	for _, c := range []struct {
		name       string
		answers    []script
		tries      int
		notCharged bool
	}{
		{"certainly down", []script{down}, 1, true},
		{"unsupported", []script{unsupported}, 1, true},
		{"down without a word on the charge", []script{{503, `{"code":"closed"}`}}, 2, false},
		{"down and charged", []script{{503, `{"code":"closed","charged":true}`}}, 2, false},
		{"failed, then certainly down", []script{{500, `{}`}, down}, 2, false},
		{"failed, then unsupported", []script{{500, `{}`}, unsupported}, 2, false},
		{"key reused", []script{{422, `{"code":"key_reused"}`}}, 1, false},
		{"bad request", []script{{400, `{"code":"malformed"}`}}, 1, false},
		{"redirect", []script{{307, ``}}, 1, false},
		{"not a charge", []script{{201, `{}`}}, 1, false},
		{"not JSON", []script{{201, `<html>`}}, 1, false},
		{"somebody else's charge", []script{{201, other}}, 1, false},
		{"paid and nothing captured", []script{{201, strings.NewReplacer("EM-9", "EM-1", "4195}", "0}").Replace(other)}}, 1, false},
		{"unknown status", []script{{201, strings.NewReplacer("EM-9", "EM-1", "succeeded", "strange").Replace(other)}}, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, seen := scripted(t, c.answers...)
			_, err := p.client(t, simulated.ClientConfig{}).Charge(t.Context(), "key-1", request("tok_ok"))
			if err == nil || errors.Is(err, domain.ErrNotCharged) != c.notCharged {
				t.Errorf("got %v, want not charged: %v", err, c.notCharged)
			}
			if got := len(seen()); got != c.tries {
				t.Errorf("got %d tries, want %d", got, c.tries)
			}
			if strings.Contains(err.Error(), "tok_") || strings.Contains(err.Error(), "key-1") {
				t.Errorf("got %v, which tells the token or the key", err)
			}
			if refusal, ok := errors.AsType[*domain.Error](err); ok != (c.name == "unsupported") {
				t.Errorf("got refusal %v", refusal)
			}
		})
	}
}

func TestFindBelievesOnlyAProperList(t *testing.T) {
	t.Parallel()
	charge := func(id, status string) string {
		captured := map[string]string{"succeeded": "4195"}[status]
		return `{"id":"` + id + `","reference":"EM-1","idempotency_key":"key-1","amount":4195,"currency":"EUR","status":"` + status +
			`","captured":` + cmp.Or(captured, "0") + `}`
	}
	for _, c := range []struct {
		name   string
		answer script
		id     string
		none   bool
	}{
		{"none", script{200, `{"charges":[]}`}, "", true},
		{"null", script{200, `{"charges":null}`}, "", false},
		{"another document", script{200, `{}`}, "", false},
		{"no such page", script{404, `{"charges":[]}`}, "", false},
		{"failure", script{500, `{"charges":[]}`}, "", false},
		{"one", script{200, `{"charges":[` + charge("ch_1", "declined") + `]}`}, "ch_1", false},
		{"declined, then paid", script{200, `{"charges":[` + charge("ch_1", "declined") + `,` + charge("ch_2", "succeeded") + `]}`}, "ch_2", false},
		{"left, then asked again", script{200, `{"charges":[` + charge("ch_1", "canceled") + `,` + charge("ch_2", "pending") + `]}`}, "ch_2", false},
		{"paid, then asked again", script{200, `{"charges":[` + charge("ch_1", "succeeded") + `,` + charge("ch_2", "pending") + `]}`}, "ch_1", false},
		{"paid and reserved", script{200, `{"charges":[` + charge("ch_1", "authorized") + `,` + charge("ch_2", "succeeded") + `]}`}, "", false},
		{"paid twice", script{200, `{"charges":[` + charge("ch_1", "succeeded") + `,` + charge("ch_2", "succeeded") + `]}`}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, _ := scripted(t, c.answer)
			got, err := p.client(t, simulated.ClientConfig{}).Find(t.Context(), "key-1", request("tok_ok"))
			if got.ID != c.id || (err == nil) != (c.id != "") || errors.Is(err, domain.ErrNoCharge) != c.none {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestAClientNeedsAnAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "localhost:8080", "ftp://localhost", "http://"} {
		if _, err := simulated.NewClient(simulated.ClientConfig{BaseURL: address}); err == nil {
			t.Errorf("%q: got no error", address)
		}
	}
}

// unknown checks that an error leaves the outcome open.
func unknown(t *testing.T, err error) {
	t.Helper()
	if err == nil || errors.Is(err, domain.ErrNotCharged) {
		t.Fatalf("got %v, want an error of unknown outcome", err)
	}
}

// script is one answer of a provider that plays a part.
type script struct {
	status int
	body   string
}

// scripted answers request n with answer n, and all later ones with the last. seen gives the key and
// body of every request.
func scripted(t *testing.T, answers ...script) (p *provider, seen func() []string) {
	t.Helper()
	var mu sync.Mutex
	var requests []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		now := answers[min(len(requests), len(answers)-1)]
		requests = append(requests, r.Header.Get("Idempotency-Key")+" "+string(body))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(now.status)
		_, _ = io.WriteString(w, now.body)
	}))
	t.Cleanup(web.Close)
	return &provider{URL: web.URL}, func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(requests) }
}

// oneConnection is a provider that takes one connection, after which nobody listens any more; when
// talk returns, the connection breaks.
func oneConnection(t *testing.T, talk func(conn net.Conn, requests *bufio.Reader)) *provider {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		conn, err := listener.Accept()
		_ = listener.Close()
		if err != nil {
			return
		}
		talk(conn, bufio.NewReader(conn))
		_ = conn.Close()
	})
	t.Cleanup(func() { _ = listener.Close(); done.Wait() })
	return &provider{URL: "http://" + listener.Addr().String()}
}

func readRequest(t *testing.T, requests *bufio.Reader) {
	r, err := http.ReadRequest(requests)
	if err != nil {
		t.Errorf("read request: %v", err)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
}

// closedAddress is an address where nobody listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
