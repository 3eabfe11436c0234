package idempotent

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A command is the decoded request of an operation: a struct whose fields have either a JSON name
//
//	Email string `json:"email"`
//
// and come from the body, or name a path parameter
//
//	OrderID string `json:"-" path:"id"`
//
// and come from the path. All of them are part of the fingerprint, and nothing else is.

// fields are the declared fields of a command, by name.
type fields []field

type field struct {
	name     string
	index    int
	omitzero bool
	path     bool // from the path, not from the body
}

// fieldsOf reads the declaration of a command. A field that could not be part of the fingerprint is a
// mistake of the programmer, found when the program starts.
func fieldsOf(t reflect.Type) fields {
	var list fields
	for i := range t.NumField() {
		f := declared(t, i)
		if slices.ContainsFunc(list, func(other field) bool { return other.name == f.name }) {
			panic(fmt.Sprintf("%s has two fields called %s", t, f.name))
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b field) int { return strings.Compare(a.name, b.name) })
	return list
}

func declared(t reflect.Type, i int) field {
	f := t.Field(i)
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if parameter := f.Tag.Get("path"); parameter != "" {
		if name != "-" || f.Type.Kind() != reflect.String || !f.IsExported() {
			panic(fmt.Sprintf(`field %s.%s has a path tag: it must be an exported string with json:"-"`, t, f.Name))
		}
		return field{name: parameter, index: i, path: true}
	}
	if name == "" || name == "-" {
		panic(fmt.Sprintf("field %s.%s needs a json name: it is part of the fingerprint", t, f.Name))
	}
	return field{name: name, index: i, omitzero: strings.Contains(options, "omitzero")}
}

// checkPattern compares the command with the parameters of a route pattern: a parameter without a
// field would not be in the fingerprint, and a field without a parameter would never be set.
func (f fields) checkPattern(pattern string) error {
	var inPattern, inCommand []string
	for part := range strings.SplitSeq(pattern, "/") {
		if part != "" && (part[0] == ':' || part[0] == '*') {
			inPattern = append(inPattern, part[1:])
		}
	}
	for _, field := range f {
		if field.path {
			inCommand = append(inCommand, field.name)
		}
	}
	slices.Sort(inPattern)
	if !slices.Equal(inPattern, inCommand) {
		return fmt.Errorf("the path has the parameters %v, the command %v", inPattern, inCommand)
	}
	return nil
}

// fromPath fills a command's path fields. command is a pointer to it.
func (f fields) fromPath(command any, parameter func(name string) string) {
	value := reflect.ValueOf(command).Elem()
	for _, field := range f {
		if field.path {
			value.Field(field.index).SetString(parameter(field.name))
		}
	}
}

// storedCommand is a command as the key's row keeps it while the operation is unfinished.
type storedCommand struct {
	Path map[string]string `json:"path,omitzero"`
	Body jsontext.Value    `json:"body"`
}

// pack writes a command down so that unpack can read it back without its request.
func (f fields) pack(command any) ([]byte, error) {
	body, err := json.Marshal(command, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	stored := storedCommand{Body: body}
	value := reflect.ValueOf(command)
	for _, field := range f {
		if field.path {
			if stored.Path == nil {
				stored.Path = map[string]string{}
			}
			stored.Path[field.name] = value.Field(field.index).String()
		}
	}
	return json.Marshal(stored, json.Deterministic(true))
}

// unpack reads what pack wrote into the command that the pointer names.
func (f fields) unpack(text []byte, command any) error {
	var stored storedCommand
	err := json.Unmarshal(text, &stored, json.RejectUnknownMembers(true))
	if err == nil {
		err = json.Unmarshal(stored.Body, command, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return fmt.Errorf("read stored command: %w", err)
	}
	f.fromPath(command, func(name string) string { return stored.Path[name] })
	return nil
}
