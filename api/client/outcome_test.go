package client_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/eenmaal/api/client"
)

// TestTheStatusByKeyGivesTheOriginal covers T22: no try gets an answer, but the shop knows the key.
func TestTheStatusByKeyGivesTheOriginal(t *testing.T) {
	t.Parallel()
	for _, state := range []client.OperationState{client.Completed, client.Expired} {
		synctest.Test(t, func(t *testing.T) {
			untilAsked := func(s *fakeShop, a arrival) *answer {
				if len(s.asked) == 0 {
					return lost(s, a)
				}
				if state == client.Expired {
					return says(410, "idempotency_key_expired", "")(s, a)
				}
				return s.run(a)
			}
			shop, dead := &fakeShop{script: []fault{untilAsked}, state: state}, &letters{}
			got, err := shop.client(t, client.Config{DeadLetters: dead}).PayOrder(t.Context(), client.PaymentRequest{Method: client.Card("tok_ok")})
			oneKey(t, shop.arrivals)
			if shop.effects != 1 || len(shop.asked) != 1 || len(shop.arrivals) < 3 || got.Attempts != len(shop.arrivals) {
				t.Errorf("%d effects, asked %d, arrived %d, got %+v", shop.effects, len(shop.asked), len(shop.arrivals), got)
			}
			if state == client.Expired {
				if refused, ok := errors.AsType[*client.Refused](err); !ok || refused.Status != 410 || len(dead.list) != 1 {
					t.Errorf("expired: %v, letters %v", err, dead.list)
				}
				return
			}
			must(t, err)
			if got.Value.ID != "no-1" || !got.Replayed || len(dead.list) != 0 {
				t.Errorf("got %+v, letters %v", got, dead.list)
			}
		})
	}
}

// TestADoubtIsToldAndKept covers T31 as well: the time is bounded, and the key is the same in all.
func TestADoubtIsToldAndKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault fault
		state client.OperationState
		mute  bool
		want  client.OperationState
	}{
		"never arrived":    {fault: unheard, want: client.NotFound},
		"in progress":      {fault: says(409, "operation_in_progress", "1"), state: client.InProgress, want: client.InProgress},
		"stopped half-way": {fault: says(503, "outcome_unknown", "1"), state: client.Retryable, want: client.Retryable},
		"done, unheard of": {fault: lost, want: client.Completed},
		"nobody there":     {fault: silent, mute: true, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shop, dead := &fakeShop{script: []fault{c.fault}, state: c.state, mute: c.mute}, &letters{}
				began := time.Now()
				got, err := shop.client(t, client.Config{Attempt: 2 * time.Second, Budget: 12 * time.Second, DeadLetters: dead}).PlaceOrder(t.Context(), anOrder)
				if took := time.Since(began); took > 12*time.Second {
					t.Errorf("took %s", took)
				}
				oneKey(t, shop.arrivals)
				unknown, ok := errors.AsType[*client.Unknown](err)
				if !ok || unknown.State != c.want || unknown.Endpoint != "POST /v1/orders" || string(unknown.Key) != shop.arrivals[0].key {
					t.Fatalf("got %#v", err)
				}
				if len(shop.arrivals) < 3 || unknown.Attempts != len(shop.arrivals) || got.Attempts != unknown.Attempts || got.Key != unknown.Key {
					t.Errorf("%d arrivals, told %d and %+v", len(shop.arrivals), unknown.Attempts, got)
				}
				if len(dead.list) != 1 {
					t.Fatalf("letters: %v", dead.list)
				}
				letter := dead.list[0]
				if letter.Key != got.Key || letter.Reason != client.ReasonUnknown || string(letter.Body) != shop.arrivals[0].body || letter.At.IsZero() {
					t.Errorf("letter %+v", letter)
				}
				// The shop is well again, and the letter is sent.
				shop.script, shop.mute = nil, false
				after, err := shop.client(t, client.Config{}).Do(t.Context(), letter.Call())
				must(t, err)
				if shop.effects != 1 || after.Status != 201 {
					t.Errorf("%d effects, got %+v", shop.effects, after)
				}
			})
		})
	}
}

