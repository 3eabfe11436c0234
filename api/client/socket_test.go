package client_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/eenmaal/api/client"
)

func (s *fakeShop) serve(t *testing.T) *client.Client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{BaseURL: server.URL + "/", Secret: "demo-alpha"})
	must(t, err)
	return c
}

// TestWhatNetHTTPSendsAgainIsCounted covers T32: the kept connection breaks after the effect, net/http
// sends the request again without telling, and it is a duplicate like any other.
func TestWhatNetHTTPSendsAgainIsCounted(t *testing.T) {
	t.Parallel()
	shop := &fakeShop{}
	c := shop.serve(t)
	_, err := c.PlaceOrder(t.Context(), anOrder) // makes the connection that is kept
	must(t, err)
	shop.mu.Lock()
	shop.script = []fault{lost, nil}
	shop.mu.Unlock()
	got, err := c.PlaceOrder(t.Context(), anOrder)
	must(t, err)
	shop.mu.Lock()
	defer shop.mu.Unlock()
	second := shop.arrivals[1:]
	if len(second) != 2 || second[0].key != second[1].key || second[0].body != second[1].body || second[1].retry != "" {
		t.Errorf("arrived: %+v", second)
	}
	if shop.effects != 2 || !got.Replayed || got.Attempts != 2 || got.Value.ID != "no-2" {
		t.Errorf("%d effects, got %+v", shop.effects, got)
	}
}

func TestALostAnswerOnANewConnection(t *testing.T) {
	t.Parallel()
	shop := &fakeShop{script: []fault{lost, nil}}
	got, err := shop.serve(t).PlaceOrder(t.Context(), anOrder)
	must(t, err)
	oneKey(t, shop.arrivals)
	if shop.effects != 1 || !got.Replayed || got.Attempts != 2 || got.Value.ID != "no-1" {
		t.Errorf("%d effects, got %+v", shop.effects, got)
	}
}

// TestARedirectIsNotFollowed: the secret and the order would go to a stranger.
func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	stranger := &fakeShop{}
	elsewhere := httptest.NewServer(stranger)
	defer elsewhere.Close()
	shop := &fakeShop{script: []fault{func(*fakeShop, arrival) *answer {
		return &answer{307, http.Header{"Location": {elsewhere.URL + "/v1/orders"}}, ""}
	}}}
	if _, err := shop.serve(t).PlaceOrder(t.Context(), anOrder); err == nil || len(stranger.arrivals) != 0 {
		t.Errorf("got %v, the stranger saw %v", err, stranger.arrivals)
	}
}
