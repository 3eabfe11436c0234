// Package openapi serves the API's contract and a page to try it. The contract is written by hand, in
// openapi.yaml; the tests of package api hold every request and answer against it.
package openapi

import (
	"bytes"
	_ "embed"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// Source is the contract with the default settings.
//
//go:embed openapi.yaml
var Source []byte

// Settings are what the contract tells of the running shop.
type Settings struct {
	TTLContact, TTLOrders, TTLPayments, RetryWindow time.Duration

	DemoKey string // the page is ready to call the API with it; empty: its user has a key
}

// Routes mounts /openapi.yaml and /docs.
func Routes(r gin.IRouter, s Settings) {
	contract := file{kind: "application/yaml", body: Document(s)}
	r.GET("/openapi.yaml", contract.serve)
	mountDocs(r, s.DemoKey)
}

// A duration of the contract that a setting decides is written
//
//	ttl: 72h # TTL_ORDERS
var adjustable = regexp.MustCompile(`(?m): \S+ # (TTL_\w+|RETRY_WINDOW)$`)

// Document is the contract with the durations of a running shop: it promises what the shop keeps.
func Document(s Settings) []byte {
	durations := map[string]time.Duration{
		"TTL_CONTACT": s.TTLContact, "TTL_ORDERS": s.TTLOrders, "TTL_PAYMENTS": s.TTLPayments, "RETRY_WINDOW": s.RetryWindow,
	}
	return adjustable.ReplaceAllFunc(Source, func(line []byte) []byte {
		_, setting, _ := bytes.Cut(line, []byte("# "))
		return []byte(": " + Short(durations[string(setting)]) + " # " + string(setting))
	})
}

// Short writes whole hours as 72h and not as 72h0m0s.
func Short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
