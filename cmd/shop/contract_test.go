package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTheContractIsThatOfTheRunningShop: what it promises follows the settings, the page tells the demo
// key in demo mode only, and the page's policy lets in nothing from elsewhere.
func TestTheContractIsThatOfTheRunningShop(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"demo", "production"} {
		cfg, err := LoadConfig(map[string]string{"DATA_DIR": t.TempDir(), "TTL_ORDERS": "96h30m", "ORDER_EXPIRY": "100h"})
		if err != nil {
			t.Fatal(err)
		}
		a, err := newApp(t.Context(), cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		a.cfg.Mode = mode // only what is served is looked at
		server := httptest.NewServer(a.handler())
		contract, _ := fetch(t, server.URL+"/openapi.yaml")
		if !strings.Contains(contract, "ttl: 96h30m # TTL_ORDERS") || strings.Contains(contract, "ttl: 72h") ||
			!strings.Contains(contract, "ttl: 168h # TTL_PAYMENTS") || !strings.Contains(contract, "retry_window: 24h # RETRY_WINDOW") {
			t.Errorf("%s: the contract does not follow the settings", mode)
		}
		page, header := fetch(t, server.URL+"/docs")
		if told := strings.Contains(page, "demo-alpha"); told != (mode == "demo") {
			t.Errorf("%s: the page tells the demo key: %v", mode, told)
		}
		policy := header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; ") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s: the page's policy is %q", mode, policy)
		}
		if _, header := fetch(t, server.URL+"/v1/products"); header.Get("X-Request-Id") == "" {
			t.Errorf("%s: no X-Request-Id, which the contract promises", mode)
		}
		server.Close()
		a.close()
	}
}

func fetch(t *testing.T, address string) (body string, header http.Header) {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", address, resp.StatusCode, err)
	}
	return string(text), resp.Header
}