// TestTheBudgetIsTheWholeTime covers T31 with a shop that says nothing: no setting makes a call longer
// than it says.
func TestTheBudgetIsTheWholeTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ attempt, budget, deadline, least time.Duration }{
		{attempt: 2 * time.Second, budget: 10 * time.Second, least: 6 * time.Second},
		{budget: 30 * time.Second, least: 18 * time.Second},
		{attempt: time.Minute, budget: time.Second, least: time.Second},
		{budget: time.Minute, deadline: 3 * time.Second, least: 3 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			shop := &fakeShop{script: []fault{silent}, mute: true}
			ctx, longest := t.Context(), c.budget
			if c.deadline > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.deadline)
				defer cancel()
				longest = c.deadline
			}
			began := time.Now()
			_, err := shop.client(t, client.Config{Attempt: c.attempt, Budget: c.budget}).PlaceOrder(ctx, anOrder)
			if _, ok := errors.AsType[*client.Unknown](err); !ok {
				t.Errorf("%+v: got %v", c, err)
			}
			if took := time.Since(began); took > longest || took < c.least {
				t.Errorf("%+v: took %s", c, took)
			}
			if len(shop.asked) != 1 {
				t.Errorf("%+v: asked %d times", c, len(shop.asked))
			}
		})
	}
}

func TestARetryAfterBeyondTheBudgetIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shop := &fakeShop{script: []fault{says(503, "store_unavailable", "3600")}}
		began := time.Now()
		_, err := shop.client(t, client.Config{}).PlaceOrder(t.Context(), anOrder)
		if _, ok := errors.AsType[*client.Unknown](err); !ok || time.Since(began) != 0 || len(shop.arrivals) != 1 || len(shop.asked) != 1 {
			t.Errorf("got %v after %s, %d arrivals, asked %d", err, time.Since(began), len(shop.arrivals), len(shop.asked))
		}
	})
}

func TestACallerWhoLeavesIsToldOfTheDoubtAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shop, dead := &fakeShop{script: []fault{silent}}, &letters{}
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		began := time.Now()
		_, err := shop.client(t, client.Config{DeadLetters: dead}).PlaceOrder(ctx, anOrder)
		if _, ok := errors.AsType[*client.Unknown](err); !ok || !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		if len(dead.list) != 1 {
			t.Errorf("letters: %v", dead.list)
		}
	})
}

// TestARefusalIsToldOnceAndNeverRetried: what concerns the user is an answer, what does not is a dead
// letter too.
func TestARefusalIsToldOnceAndNeverRetried(t *testing.T) {
	t.Parallel()
	for status, isLetter := range map[int]bool{307: true, 400: true, 401: true, 402: false, 403: true, 404: false, 405: true,
		409: true, 410: true, 413: true, 415: true, 422: false} {
		body := `{"code":"some_code","detail":"In words.","safe_new_key":true,"resource":"/v1/orders/7","errors":[{"field":"email","code":"invalid"}]}`
		shop := &fakeShop{script: []fault{func(*fakeShop, arrival) *answer { return &answer{status, nil, body} }}}
		dead := &letters{}
		got, err := shop.client(t, client.Config{DeadLetters: dead}).PlaceOrder(t.Context(), anOrder)
		refused, ok := errors.AsType[*client.Refused](err)
		if !ok || refused.Status != status || refused.Code != "some_code" || refused.Detail != "In words." || !refused.SafeNewKey ||
			refused.Resource != "/v1/orders/7" || len(refused.Fields) != 1 || refused.Fields[0].Field != "email" || string(refused.Body) != body {
			t.Errorf("%d: got %#v", status, err)
		}
		if len(shop.arrivals) != 1 || len(shop.asked) != 0 || string(got.Key) != shop.arrivals[0].key {
			t.Errorf("%d: %d arrivals, asked %d", status, len(shop.arrivals), len(shop.asked))
		}
		if len(dead.list) == 1 != isLetter || isLetter && (dead.list[0].Reason != client.ReasonRefused || dead.list[0].Status != status || dead.list[0].Code != "some_code") {
			t.Errorf("%d: letters %+v", status, dead.list)
		}
	}
}

