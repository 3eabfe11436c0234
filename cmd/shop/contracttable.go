package main

import (
	"fmt"
	"regexp"
	"strings"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/api/openapi"
)

var parameter = regexp.MustCompile(`:(\w+)`)

// contractTable is the table of keyed endpoints in the README; a test compares the two. It is made of
// the registry, so an endpoint that is not in it does not exist.
func contractTable(operations []idempotent.Described) string {
	var b strings.Builder
	b.WriteString("| endpoint | key | answer kept for | body |\n| --- | --- | --- | --- |\n")
	for _, o := range operations {
		key, body := "any", fmt.Sprintf("at most %d KiB", o.MaxBody>>10)
		if o.UUIDOnly {
			key = "UUID"
		}
		if o.BodyOptional {
			body = "optional"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n",
			parameter.ReplaceAllString(o.Pattern, "{$1}"), key, openapi.Short(o.TTL), body)
	}
	return b.String()
}
