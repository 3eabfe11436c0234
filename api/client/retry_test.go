package client_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"example.com/eenmaal/api/client"
)

var anOrder = client.OrderRequest{Email: "sanne@example.nl", Name: "Sanne <de> Vries"}

// TestARetryIsTheSameRequest covers the client's side of T25, T42 and T57: whatever went wrong before,
// every retry has the key and the bytes of the first try, and one thing happens.
func TestARetryIsTheSameRequest(t *testing.T) {
	t.Parallel()
	for name, script := range map[string][]fault{
		"lost":                 {lost, nil},
		"unheard":              {unheard, unheard, nil},
		"silent":               {silent, nil},
		"still running (T42)":  {says(409, "operation_in_progress", "1"), says(409, "operation_in_progress", "1"), nil},
		"provider down (T57)":  {says(503, "provider_unavailable", "1"), nil},
		"failed":               {says(500, "retry_same_key", ""), lost, nil},
		"too many":             {says(429, "", "2"), nil},
		"cut off":              {func(s *fakeShop, a arrival) *answer { half := *s.run(a); half.body = half.body[:9]; return &half }, nil},
		"a stranger's welcome": {func(*fakeShop, arrival) *answer { return &answer{200, nil, "<h1>Hotel Wifi</h1>"} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shop := &fakeShop{script: script}
				got, err := shop.client(t, client.Config{}).PlaceOrder(t.Context(), anOrder)
				must(t, err)
				oneKey(t, shop.arrivals)
				if shop.effects != 1 || got.Value.ID != "no-1" || got.Status != 201 {
					t.Errorf("%d effects, got %+v", shop.effects, got)
				}
				if len(shop.arrivals) != len(script) || got.Attempts != len(script) || string(got.Key) != shop.arrivals[0].key {
					t.Errorf("%d arrivals, got %+v", len(shop.arrivals), got)
				}
				if len(shop.asked) != 0 {
					t.Error("asked for an operation although there was an answer")
				}
			})
		})
	}
}

// TestNoCallUsesTheKeyOfAnother covers T21, T25 and T26.
func TestNoCallUsesTheKeyOfAnother(t *testing.T) {
	t.Parallel()
	shop := &fakeShop{}
	c := shop.client(t, client.Config{})
	mine := client.NewKey()
	_, err := c.PlaceOrder(t.Context(), anOrder, client.WithKey(mine))
	must(t, err)
	_, err = c.PayOrder(t.Context(), client.PaymentRequest{OrderID: "no-1", Method: client.Card("tok_ok")})
	must(t, err)
	for range 2 {
		_, err = c.CapturePayment(t.Context(), "no-2", 500)
		must(t, err)
	}
	_, err = c.PlaceOrder(t.Context(), anOrder)
	must(t, err)
	if got := shop.arrivals[0].key; got != string(mine) {
		t.Errorf("the caller's key is %s, sent was %s", mine, got)
	}
	keys := map[string]bool{}
	for _, a := range shop.arrivals {
		keys[a.key] = true
	}
	if len(keys) != 5 || shop.effects != 5 {
		t.Errorf("%d keys and %d effects of 5 calls", len(keys), shop.effects)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		date := time.Now().UTC()
		byDate := func(*fakeShop, arrival) *answer {
			return &answer{503, http.Header{"Date": {date.Format(http.TimeFormat)}, "Retry-After": {date.Add(4 * time.Second).Format(http.TimeFormat)}}, ""}
		}
		shop := &fakeShop{script: []fault{says(503, "", "3"), byDate, nil}}
		_, err := shop.client(t, client.Config{}).PlaceOrder(t.Context(), anOrder)
		must(t, err)
		for i, least := range []time.Duration{3 * time.Second, 4 * time.Second} {
			if pause := shop.arrivals[i+1].at.Sub(shop.arrivals[i].at); pause < least || pause > least+time.Second {
				t.Errorf("pause %d is %s, want %s and a little", i, pause, least)
			}
		}
	})
}

// TestAFirstRequestThatRunsLong covers T64: it takes 20 s, and whoever asks meanwhile waits 8 s and
// gets 409 with Retry-After.
func TestAFirstRequestThatRunsLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		running := func(s *fakeShop, a arrival) *answer {
			select {
			case <-time.After(min(8*time.Second, 20*time.Second-time.Since(start))):
			case <-a.ctx.Done():
			}
			if time.Since(start) < 20*time.Second {
				return says(409, "operation_in_progress", "1")(s, a)
			}
			return s.run(a)
		}
		shop := &fakeShop{script: []fault{running}, state: client.InProgress}
		// Too little time: the key stays good.
		key := client.NewKey()
		_, err := shop.client(t, client.Config{Attempt: 10 * time.Second, Budget: 15 * time.Second}).PlaceOrder(t.Context(), anOrder, client.WithKey(key))
		if unknown, ok := errors.AsType[*client.Unknown](err); !ok || unknown.State != client.InProgress || unknown.Key != key {
			t.Fatalf("got %v", err)
		}
		got, err := shop.client(t, client.Config{Attempt: 10 * time.Second}).PlaceOrder(t.Context(), anOrder, client.WithKey(key))
		must(t, err)
		if shop.effects != 1 || got.Value.ID != "no-1" || time.Since(start) < 20*time.Second {
			t.Errorf("%d effects after %s, got %+v", shop.effects, time.Since(start), got)
		}
	})
}

