package simulated_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/api/psp/simulated"
)

func TestASucceededChargeIsAnsweredAndListedAlike(t *testing.T) {
	t.Parallel()
	p := setup(t)
	got := p.post(t, "key-1", order("EM-1", "tok_ok"))
	want(t, got, http.StatusCreated, "")
	var made entry
	if err := json.Unmarshal([]byte(got.body), &made); err != nil {
		t.Fatal(err)
	}
	expected := entry{ID: made.ID, Reference: "EM-1", IdempotencyKey: "key-1", Amount: 4195, Currency: "EUR",
		Status: "succeeded", Captured: 4195, Version: 1, CreatedAt: made.CreatedAt}
	if made != expected || made.ID == "" || made.CreatedAt.IsZero() {
		t.Errorf("got %+v, want %+v", made, expected)
	}
	for _, query := range []string{"?reference=EM-1", "?idempotency_key=key-1", "?reference=EM-1&idempotency_key=key-1"} {
		if list := p.get(t, chargesPath+query); list.body != `{"charges":[`+got.body+`]}` {
			t.Errorf("%s: got %s, want the charge %s", query, list.body, got.body)
		}
	}
}

func TestTheListIsEmptyAndNotNullWhenNothingMatches(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.post(t, "key-1", order("EM-1", "tok_ok"))
	for _, query := range []string{"?reference=EM-2", "?idempotency_key=key-2", "?reference=EM-1&idempotency_key=key-2"} {
		if got := p.get(t, chargesPath+query); got != (answer{http.StatusOK, `{"charges":[]}`}) {
			t.Errorf("%s: got %+v", query, got)
		}
	}
	want(t, p.get(t, chargesPath), http.StatusBadRequest, "filter_required")
	want(t, p.get(t, "/psp/v1/nowhere"), http.StatusNotFound, "not_found")
}

func TestADeclineIsRecordedWithoutMoney(t *testing.T) {
	t.Parallel()
	p := setup(t)
	first := p.post(t, "key-1", order("EM-1", "tok_declined"))
	want(t, first, http.StatusPaymentRequired, "")
	if again := p.post(t, "key-1", order("EM-1", "tok_declined")); again != first {
		t.Errorf("repeat: got %+v, want %+v", again, first)
	}
	got := p.entries(t, "reference", "EM-1")
	if len(got) != 1 || got[0].Status != "declined" || got[0].Captured != 0 || got[0].Amount != 4195 {
		t.Errorf("ledger: got %+v, want one declined charge that captured nothing", got)
	}
}

func TestAKeyBelongsToItsRequest(t *testing.T) {
	t.Parallel()
	p := setup(t)
	first := p.post(t, "key-1", order("EM-1", "tok_ok"))
	spaced := ` { "token": "tok_ok", "currency": "EUR", "amount": 4195, "reference": "EM-1" } `
	if again := p.post(t, "key-1", spaced); again != first {
		t.Errorf("same request in another order: got %+v, want %+v", again, first)
	}
	for _, other := range []string{
		order("EM-2", "tok_ok"), order("EM-1", "tok_declined"), order("EM-1", "tok_nonsense"),
		strings.Replace(order("EM-1", "tok_ok"), "4195", "4196", 1), strings.Replace(order("EM-1", "tok_ok"), "EUR", "USD", 1),
	} {
		want(t, p.post(t, "key-1", other), http.StatusUnprocessableEntity, "key_reused")
	}
	p.paid(t, "EM-1", 1)
	p.paid(t, "EM-2", 0)
}

func TestFiftyOverlappingRequestsWithOneKeyMakeOneCharge(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"tok_ok", "tok_slow", "tok_declined"} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			answers, errs := make([]answer, 50), make([]error, 50)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() { answers[i], errs[i] = p.postContext(t.Context(), "key-1", order("EM-1", token)) })
			}
			all.Wait()
			for i := range answers {
				if errs[i] != nil || answers[i] != answers[0] || answers[i].status >= 500 {
					t.Errorf("request %d: got %+v, %v, want %+v", i, answers[i], errs[i], answers[0])
				}
			}
			if got := p.entries(t, "reference", "EM-1"); len(got) != 1 {
				t.Errorf("ledger: got %d charges, want 1", len(got))
			}
		})
	}
}

func TestOverlappingKeysDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	p := serve(t, simulated.ServerConfig{Path: ledgerFile(t), Slow: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var slow sync.WaitGroup
	slow.Go(func() { _, _ = p.postContext(ctx, "key-1", order("EM-1", "tok_slow")) })
	want(t, p.post(t, "key-2", order("EM-2", "tok_ok")), http.StatusCreated, "")
	cancel()
	slow.Wait()
}

func TestHangingUpDuringASlowChargeStillCharges(t *testing.T) {
	t.Parallel()
	p := setup(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, err := p.postContext(ctx, "key-1", order("EM-1", "tok_slow")); err == nil {
		t.Fatalf("got %+v, want a hang-up", got)
	}
	// The list by reference tells the present; the list by key waits for what is running.
	p.paid(t, "EM-1", 0)
	if got := p.entries(t, "idempotency_key", "key-1"); len(got) != 1 || got[0].Status != "succeeded" {
		t.Errorf("got %+v, want the charge that went on", got)
	}
	want(t, p.post(t, "key-1", order("EM-1", "tok_slow")), http.StatusCreated, "")
	p.paid(t, "EM-1", 1)
}

func TestAChargeThatIsNotAnsweredIsInTheLedgerAtOnce(t *testing.T) {
	t.Parallel()
	p := setup(t)
	ctx, hangUp := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := p.postContext(ctx, "key-1", order("EM-1", "tok_charged_then_timeout"))
		gone <- err
	}()
	eventually(t, "the charge is recorded", func() bool { return len(p.entries(t, "reference", "EM-1")) == 1 })
	want(t, p.post(t, "key-1", order("EM-1", "tok_charged_then_timeout")), http.StatusCreated, "")
	select {
	case err := <-gone:
		t.Errorf("the first request was answered (%v), want silence", err)
	default:
	}
	hangUp()
	if err := <-gone; err == nil {
		t.Error("the first request was answered, want a hang-up")
	}
	p.paid(t, "EM-1", 1)
}

func TestAChargeThatIsAnsweredWithAFailureIsRepeatedAsACharge(t *testing.T) {
	t.Parallel()
	p := setup(t)
	want(t, p.post(t, "key-1", order("EM-1", "tok_charged_then_500")), http.StatusInternalServerError, "internal")
	p.paid(t, "EM-1", 1)
	first := p.post(t, "key-1", order("EM-1", "tok_charged_then_500"))
	want(t, first, http.StatusCreated, "")
	if again := p.post(t, "key-1", order("EM-1", "tok_charged_then_500")); again != first {
		t.Errorf("got %+v, want %+v", again, first)
	}
	p.paid(t, "EM-1", 1)
}

func TestAnUnavailableProviderSaysThatNothingWasCharged(t *testing.T) {
	t.Parallel()
	p := setup(t)
	got := p.post(t, "key-1", order("EM-1", "tok_unavailable"))
	want(t, got, http.StatusServiceUnavailable, "unavailable")
	if !strings.Contains(got.body, `"charged":false`) {
		t.Errorf("got %s, want charged false", got.body)
	}
	if list := p.entries(t, "reference", "EM-1"); len(list) != 0 {
		t.Errorf("ledger: got %+v, want nothing", list)
	}
	want(t, p.post(t, "key-1", order("EM-2", "tok_unavailable")), http.StatusUnprocessableEntity, "key_reused")
	want(t, p.post(t, "key-1", order("EM-1", "tok_unavailable")), http.StatusCreated, "")
	p.paid(t, "EM-1", 1)
}

func TestAnUnsupportedTokenLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	p := setup(t)
	for _, token := range []string{"tok_3ds", "tok_nonsense"} {
		got := p.post(t, "key-1", order("EM-1", token))
		want(t, got, http.StatusUnprocessableEntity, "unsupported_token")
		if strings.Contains(got.body, token) {
			t.Errorf("got %s, which repeats the token", got.body)
		}
	}
	want(t, p.post(t, "key-1", order("EM-1", "tok_ok")), http.StatusCreated, "")
}

