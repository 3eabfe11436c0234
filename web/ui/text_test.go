package ui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestEveryTextIsInBothLanguages reads the source, so that it sees every text there is.
func TestEveryTextIsInBothLanguages(t *testing.T) {
	t.Parallel()
	texts := textsInSource(t)
	if len(texts) < 150 {
		t.Fatalf("found %d texts", len(texts))
	}
	placeholder := regexp.MustCompile(`%[a-z]|\{n\}`)
	for _, text := range texts {
		if text.En == "" || text.Nl == "" {
			t.Errorf("%q / %q: a language is empty", text.En, text.Nl)
		}
		en, nl := placeholder.FindAllString(text.En, -1), placeholder.FindAllString(text.Nl, -1)
		if !slices.Equal(en, nl) {
			t.Errorf("%q / %q: placeholders %v and %v", text.En, text.Nl, en, nl)
		}
		long, short := float64(utf8.RuneCountInString(text.Nl)), float64(utf8.RuneCountInString(text.En))
		if long > 2.2*short+8 || short > 2.2*long+8 {
			t.Errorf("%q / %q: lengths differ too much for one layout", text.En, text.Nl)
		}
		for _, word := range []string{"!", "please", "oops", "alstublieft", "helaas", " u ", " uw "} {
			if strings.Contains(strings.ToLower(text.En+" / "+text.Nl), word) {
				t.Errorf("%q / %q: holds %q", text.En, text.Nl, word)
			}
		}
	}
}

// TestOnlyCertainTextsSayThatNothingWasCharged keeps the sentence out of new places unseen. Each of
// these is shown for payments of which PaymentStatus.NothingCharged is true, or before there is one.
func TestOnlyCertainTextsSayThatNothingWasCharged(t *testing.T) {
	t.Parallel()
	allowed := []Text{TDeclined, TDeclinedOther, TFailedPay, TLeftBank, TReturnDeclinedTo, TReturnCancelledTo, TOrderExpiryTo, TSoldOutNothing, TNotPlaced}
	claim := regexp.MustCompile(`(?i)(nothing was|nothing was ordered or) charged|niets( is)? (afgeschreven|besteld of afgeschreven)`)
	for _, text := range textsInSource(t) {
		if (claim.MatchString(text.En) || claim.MatchString(text.Nl)) && !slices.Contains(allowed, text) {
			t.Errorf("%q says that nothing was charged", text.En)
		}
	}
}

func textsInSource(t *testing.T) []Text {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	desk, err := filepath.Glob("../admin/*text.go")
	if err != nil || len(desk) == 0 {
		t.Fatalf("the desk's texts: %v, %v", desk, err)
	}
	files = append(files, desk...)
	var texts []Text
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_templ.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			var parts []ast.Expr
			switch n := n.(type) {
			case *ast.CompositeLit:
				parts = n.Elts
			case *ast.CallExpr: // the desk's both(en, nl)
				parts = n.Args
			}
			if len(parts) != 2 {
				return true
			}
			en, okEn := quoted(parts[0])
			nl, okNl := quoted(parts[1])
			if okEn && okNl {
				texts = append(texts, Text{en, nl})
			}
			return true
		})
	}
	return texts
}

func quoted(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}
