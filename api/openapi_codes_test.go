package api_test

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// computed are codes that the source puts together: the expression, and what it can give.
var computed = map[string][]string{
	`"payment_not_" + kind.able()`:   {"payment_not_capturable", "payment_not_voidable", "payment_not_refundable"},
	`string(kind) + "_exceeds_rest"`: {"capture_exceeds_rest", "void_exceeds_rest", "refund_exceeds_rest"},
	`what + "_not_found"`:            nil, // the words are the arguments of notThere and parseID
	`string(kind)`:                   {"capture_not_found", "void_not_found", "refund_not_found"},
	`string(kind) + "_refused"`:      {"capture_refused", "void_refused", "refund_refused"},
	`code`:                           nil, // the argument of a helper, found at its calls
}

// notShown are codes that no problem of the API has, and why.
var notShown = map[string]string{
	"payment_method_not_supported": "it is the code of a failed payment",
	"capture_refused":              "it is the code of a failed capture",
	"void_refused":                 "it is the code of a failed void",
	"refund_refused":               "it is the code of a failed refund",
	"webhook_malformed":            "such an event is kept for a person to look at, and answered with 200",
	"checkout_not_found":           "of the pages",
	"event_not_found":              "of a job",
	"payment_abandoned":            "it is the code of a failed payment",
	"payment_not_begun":            "nobody hears it: it is of runs without a client",
	"payment_settled":              "the payment's own code is shown instead",
	"payment_not_in_doubt":         "of the staff's pages",
	"key_not_found":                "of the staff's pages",
	"settlement_unsupported":       "of the staff's pages",
	"attention_not_found":          "of the staff's pages",
	"payment_in_doubt":             "of the staff's pages",
	"event_unreadable":             "of the staff's pages",
	"message_not_found":            "of the staff's pages",
	"mail_not_found":               "of a job",
	"mismatch_not_found":           "of the staff's pages",
	"not_found":                    "replaced by the word for what was asked",
}

// TestEveryProblemCodeOfTheSourceIsInTheContract reads the source for the codes it can give. The
// contract has each of them, with an example and at an operation, and no other.
func TestEveryProblemCodeOfTheSourceIsInTheContract(t *testing.T) {
	t.Parallel()
	source := map[string]string{}
	for _, dir := range []string{".", "idempotent", "limit", "../domain", "../store", "psp/simulated"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		must(t, err)
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				codesOf(t, name, source)
			}
		}
	}
	if len(source) < 30 {
		t.Fatalf("only %d codes were found: %v", len(source), source)
	}
	components := theContract().root.at("components")
	list, _ := components.at("schemas", "ProblemCode").field("enum").([]any)
	used := usedExamples()
	declared := map[string]bool{}
	for _, code := range list {
		code := code.(string)
		declared[code] = true
		example := components.at("examples", code, "value")
		if example.text("code") != code {
			t.Errorf("%s has no example", code)
		}
		if _, known := source[code]; !known {
			t.Errorf("%s is in the contract and not in the source", code)
		}
		if !used[code] {
			t.Errorf("%s is at no operation", code)
		}
	}
	for code, where := range source {
		if !declared[code] && notShown[code] == "" {
			t.Errorf("%s (%s) is not in the contract", code, where)
		}
	}
	for code := range notShown {
		if _, known := source[code]; declared[code] || !known {
			t.Errorf("%s is in the list of codes that are not shown: in the contract %v, in the source %v", code, declared[code], known)
		}
	}
}

// usedExamples are the names of all examples of all answers.
func usedExamples() map[string]bool {
	used := map[string]bool{}
	for _, name := range theContract().operations() {
		responses := theContract().named(name).at("responses")
		for _, status := range responses.names() {
			for _, code := range responses.at(status, "content", "application/problem+json", "examples").names() {
				used[code] = true
			}
		}
	}
	return used
}

// codesOf collects the codes that a file can give: of Errorf(kind, code, ...), Error{Code: ...} and the
// helpers that make them.
func codesOf(t *testing.T, name string, codes map[string]string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, 0)
	must(t, err)
	add := func(e ast.Expr, suffix string) {
		where := set.Position(e.Pos()).String()
		if literal, ok := e.(*ast.BasicLit); ok {
			code, _ := strconv.Unquote(literal.Value)
			codes[code+suffix] = where
			return
		}
		var text strings.Builder
		must(t, printer.Fprint(&text, set, e))
		parts, known := computed[text.String()]
		if !known {
			t.Errorf("%s: what can the code %s be?", where, text.String())
		}
		for _, code := range parts {
			codes[code] = where
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch function := called(n); {
			case function == "Errorf" && len(n.Args) > 2 && isKind(n.Args[0]), function == "notFound" && len(n.Args) == 3:
				add(n.Args[1], "")
			case function == "malformed" && len(n.Args) == 3:
				add(n.Args[0], "")
			case function == "notThere":
				if !isName(n.Args[0], "what") {
					add(n.Args[0], "_not_found")
				}
			case function == "parseID":
				add(n.Args[1], "_not_found")
			}
		case *ast.CompositeLit:
			if last(n.Type) != "Error" {
				break
			}
			for _, element := range n.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok && isName(pair.Key, "Code") {
					if text := last(pair.Value); text != "Code" { // copied from another error
						add(pair.Value, "")
					}
				}
			}
		}
		return true
	})
}

func called(c *ast.CallExpr) string { return last(c.Fun) }

// last is the last name of pkg.Name.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	default:
		return ""
	}
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// isKind tells domain.Errorf from fmt.Errorf: its first argument is a kind.
func isKind(e ast.Expr) bool {
	return slices.Contains([]string{"Malformed", "Invalid", "NotFound", "Refused", "Declined", "Conflict", "Busy", "Expired",
		"Unavailable", "Unknown", "TooLarge", "Unauthenticated", "Forbidden", "RateLimited"}, last(e))
}
