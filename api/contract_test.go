package api_test

import (
	"bytes"
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

	routes []route

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
	c.routes = operations(c.root)
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

// escaped writes a name as a part of a JSON pointer in an address.
var escaped = strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")

func (p place) at(names ...string) place {
	for _, name := range names {
		object, _ := p.value.(map[string]any)
		p.pointer, p.value = p.pointer+"/"+escaped.Replace(name), object[name]
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

// route is an operation of the contract, with its path in parts.
type route struct {
	name      string // "POST /v1/orders"
	method    string
	parts     []string
	operation place
}

// operations lists what the contract declares, literal paths before those with parameters.
func operations(root place) (list []route) {
	paths := root.at("paths")
	for _, path := range paths.names() {
		for _, method := range paths.at(path).names() {
			method := strings.ToUpper(method)
			list = append(list, route{method + " " + path, method, strings.Split(path, "/"), paths.at(path, strings.ToLower(method))})
		}
	}
	slices.SortStableFunc(list, func(a, b route) int { return strings.Count(a.name, "{") - strings.Count(b.name, "{") })
	return list
}

// parameters gives the values in a path, if it is one of the route's.
func (r route) parameters(path []string) (values map[string]string, ok bool) {
	if len(path) != len(r.parts) {
		return nil, false
	}
	values = map[string]string{}
	for i, part := range r.parts {
		switch {
		case strings.HasPrefix(part, "{") && path[i] != "":
			values[strings.Trim(part, "{}")], _ = url.PathUnescape(path[i])
		case part != path[i]:
			return nil, false
		}
	}
	return values, true
}

// called finds what a request calls.
func (c *contract) called(r *http.Request) (route, map[string]string) {
	path := strings.Split(r.URL.EscapedPath(), "/")
	for _, route := range c.routes {
		if route.method != r.Method {
			continue
		}
		if values, ok := route.parameters(path); ok {
			return route, values
		}
	}
	return route{}, nil
}
