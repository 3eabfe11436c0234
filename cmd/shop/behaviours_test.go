package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// behaviours is how many ways in which people and browsers meet the shop are described: B01, B02 and so on.
const behaviours = 42

var behaviourID = regexp.MustCompile(`^TestB[0-9]{2}_`)

// TestEveryBehaviourHasABrowserTest: a test of its own name, which needs a browser.
func TestEveryBehaviourHasABrowserTest(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../e2e/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no browser tests", err)
	}
	tests := map[string][]string{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			test, ok := d.(*ast.FuncDecl)
			if !ok || !behaviourID.MatchString(test.Name.Name) {
				continue
			}
			if !calls(test, "needBrowser") {
				t.Errorf("%s has no browser", test.Name.Name)
			}
			id := test.Name.Name[len("Test"):len("TestB01")]
			tests[id] = append(tests[id], test.Name.Name)
		}
	}
	for n := 1; n <= behaviours; n++ {
		id := fmt.Sprintf("B%02d", n)
		if len(tests[id]) == 0 {
			t.Errorf("no browser test shows %s", id)
		}
		t.Logf("%s %s", id, strings.Join(tests[id], ", "))
		delete(tests, id)
	}
	for id, names := range tests {
		t.Errorf("%s is no behaviour: %v", id, names)
	}
}

func calls(f *ast.FuncDecl, name string) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if callee, ok := call.Fun.(*ast.Ident); ok && callee.Name == name {
				found = true
			}
		}
		return !found
	})
	return found
}
