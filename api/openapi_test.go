package api_test

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/openapi"
	"example.com/eenmaal/store/storetest"
)

// TestTheContractIsValid reads it as OpenAPI 3.1 and holds its examples against its schemas.
func TestTheContractIsValid(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(openapi.Source)
	must(t, err)
	if document.OpenAPI != "3.1.0" {
		t.Errorf("it is of OpenAPI %s", document.OpenAPI)
	}
	must(t, document.Validate(t.Context(), openapi3.EnableExamplesValidation()))
}

var pathParameter = regexp.MustCompile(`:(\w+)`)

// documented writes a route as the contract does.
func documented(pattern string) string { return pathParameter.ReplaceAllString(pattern, "{$1}") }

func TestEveryRouteIsInTheContractAndEveryPathIsARoute(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t))
	engine := gin.New()
	s.Routes(engine)
	var routes []string
	for _, r := range engine.Routes() {
		routes = append(routes, r.Method+" "+documented(r.Path))
	}
	declared := theContract().operations()
	for _, r := range routes {
		if !slices.Contains(declared, r) {
			t.Errorf("%s is not in openapi.yaml", r)
		}
	}
	for _, d := range declared {
		if !slices.Contains(routes, d) {
			t.Errorf("%s is in openapi.yaml and no route", d)
		}
	}
}

// operations lists what the contract declares: "POST /v1/orders".
func (c *contract) operations() (names []string) {
	for _, r := range c.routes {
		names = append(names, r.name)
	}
	return names
}

func (c *contract) named(name string) place {
	method, path, _ := strings.Cut(name, " ")
	return c.root.at("paths", path, strings.ToLower(method))
}

// TestEveryOperationStatesWhatItsKeyMeans compares x-idempotency with the registry. It answers the
// questions which endpoints take a key, for how long, and what a duplicate and a mismatch get.
func TestEveryOperationStatesWhatItsKeyMeans(t *testing.T) {
	t.Parallel()
	s := newShop(t, storetest.SQLite(t))
	keyed := map[string]bool{"POST /v1/webhooks/{provider}": true}
	for _, o := range s.registry.Operations() {
		name := documented(o.Pattern)
		keyed[name] = true
		operation := theContract().named(name)
		got, _ := operation.field("x-idempotency").(map[string]any)
		format, parameter := "token", "IdempotencyKey"
		if o.UUIDOnly {
			format, parameter = "uuid", "MoneyIdempotencyKey"
		}
		want := map[string]any{
			"key": "required", "key_format": format, "scope": []any{"consumer", "endpoint", "key"},
			"fingerprint": fingerprinted(operation), "ttl": hours(o.TTL), "retry_window": "24h",
			"same_request": "the stored answer, byte for byte", "other_request": "409 idempotency_key_reused",
			"still_running": "waits 8s, then 409 operation_in_progress", "after_ttl": "410 idempotency_key_expired",
			"max_body": got["max_body"],
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: x-idempotency is\n%v, want\n%v", name, got, want)
		}
		if size, _ := got["max_body"].(interface{ Int64() (int64, error) }); size == nil {
			t.Errorf("%s: no max_body", name)
		} else if n, _ := size.Int64(); n != o.MaxBody {
			t.Errorf("%s: max_body is %d, want %d", name, n, o.MaxBody)
		}
		if required := operation.at("requestBody").field("required"); required != !o.BodyOptional {
			t.Errorf("%s: the body is required: %v", name, required)
		}
		if !slices.ContainsFunc(operation.list("parameters"), func(p place) bool { return strings.HasSuffix(p.pointer, "/"+parameter) }) {
			t.Errorf("%s does not have the parameter %s", name, parameter)
		}
	}
	for _, name := range theContract().operations() {
		if states := theContract().named(name).field("x-idempotency") != nil; states != keyed[name] {
			t.Errorf("%s: has x-idempotency: %v, want %v", name, states, keyed[name])
		}
		if strings.HasPrefix(name, http.MethodGet) == keyed[name] {
			t.Errorf("%s: takes a key: %v", name, keyed[name])
		}
	}
}

// fingerprinted are the names that tell two requests apart: path parameters and the body's fields.
func fingerprinted(operation place) (names []any) {
	all := operation.at("requestBody", "content", "application/json", "schema", "properties").names()
	for _, p := range operation.list("parameters") {
		if p.text("in") == "path" {
			all = append(all, p.text("name"))
		}
	}
	slices.Sort(all)
	for _, name := range all {
		names = append(names, name)
	}
	return names
}

func hours(d time.Duration) string { return strings.TrimSuffix(d.String(), "0m0s") }

// TestRequestSchemasAreClosed: the shop refuses fields that it does not know, and says so. Source is read
// here, since the contract of the tests closes all schemas.
func TestRequestSchemasAreClosed(t *testing.T) {
	t.Parallel()
	for _, name := range theContract().operations() {
		schema := theContract().named(name).at("requestBody", "content", "application/json", "schema")
		if strings.HasPrefix(name, "POST /v1/webhooks/") || !schema.exists() {
			continue // the provider's own format
		}
		if schema.field("additionalProperties") != false {
			t.Errorf("%s accepts fields that are not declared", name)
		}
	}
}
