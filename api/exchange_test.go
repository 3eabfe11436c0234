package api_test

import (
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// exchange is one request and its answer.
type exchange struct {
	request *http.Request
	body    string // of the request
	answer  answer
}

// examine gives everything in which an exchange and the document disagree.
func (c *contract) examine(e exchange) (troubles []string) {
	called, parameters := c.called(e.request)
	name, operation := called.name, called.operation
	if name == "" {
		if e.answer.Status != http.StatusNotFound && e.answer.Status != http.StatusMethodNotAllowed {
			return []string{"the contract has no such operation"}
		}
		return nil
	}
	trouble := func(format string, args ...any) { troubles = append(troubles, fmt.Sprintf(format, args...)) }
	wrong := c.request(operation, parameters, e)
	if e.answer.Status < 400 && wrong != nil {
		trouble("a request that the contract calls invalid got %d: %v", e.answer.Status, wrong)
	}
	response := operation.at("responses", strconv.Itoa(e.answer.Status))
	if !response.exists() {
		trouble("%s does not declare status %d", name, e.answer.Status)
		return troubles
	}
	c.note(name, e.answer.Status, "")
	c.headers(response, e.answer.Header, trouble)
	kind, value := c.content(response, e.answer, trouble)
	if kind == "application/problem+json" {
		code := c.problem(response, e.answer, value, trouble)
		c.note(name, e.answer.Status, code)
		if wrong == nil && visible[code] {
			trouble("a request that the contract calls valid got %s", code)
		}
	}
	return troubles
}

// visible are the refusals of requests that the contract calls invalid too. Others it cannot see: a
// field that comes twice, 1e0 for a whole number, a body that ends too soon.
var visible = map[string]bool{"idempotency_key_missing": true, "idempotency_key_malformed": true,
	"idempotency_key_ambiguous": true, "unknown_field": true, "parameter_malformed": true}

func (c *contract) note(name string, status int, code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[strings.TrimSpace(fmt.Sprintf("%s %d %s", name, status, code))] = true
}

func (c *contract) request(operation place, path map[string]string, e exchange) error {
	if security, own := operation.field("security").([]any); !own || len(security) > 0 {
		if scheme, key, _ := strings.Cut(e.request.Header.Get("Authorization"), " "); scheme != "Bearer" || key == "" {
			return errors.New("there is no bearer key")
		}
	}
	for _, p := range operation.list("parameters") {
		var values []string
		switch name := p.text("name"); p.text("in") {
		case "path":
			values = []string{path[name]}
		case "query":
			values = e.request.URL.Query()[name]
		default:
			values = e.request.Header.Values(name)
		}
		if err := c.parameter(p, values); err != nil {
			return fmt.Errorf("%s: %w", p.text("name"), err)
		}
	}
	body := operation.at("requestBody")
	if e.body == "" {
		if body.field("required") == true {
			return errors.New("there is no body")
		}
		return nil
	}
	kind, _, _ := mime.ParseMediaType(e.request.Header.Get("Content-Type"))
	media := body.at("content", kind)
	if !media.exists() {
		return fmt.Errorf("a body of type %q", kind)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(e.body))
	if err != nil {
		return err
	}
	return c.check(media.at("schema"), value)
}

func (c *contract) parameter(p place, values []string) error {
	switch {
	case len(values) > 1:
		return fmt.Errorf("comes %d times", len(values))
	case len(values) == 1:
		var value any = values[0]
		if n, err := strconv.Atoi(values[0]); err == nil && p.at("schema").text("type") == "integer" {
			value = n
		}
		return c.check(p.at("schema"), value)
	case p.field("required") == true:
		return errors.New("is missing")
	default:
		return nil
	}
}

// ofTheMessage are headers that HTTP itself needs; no contract speaks of them.
var ofTheMessage = []string{"Content-Length", "Content-Type", "Date", "Connection"}

func (c *contract) headers(response place, got http.Header, trouble func(string, ...any)) {
	undeclared := maps.Clone(got)
	for _, name := range ofTheMessage {
		delete(undeclared, name)
	}
	declared := response.at("headers")
	for _, name := range declared.names() {
		delete(undeclared, http.CanonicalHeaderKey(name))
		header := declared.at(name)
		switch values := got.Values(name); {
		case len(values) > 1:
			trouble("header %s comes %d times", name, len(values))
		case len(values) == 1:
			if err := c.check(header.at("schema"), values[0]); err != nil {
				trouble("header %s: %v", name, err)
			}
		case header.field("required") == true:
			trouble("header %s is missing", name)
		}
	}
	for name := range undeclared {
		trouble("header %s is not declared", name)
	}
}

func (c *contract) content(response place, a answer, trouble func(string, ...any)) (kind string, value any) {
	kind, _, _ = mime.ParseMediaType(a.Header.Get("Content-Type"))
	media := response.at("content", kind)
	if !media.exists() {
		trouble("the answer %d of type %q is not declared", a.Status, kind)
		return kind, nil
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(a.Body))
	if err == nil {
		err = c.check(media.at("schema"), value)
	}
	if err != nil {
		trouble("the answer %d %s: %v", a.Status, a.Body, err)
	}
	return kind, value
}

// problem compares a problem with the example of its code: what a program reads in it is the same for
// every problem of a code.
func (c *contract) problem(response place, a answer, value any, trouble func(string, ...any)) (code string) {
	got := place{value: value}
	code = got.text("code")
	example := response.at("content", "application/problem+json", "examples", code, "value")
	if !example.exists() {
		trouble("the code %s of status %d is not declared here", code, a.Status)
		return code
	}
	for _, name := range []string{"type", "title", "status", "retryable", "safe_new_key"} {
		if fmt.Sprint(got.field(name)) != fmt.Sprint(example.field(name)) {
			trouble("%s of %s is %v, in its example %v", name, code, got.field(name), example.field(name))
		}
	}
	if fmt.Sprint(got.field("status")) != strconv.Itoa(a.Status) {
		trouble("the problem of status %d says %v", a.Status, got.field("status"))
	}
	if (a.Header.Get("Retry-After") != "") != (got.field("retryable") == true) {
		trouble("Retry-After is %q and retryable %v", a.Header.Get("Retry-After"), got.field("retryable"))
	}
	return code
}
