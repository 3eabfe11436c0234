package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
)

var form = []string{"Content-Type", "application/x-www-form-urlencoded"}

func contactForm(key, text string) string {
	return "key=" + key + "&email=a%40example.nl&message=" + text
}

func wantTold(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if n, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || n < 1 || n > 60 {
		t.Errorf("%d with Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
}

// TestPagesHoldAnAddressToItsLimit covers S6 and S36 for visitors. What they typed is not lost.
func TestPagesHoldAnAddressToItsLimit(t *testing.T) {
	t.Parallel()
	a := startApp(t, slog.New(slog.DiscardHandler), map[string]string{"DATA_DIR": t.TempDir(), "RATE_LIMIT_ADDRESS": "60", "RATE_LIMIT_CONTACT": "3"})
	h := a.handler()
	statuses := map[int]int{}
	var sent []string
	for i := range 6 {
		id := uuid.NewString()
		w := send(h, "POST", "/contact/"+id, contactForm(id, fmt.Sprintf("typed%d", i)), form...)
		statuses[w.Code]++
		if w.Code == http.StatusSeeOther {
			sent = append(sent, id)
		} else {
			wantTold(t, w)
			if !strings.Contains(w.Body.String(), fmt.Sprintf("typed%d", i)) || !strings.Contains(w.Body.String(), "a lot at once") {
				t.Errorf("the page lost what was typed: %s", w.Body)
			}
		}
	}
	if statuses[303] < 3 || statuses[303] > 4 || statuses[303]+statuses[429] != 6 {
		t.Errorf("messages: %v", statuses)
	}
	if w := send(h, "POST", "/contact/"+sent[0], contactForm(sent[0], "typed0"), form...); w.Code != 303 {
		t.Errorf("the second click of a message at the limit: %d", w.Code)
	}
	for range 80 {
		if w := send(h, "POST", "/nl/basket", "sku=mug&quantity=1", form...); w.Code == 429 {
			wantTold(t, w)
			if !strings.Contains(w.Body.String(), "veel ineens") {
				t.Errorf("got %s", w.Body)
			}
			statuses[-429]++
		}
	}
	if n := statuses[-429]; n < 20 || n > 28 {
		t.Errorf("%d of 80 changes were refused", n)
	}
	if w := send(h, "GET", "/", ""); w.Code != 200 {
		t.Errorf("reading at the limit: %d", w.Code)
	}
}

// TestNobodyTriesEveryOrderNumber: looking an order up counts as a change of a page does.
func TestNobodyTriesEveryOrderNumber(t *testing.T) {
	t.Parallel()
	h := startApp(t, slog.New(slog.DiscardHandler), map[string]string{"DATA_DIR": t.TempDir(), "RATE_LIMIT_ADDRESS": "60"}).handler()
	statuses := map[int]int{}
	for i := range 80 {
		w := send(h, "POST", "/orders", fmt.Sprintf("number=EM-0000-%04d&email=sanne%%40example.nl", i), form...)
		statuses[w.Code]++
	}
	if statuses[422] < 55 || statuses[429] < 15 || statuses[422]+statuses[429] != 80 {
		t.Errorf("80 look-ups are answered with %v, want about 60 answers", statuses)
	}
}

// TestAnAddressIsNotWhatItSays covers S41: only a proxy that we name may speak for others.
func TestAnAddressIsNotWhatItSays(t *testing.T) {
	t.Parallel()
	for proxies, want := range map[string]bool{"": false, "10.0.0.0/8": false, "192.0.2.0/24": true} { // httptest calls from 192.0.2.1
		a := startApp(t, slog.New(slog.DiscardHandler), map[string]string{"DATA_DIR": t.TempDir(), "RATE_LIMIT_ADDRESS": "2", "TRUSTED_PROXIES": proxies})
		h := a.handler()
		passed := 0
		for i := range 20 {
			spoof := append([]string{"X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i), "X-Real-IP", fmt.Sprintf("198.51.100.%d", i)}, form...)
			if w := send(h, "POST", "/basket", "sku=mug&quantity=1", spoof...); w.Code == 303 {
				passed++
			}
		}
		if believed := passed == 20; believed != want || (!believed && passed > 3) {
			t.Errorf("trusting %q: %d of 20 passed", proxies, passed)
		}
	}
}