// TestFreshCredentialsGoOnWithTheKey covers T29.
func TestFreshCredentialsGoOnWithTheKey(t *testing.T) {
	t.Parallel()
	shop, dead := &fakeShop{secret: "fresh"}, &letters{}
	got, err := shop.client(t, client.Config{Secret: "stale", DeadLetters: dead}).PlaceOrder(t.Context(), anOrder)
	refused, ok := errors.AsType[*client.Refused](err)
	if !ok || refused.Status != 401 || refused.Key != got.Key || len(shop.arrivals) != 1 || len(dead.list) != 1 {
		t.Fatalf("got %+v, %v; %d arrivals, letters %v", got, err, len(shop.arrivals), dead.list)
	}
	after, err := shop.client(t, client.Config{Secret: "fresh"}).Do(t.Context(), dead.list[0].Call())
	must(t, err)
	if shop.effects != 1 || after.Replayed || after.Key != refused.Key || shop.arrivals[1].body != shop.arrivals[0].body {
		t.Errorf("%d effects, got %+v", shop.effects, after)
	}
}

func TestAReadIsRetriedAndNeverUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shop, dead := &fakeShop{mute: true}, &letters{}
		c := shop.client(t, client.Config{DeadLetters: dead})
		time.AfterFunc(time.Second, func() { shop.mu.Lock(); shop.mute = false; shop.mu.Unlock() })
		got, err := c.Order(t.Context(), "no/1")
		must(t, err)
		if got.Value.Number != "EM-1" || got.Attempts < 2 || got.Key != "" {
			t.Errorf("got %+v", got)
		}
		if a := shop.asked[0]; a.key != "" || a.endpoint != "GET /v1/orders/no/1" {
			t.Errorf("asked %+v", a)
		}
		shop.mute = true
		before := len(shop.asked)
		got, err = c.Order(t.Context(), "no-1")
		if _, unknown := errors.AsType[*client.Unknown](err); err == nil || unknown || got.Attempts != len(shop.asked)-before {
			t.Errorf("got %+v, %v after %d requests", got, err, len(shop.asked)-before)
		}
		shop.secret = "another"
		if _, err = c.Order(t.Context(), "no-1"); err == nil {
			t.Error("no error with the wrong secret")
		}
		if len(dead.list) != 0 {
			t.Errorf("letters: %v", dead.list)
		}
	})
}

func TestAReadHasNoKeyEvenWhenOneIsGiven(t *testing.T) {
	t.Parallel()
	shop := &fakeShop{}
	got, err := shop.client(t, client.Config{}).Do(t.Context(), client.Call{Method: http.MethodGet, Path: "/v1/orders/no-1", Key: client.NewKey()})
	must(t, err)
	if got.Key != "" || shop.asked[0].key != "" {
		t.Errorf("got %+v, sent %+v", got, shop.asked[0])
	}
}

// TestWhatCannotBeSentIsNotSent: such an error is neither a refusal nor a doubt.
func TestWhatCannotBeSentIsNotSent(t *testing.T) {
	t.Parallel()
	shop, dead := &fakeShop{}, &letters{}
	c := shop.client(t, client.Config{DeadLetters: dead})
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, try := range map[string]func() error{
		"key": func() error {
			_, err := c.PlaceOrder(t.Context(), anOrder, client.WithKey("sanne@example.nl"))
			return err
		},
		"body": func() error {
			_, err := c.Do(t.Context(), client.Call{Method: "POST", Path: "/v1/orders", Body: func() {}})
			return err
		},
		"method": func() error { _, err := c.Do(t.Context(), client.Call{Path: "/v1/orders"}); return err },
		"path": func() error {
			_, err := c.Do(t.Context(), client.Call{Method: "POST", Path: ".evil.test/v1/orders"})
			return err
		},
		"address": func() error { _, err := c.Do(t.Context(), client.Call{Method: "POST", Path: "/%zz"}); return err },
		"context": func() error { _, err := c.PlaceOrder(gone, anOrder); return err },
	} {
		err := try()
		_, refused := errors.AsType[*client.Refused](err)
		_, unknown := errors.AsType[*client.Unknown](err)
		if err == nil || refused || unknown {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if len(shop.arrivals) != 0 || len(dead.list) != 0 {
		t.Errorf("arrived: %v, letters: %v", shop.arrivals, dead.list)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for _, cfg := range []client.Config{{}, {BaseURL: "shop.test", Secret: "s"}, {BaseURL: "http://shop.test"},
		{BaseURL: "http://shop.test", Secret: "a\nb"}, {BaseURL: "http://shop.test", Secret: "s", Budget: -1}} {
		if c, err := client.New(cfg); err == nil {
			t.Errorf("%+v gave %+v", cfg, c)
		}
	}
}