// TestARefusalDoesNotHideAnEarlierDoubt: who reads a 401 as "nothing happened" would order twice.
func TestARefusalDoesNotHideAnEarlierDoubt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		second fault
		known  bool // the refusal is the API's word on the key
	}{
		{says(401, "unauthenticated", ""), false},
		{says(403, "forbidden", ""), false},
		{says(400, "body_malformed", ""), false},
		{says(404, "", ""), false},
		{says(422, "", ""), false},
		{says(307, "", ""), false},
		{says(402, "card_declined", ""), true},
		{says(409, "idempotency_key_reused", ""), true},
		{says(410, "idempotency_key_expired", ""), true},
		{says(422, "sold_out", ""), true},
	} {
		synctest.Test(t, func(t *testing.T) {
			shop := &fakeShop{script: []fault{lost, c.second}}
			_, err := shop.client(t, client.Config{}).PlaceOrder(t.Context(), anOrder)
			status := c.second(nil, arrival{}).status
			unknown, doubt := errors.AsType[*client.Unknown](err)
			if _, refused := errors.AsType[*client.Refused](err); refused != c.known || doubt == c.known {
				t.Errorf("%d after a lost answer: %v", status, err)
			}
			if doubt && (unknown.State != client.Completed || len(shop.asked) != 1 || len(shop.arrivals) != 3) {
				t.Errorf("%d: %v, asked %d, arrived %d", status, err, len(shop.asked), len(shop.arrivals))
			}
		})
	}
}

// TestANewKeyIsNotCalledSafeForAKeyThatWasSaved: an earlier run of the program may have used it.
func TestANewKeyIsNotCalledSafeForAKeyThatWasSaved(t *testing.T) {
	t.Parallel()
	for status, safe := range map[int]bool{401: false, 422: true} {
		shop := &fakeShop{script: []fault{func(*fakeShop, arrival) *answer {
			return &answer{status, nil, `{"code":"some_code","safe_new_key":true}`}
		}}}
		_, err := shop.client(t, client.Config{}).PlaceOrder(t.Context(), anOrder, client.WithKey(client.NewKey()))
		if refused, ok := errors.AsType[*client.Refused](err); !ok || refused.SafeNewKey != safe {
			t.Errorf("%d: got %#v", status, err)
		}
	}
}

func TestALetterThatIsNotKeptIsTold(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	shop := &fakeShop{script: []fault{says(410, "idempotency_key_expired", "")}}
	_, err := shop.client(t, client.Config{DeadLetters: &letters{err: full}}).PlaceOrder(t.Context(), anOrder)
	if _, ok := errors.AsType[*client.Refused](err); !ok || !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

func TestTheLogHoldsNoPersonalDataAndNoSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		shop := &fakeShop{script: []fault{lost, says(503, "", "1"), says(400, "body_malformed", "")}}
		got, err := shop.client(t, client.Config{Log: slog.New(slog.NewJSONHandler(&text, nil))}).PlaceOrder(t.Context(), anOrder)
		if err == nil || strings.Count(text.String(), "\n") != 3 {
			t.Errorf("%v, logged: %s", err, text.String())
		}
		for _, secret := range []string{"sanne", "Sanne", "demo-alpha", string(got.Key)} {
			if strings.Contains(text.String(), secret) {
				t.Errorf("%q is in the log: %s", secret, text.String())
			}
		}
	})
}
