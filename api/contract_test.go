package api_test

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.com/eenmaal/api/openapi"
)

// contract holds openapi.yaml against what is said over the wire. It reads answers more strictly than a
// client should: a field or header that is not declared is a mistake.
type contract struct {
	root     place
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by their place
	seen    map[string]bool               // "POST /v1/orders 201", and "POST /v1/orders 422 sold_out"
}

// theContract is read once, by the first exchange.
var theContract = sync.OnceValue(func() *contract {
	text, err := yaml.YAMLToJSON(openapi.Source)
	if err != nil {
		panic(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	for _, schema := range document.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any) {
		closeObjects(schema)
	}
	c := &contract{root: place{value: document}, compiler: jsonschema.NewCompiler(),
		schemas: map[string]*jsonschema.Schema{}, seen: map[string]bool{}}
	c.root.root = &c.root
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(resource, document); err != nil {
		panic(err)
	}
	return c
})

const resource = "mem:openapi.json"

// closeObjects refuses what is not declared.
func closeObjects(schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if _, open := s["additionalProperties"]; !open && s["properties"] != nil {
		s["additionalProperties"] = false
	}
	properties, _ := s["properties"].(map[string]any)
	for _, p := range properties {
		closeObjects(p)
	}
}

// place is a part of the document and where it is. Going down follows references.
type place struct {
	root    *place
	pointer string
	value   any
}

func (p place) at(names ...string) place {
	for _, name := range names {
		object, _ := p.value.(map[string]any)
		escaped := url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
		p.pointer, p.value = p.pointer+"/"+escaped, object[name]
		if target, _ := p.field("$ref").(string); target != "" {
			p = p.root.at(strings.Split(strings.TrimPrefix(target, "#/"), "/")...)
		}
	}
	return p
}

func (p place) exists() bool { return p.value != nil }

func (p place) field(name string) any {
	object, _ := p.value.(map[string]any)
	return object[name]
}

func (p place) text(name string) string { s, _ := p.field(name).(string); return s }

func (p place) names() []string {
	object, _ := p.value.(map[string]any)
	var names []string
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// list gives the elements of a list, references followed.
func (p place) list(name string) []place {
	elements, _ := p.field(name).([]any)
	list := make([]place, len(elements))
	for i := range elements {
		list[i] = place{p.root, p.pointer + "/" + name + "/" + strconv.Itoa(i), elements[i]}
		if target, _ := list[i].field("$ref").(string); target != "" {
			list[i] = p.root.at(strings.Split(strings.TrimPrefix(target, "#/"), "/")...)
		}
	}
	return list
}

// check validates a value against the schema at a place.
func (c *contract) check(schema place, value any) error {
	c.mu.Lock()
	compiled := c.schemas[schema.pointer]
	if compiled == nil {
		var err error
		if compiled, err = c.compiler.Compile(resource + "#" + schema.pointer); err != nil {
			panic(err)
		}
		c.schemas[schema.pointer] = compiled
	}
	c.mu.Unlock()
	return compiled.Validate(value)
}

// operation finds what a request calls. A literal path comes before one with parameters.
func (c *contract) operation(method, path string) (name string, operation place, parameters map[string]string) {
	parts := strings.Split(path, "/")
	for _, pattern := range c.root.at("paths").names() {
		wanted := strings.Split(pattern, "/")
		values, literal := map[string]string{}, len(wanted) == len(parts)
		for i := 0; literal && i < len(wanted); i++ {
			if strings.HasPrefix(wanted[i], "{") && parts[i] != "" {
				values[strings.Trim(wanted[i], "{}")], _ = url.PathUnescape(parts[i])
			} else {
				literal = wanted[i] == parts[i]
			}
		}
		found := c.root.at("paths", pattern, strings.ToLower(method))
		if literal && found.exists() && (parameters == nil || len(values) < len(parameters)) {
			name, operation, parameters = method+" "+pattern, found, values
		}
	}
	return name, operation, parameters
}

// exchange is one request and its answer.
type exchange struct {
	request *http.Request
	body    string // of the request
	answer  answer
}

// examine gives everything in which an exchange and the document disagree.
func (c *contract) examine(e exchange) (troubles []string) {
	name, operation, parameters := c.operation(e.request.Method, e.request.URL.EscapedPath())
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
			return fmt.Errorf("there is no bearer key")
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
			return fmt.Errorf("there is no body")
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
		return fmt.Errorf("is missing")
	default:
		return nil
	}
}

// ofTheMessage are headers that HTTP itself needs; no contract speaks of them.
var ofTheMessage = []string{"Content-Length", "Content-Type", "Date", "Connection"}

func (c *contract) headers(response place, got http.Header, trouble func(string, ...any)) {
	declared := response.at("headers")
	for _, name := range declared.names() {
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
	for name := range got {
		if !slices.ContainsFunc(declared.names(), func(d string) bool { return http.CanonicalHeaderKey(d) == name }) &&
			!slices.Contains(ofTheMessage, name) {
			trouble("header %s is not declared", name)
		}
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
