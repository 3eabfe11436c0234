package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"maps"
	"os"
	"strings"
	"testing"
)

func TestConfigListsEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	_, err := LoadConfig(map[string]string{
		"ADDR": "nonsense", "MODE": "prod", "DATABASE_URL": "mysql://x", "PSP": "stripe", "LOG_FORMAT": "xml",
		"SHUTDOWN_TIMEOUT": "soon", "DATABASE_POOL": "many", "KEY_JOURNAL": "ja", "SMTP_URL": "mail", "RATE_LIMIT": "-1", "TTL_CONTACT": "1h", "BASE_URL": "ftp://x", "TRUSTED_PROXIES": "here", "API_CONSUMERS": "a=short",
		"REDIS_URL": "http://:secret@host",
	})
	bad, ok := errors.AsType[*ConfigError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	for _, name := range []string{"ADDR", "MODE", "DATABASE_URL", "PSP", "LOG_FORMAT", "SHUTDOWN_TIMEOUT", "DATABASE_POOL", "BASE_URL", "TRUSTED_PROXIES", "API_CONSUMERS", "REDIS_URL", "KEY_JOURNAL", "SMTP_URL", "RATE_LIMIT", "TTL_CONTACT"} {
		if n := strings.Count(bad.Error(), "  - "+name+" "); n != 1 {
			t.Errorf("%s is named %d times in:\n%v", name, n, bad)
		}
	}
	if want := "KEY_JOURNAL must be true or false\n"; !strings.Contains(bad.Error(), want) {
		t.Errorf("%q is not in:\n%v", want, bad)
	}
	if n := len(bad.Problems); n != 15 {
		t.Errorf("%d problems, and 15 settings are wrong:\n%v", n, bad)
	}
}

// TestConfigRefusesATTLNotLongerThanTheRetryWindow covers T28.
func TestConfigRefusesATTLNotLongerThanTheRetryWindow(t *testing.T) {
	t.Parallel()
	for name, environment := range map[string]map[string]string{
		"TTL_CONTACT":  {"TTL_CONTACT": "24h"},
		"TTL_ORDERS":   {"TTL_ORDERS": "1h"},
		"TTL_PAYMENTS": {"RETRY_WINDOW": "168h", "TTL_ORDERS": "168h"},
		"ORDER_EXPIRY": {"TTL_ORDERS": "96h"},
	} {
		if _, err := LoadConfig(environment); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: got %v", environment, err)
		}
	}
}

func TestConfigDefaultsAreADemoThatStarts(t *testing.T) {
	t.Parallel()
	cfg, err := LoadConfig(map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.BaseURL != "http://127.0.0.1:8080" || !cfg.demo() || len(cfg.SessionSecret) < 32 {
		t.Errorf("got %+v", cfg)
	}
}

func TestProductionRefusesDemoSecretsAndTheBuiltInProvider(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "short", demoSecret} {
		_, err := LoadConfig(map[string]string{"MODE": "production", "SESSION_SECRET": secret})
		for _, name := range []string{"SESSION_SECRET", "WEBHOOK_SECRET", "PSP_URL", "BASE_URL"} {
			if err == nil || strings.Count(err.Error(), "  - "+name) != 1 {
				t.Errorf("secret %q: %s is not named once: %v", secret, name, err)
			}
		}
	}
	good := map[string]string{"MODE": "production", "SESSION_SECRET": strings.Repeat("x", 32), "PSP_URL": "http://psp:8080", "BASE_URL": "https://shop.example",
		"WEBHOOK_SECRET": "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 32))}
	for _, secret := range []string{"", "whsec_", "whsec_c2hvcnQ=", "plain text", demoWebhookSecret, good["WEBHOOK_SECRET"] + ","} { // S25
		bad := maps.Clone(good)
		bad["WEBHOOK_SECRET"] = secret
		if _, err := LoadConfig(bad); err == nil || !strings.Contains(err.Error(), "WEBHOOK_SECRET") {
			t.Errorf("webhook secret %q: got %v", secret, err)
		}
	}
	cfg, err := LoadConfig(good)
	if err != nil {
		t.Fatal(err)
	}
	if consumers, err := cfg.consumers(); err != nil || len(consumers) != 0 {
		t.Errorf("production has consumers %v, %v", consumers, err)
	}
}

func TestReadmeHasTheSettingsTable(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), configTable()) {
		t.Errorf("README.md lacks this table:\n%s", configTable())
	}
}
