package simulated_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/api/psp/simulated"
)

// serveLedger, when set, turns the test binary into a provider on that file, to be killed.
const serveLedger = "SIMULATED_TEST_LEDGER"

func TestMain(m *testing.M) {
	if path := os.Getenv(serveLedger); path != "" {
		serveUntilKilled(path)
	}
	os.Exit(m.Run())
}

func serveUntilKilled(path string) {
	server, err := simulated.NewServer(simulated.ServerConfig{Path: path, Slow: time.Hour})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(httptest.NewServer(server).URL)
	time.Sleep(time.Minute) // ends by itself if its test was killed first
	os.Exit(1)
}

func TestARestartKeepsChargesAndKeys(t *testing.T) {
	t.Parallel()
	path := ledgerFile(t)
	before := serve(t, simulated.ServerConfig{Path: path})
	paid := before.post(t, "key-1", order("EM-1", "tok_ok"))
	declined := before.post(t, "key-2", order("EM-1", "tok_declined"))
	want(t, before.post(t, "key-3", order("EM-1", "tok_charged_then_500")), http.StatusInternalServerError, "internal")
	want(t, before.post(t, "key-4", order("EM-1", "tok_unavailable")), http.StatusServiceUnavailable, "unavailable")
	list := before.get(t, chargesPath+"?reference=EM-1")
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}

	after := serve(t, simulated.ServerConfig{Path: path})
	if got := after.get(t, chargesPath+"?reference=EM-1"); got != list {
		t.Errorf("list: got %+v, want %+v", got, list)
	}
	if got := after.post(t, "key-1", order("EM-1", "tok_ok")); got != paid {
		t.Errorf("paid: got %+v, want %+v", got, paid)
	}
	if got := after.post(t, "key-2", order("EM-1", "tok_declined")); got != declined {
		t.Errorf("declined: got %+v, want %+v", got, declined)
	}
	want(t, after.post(t, "key-1", order("EM-2", "tok_ok")), http.StatusUnprocessableEntity, "key_reused")
	want(t, after.post(t, "key-3", order("EM-1", "tok_charged_then_500")), http.StatusCreated, "")
	want(t, after.post(t, "key-4", order("EM-1", "tok_unavailable")), http.StatusCreated, "")
	after.paid(t, "EM-1", 3)
}

func TestAKilledProviderKeepsWhatItCharged(t *testing.T) {
	t.Parallel()
	path := ledgerFile(t)
	doomed, kill := startProcess(t, path)
	paid := doomed.post(t, "key-1", order("EM-1", "tok_ok"))
	want(t, doomed.post(t, "key-2", order("EM-2", "tok_charged_then_500")), http.StatusInternalServerError, "internal")
	want(t, doomed.post(t, "key-3", order("EM-3", "tok_unavailable")), http.StatusServiceUnavailable, "unavailable")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _ = doomed.postContext(ctx, "key-4", order("EM-4", "tok_slow"))
	refunds := chargesPath + "/" + doomed.entries(t, "reference", "EM-1")[0].ID + "/refunds"
	want(t, doomed.postTo(t, "/psp/v1/faults", "", `{"call":"refund","fault":"done_then_500"}`), http.StatusCreated, "")
	want(t, doomed.postTo(t, refunds, "key-5", `{"amount":4195}`), http.StatusInternalServerError, "internal")
	kill()

	shop := receive(t)
	p := hooked(t, shop, simulated.ServerConfig{Path: path, Slow: time.Millisecond})
	wantTypes(t, shop.await(t, 3), "succeeded", "succeeded", "refunded")
	want(t, p.postTo(t, refunds, "key-5", `{"amount":4195}`), http.StatusCreated, "")
	if got := p.post(t, "key-1", order("EM-1", "tok_ok")); got != paid {
		t.Errorf("got %+v, want %+v", got, paid)
	}
	want(t, p.post(t, "key-2", order("EM-2", "tok_charged_then_500")), http.StatusCreated, "")
	want(t, p.post(t, "key-3", order("EM-3", "tok_unavailable")), http.StatusCreated, "")
	p.paid(t, "EM-4", 0) // it was still waiting, so it is not charged
	want(t, p.post(t, "key-4", order("EM-4", "tok_slow")), http.StatusCreated, "")
	for _, reference := range []string{"EM-1", "EM-2", "EM-3", "EM-4"} {
		p.paid(t, reference, 1)
	}
}

// startProcess runs a provider in a process of its own. kill ends it as a power cut would.
func startProcess(t *testing.T, path string) (p *provider, kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), serveLedger+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(kill)
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(address, "http://") {
		t.Fatalf("the process says %q (%v), want its address", address, err)
	}
	return &provider{URL: strings.TrimSpace(address), http: &http.Client{}}, kill
}

func TestTwoProcessesOnOneLedgerMakeOneCharge(t *testing.T) {
	t.Parallel()
	path := ledgerFile(t)
	one := serve(t, simulated.ServerConfig{Path: path, Slow: 200 * time.Millisecond})
	two := serve(t, simulated.ServerConfig{Path: path, Slow: 200 * time.Millisecond})
	type result struct {
		answer
		err error
	}
	results := make(chan result, 2)
	for _, p := range []*provider{one, two} {
		go func() {
			got, err := p.postContext(t.Context(), "key-1", order("EM-1", "tok_slow"))
			results <- result{got, err}
		}()
	}
	if a, b := <-results, <-results; a != b || a.err != nil || a.status != http.StatusCreated {
		t.Errorf("got %+v and %+v, want one charge twice", a, b)
	}
	one.paid(t, "EM-1", 1)
}

func TestClosingInterruptsASlowChargeWithoutCharging(t *testing.T) {
	t.Parallel()
	path := ledgerFile(t)
	p := serve(t, simulated.ServerConfig{Path: path, Slow: time.Hour})
	answers := make(chan answer, 1)
	go func() {
		got, _ := p.postContext(t.Context(), "key-1", order("EM-1", "tok_slow"))
		answers <- got
	}()
	time.Sleep(50 * time.Millisecond) // long enough to be waiting; either way it may not charge
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got.status != http.StatusServiceUnavailable {
		t.Errorf("got %+v, want 503", got)
	}
	want(t, p.get(t, chargesPath+"?reference=EM-1"), http.StatusServiceUnavailable, "closed")
	serve(t, simulated.ServerConfig{Path: path}).paid(t, "EM-1", 0)
}
