package main

import (
	"fmt"
	"reflect"
	"strings"
)

// setting is one line of the README's table.
type setting struct{ GoName, Name, Default, Desc, Kind string }

func fieldsOfConfig() []setting {
	var list []setting
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		kind := map[string]string{"Duration": "a duration such as 72h", "int": "a number", "bool": "true or false"}[f.Type.Name()]
		list = append(list, setting{f.Name, f.Tag.Get("env"), f.Tag.Get("envDefault"), f.Tag.Get("desc"), kind})
	}
	return list
}

// configTable is the settings table of the README; a test compares the two.
func configTable() string {
	var b strings.Builder
	b.WriteString("| name | default | meaning |\n| --- | --- | --- |\n")
	for _, s := range fieldsOfConfig() {
		value := "empty"
		if s.Default != "" {
			value = "`" + s.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, value, s.Desc)
	}
	return b.String()
}
