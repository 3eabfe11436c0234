package api_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// unprovoked are declared statuses and codes that no test of this package can meet, and why. One that is
// met all the same fails, so that the list stays true.
var unprovoked = map[string]string{
	"POST /v1/webhooks/{provider} 400":                "the tests' client sends no half bodies",
	"POST /v1/webhooks/{provider} 400 body_malformed": "the tests' client sends no half bodies",
}

// TestMain holds the contract against all that the whole suite has seen: what is declared must happen.
func TestMain(m *testing.M) {
	status := m.Run()
	if status == 0 && everyTest() {
		for _, complaint := range theContract().neverSeen() {
			fmt.Fprintln(os.Stderr, "openapi.yaml:", complaint)
			status = 1
		}
	}
	os.Exit(status)
}

// everyTest reports whether no flag has left tests out.
func everyTest() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.short"} {
		if f := flag.Lookup(name); f.Value.String() != f.DefValue {
			return false
		}
	}
	return true
}

func (c *contract) neverSeen() (complaints []string) {
	var declared []string
	for _, name := range c.operations() {
		responses := c.named(name).at("responses")
		for _, status := range responses.names() {
			declared = append(declared, name+" "+status)
			for _, code := range responses.at(status, "content", "application/problem+json", "examples").names() {
				declared = append(declared, name+" "+status+" "+code)
			}
		}
	}
	for _, d := range declared {
		reason := reasonFor(d)
		if !c.seen[d] && reason == "" {
			complaints = append(complaints, d+" never happened")
		}
		if c.seen[d] && reason != "" {
			complaints = append(complaints, d+" happened, and is in the list of those that cannot ("+reason+")")
		}
	}
	for d := range unprovoked {
		if !slices.ContainsFunc(declared, func(s string) bool { return strings.HasSuffix(s, d) }) {
			complaints = append(complaints, d+" is in the list of those that cannot happen, and not declared")
		}
	}
	return complaints
}

// reasonFor finds a declared status in the list, by itself or by its end ("429").
func reasonFor(declared string) string {
	for end, reason := range unprovoked {
		if strings.HasSuffix(" "+declared, " "+end) {
			return reason
		}
	}
	return ""
}