func TestARequestThatIsNoChargeIsRefused(t *testing.T) {
	t.Parallel()
	p := setup(t)
	good := order("EM-1", "tok_ok")
	for _, c := range []struct {
		name, key, body string
		status          int
		code            string
	}{
		{"no key", "", good, 400, "key_required"},
		{"long key", strings.Repeat("k", 256), good, 400, "key_required"},
		{"no body", "key-1", "", 400, "malformed"},
		{"two values", "key-1", good + good, 400, "malformed"},
		{"unknown field", "key-1", `{"card":"4242",` + good[1:], 400, "malformed"},
		{"fraction", "key-1", strings.Replace(good, "4195", "41.95", 1), 400, "malformed"},
		{"overflow", "key-1", strings.Replace(good, "4195", "9223372036854775808", 1), 400, "malformed"},
		{"zero", "key-1", strings.Replace(good, "4195", "0", 1), 400, "amount_invalid"},
		{"negative", "key-1", strings.Replace(good, "4195", "-1", 1), 400, "amount_invalid"},
		{"currency", "key-1", strings.Replace(good, "EUR", "eur", 1), 400, "currency_invalid"},
		{"no currency", "key-1", strings.Replace(good, "EUR", "", 1), 400, "currency_invalid"},
		{"no reference", "key-1", order("", "tok_ok"), 400, "reference_invalid"},
		{"no token", "key-1", order("EM-1", ""), 400, "token_required"},
		{"method", "key-1", `{"method":"cheque",` + good[1:], 400, "method_invalid"},
		{"a token for a bank", "key-1", `{"method":"ideal",` + good[1:], 400, "token_required"},
		{"capture", "key-1", `{"capture":"later",` + good[1:], 400, "capture_invalid"},
		{"a bank that reserves", "key-1", `{"method":"ideal","capture":"manual",` + order("EM-1", "")[1:], 400, "capture_invalid"},
		{"large", "key-1", good + strings.Repeat(" ", 16<<10), 413, "too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want(t, p.post(t, c.key, c.body), c.status, c.code)
		})
	}
	if got := p.entries(t, "reference", "EM-1"); len(got) != 0 {
		t.Errorf("ledger: got %+v, want nothing", got)
	}
	want(t, p.post(t, "key-1", good), http.StatusCreated, "")
}

func TestAForgottenKeyIsNewAgain(t *testing.T) {
	t.Parallel()
	now := newClock()
	p := serve(t, simulated.ServerConfig{Path: ledgerFile(t), Now: now.read, KeyTTL: time.Hour})

	first := p.post(t, "key-1", order("EM-1", "tok_ok"))
	now.pass(time.Hour - time.Millisecond)
	if again := p.post(t, "key-1", order("EM-1", "tok_ok")); again != first {
		t.Errorf("within the time: got %+v, want %+v", again, first)
	}
	now.pass(time.Millisecond)
	if got := p.entries(t, "idempotency_key", "key-1"); len(got) != 1 {
		t.Errorf("got %d charges, want the charge to outlive its key", len(got))
	}
	if again := p.post(t, "key-1", order("EM-1", "tok_ok")); again == first {
		t.Error("after the time: got the old charge, want a new one, as real providers do")
	}
	p.paid(t, "EM-1", 2)
}

func TestTheLogNeverHoldsATokenOrAWholeKey(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	p := serve(t, simulated.ServerConfig{Path: ledgerFile(t), Slow: time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, token := range []string{"tok_ok", "tok_declined", "tok_slow", "tok_charged_then_500", "tok_unavailable", "tok_nonsense"} {
		p.post(t, "the-key-of-"+token, order("EM-1", token))
	}
	if got := log.String(); strings.Contains(got, "tok_") || !strings.Contains(got, "EM-1") {
		t.Errorf("got log %s", got)
	}
}

func TestAServerNeedsAPath(t *testing.T) {
	t.Parallel()
	if _, err := simulated.NewServer(simulated.ServerConfig{}); err == nil || !strings.Contains(err.Error(), "Path") {
		t.Errorf("got %v, want an error that names Path", err)
	}
	if _, err := simulated.NewServer(simulated.ServerConfig{Path: t.TempDir()}); err == nil {
		t.Error("a folder as ledger: got no error")
	}
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
