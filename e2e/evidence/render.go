package main

import (
	"bytes"
	_ "embed"
	"fmt"
	htmltemplate "html/template"
	"maps"
	"regexp"
	"slices"
	"strings"
	texttemplate "text/template"
	"time"
)

//go:embed page.html
var pageHTML string

//go:embed page.md
var pageMarkdown string

var capital = regexp.MustCompile("[A-Z]")

// flowName makes "Capture and refund" of CaptureAndRefund.
func flowName(name string) string {
	return name[:1] + strings.ToLower(capital.ReplaceAllString(name[1:], " $0"))
}

// The words of both templates.
var words = map[string]any{
	"list":    func(all []string) string { return strings.Join(all, ", ") },
	"names":   func(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) },
	"seconds": func(s float64) string { return fmt.Sprintf("%.0f s", s) },
	"short":   func(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) },
	"recovery": func(d time.Duration) string {
		if d == 0 {
			return "nobody was waiting any more"
		}
		return fmt.Sprintf("%.2f s", d.Seconds())
	},
	"flow": flowName,
	"day":  func(t time.Time) string { return t.Format("2 January 2006, 15:04 UTC") },
	"line": func(s string) string { return strings.Join(strings.Fields(s), " ") },
	"cell": func(s string) string { return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`) },
	"css":  func(s string) htmltemplate.CSS { return htmltemplate.CSS(s) }, //nolint:gosec // our own file
}

func html(p page) ([]byte, error) {
	t, err := htmltemplate.New("page").Funcs(words).Parse(pageHTML)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.Bytes(), err
}

func markdown(p page) ([]byte, error) {
	t, err := texttemplate.New("page").Funcs(words).Parse(pageMarkdown)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.Bytes(), err
}
