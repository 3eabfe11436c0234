package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cases are the faults of other shops (T, F) and the threats (S) that this one is tested against. There is
// no S14: this shop has no coupons to redeem twice.
const cases = `
	T01 T02 T03 T04 T06 T07 T08 T09 T10 T11 T12 T14 T15
	T17 T18 T19 T20
	T21 T22 T23 T25 T26 T27 T28 T29 T30 T31 T32
	T33 T34 T35 T37 T38 T39 T40 T41 T42
	T43 T44 T45 T47 T48 T49 T51 T52 T53 T55 T56 T57 T58 T59 T60 T61 T64
	T65 T66 T68 T69 T70 T71 T72 T73 T74 T76 T77
	S1 S2 S3 S4 S5 S6 S7 S8 S9 S10 S11 S12 S13
	S15 S16 S17 S18 S19 S20 S21 S22 S23 S24
	S25 S26 S27 S28 S29 S30 S36 S42
	F4 F5 F6 F10 F11 F16 F17 F18 F19 F26 F28`

// TestEveryCaseIsCoveredByATestThatSaysSo reads the comments of all tests: before one, or inside it.
func TestEveryCaseIsCoveredByATestThatSaysSo(t *testing.T) {
	t.Parallel()
	cited := map[string][]string{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && entry.Name() != "..":
			return filepath.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			return cite(cited, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range strings.Fields(cases) {
		if len(cited[id]) == 0 {
			t.Errorf("no test says that it covers %s", id)
		}
		t.Logf("%-4s %s", id, strings.Join(cited[id], ", "))
	}
}

var caseID = regexp.MustCompile(`\b[TSF](0[1-9]|[1-9][0-9]?)\b`)

// cite adds which tests of a file name which cases.
func cite(cited map[string][]string, path string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		test, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(test.Name.Name, "Test") && !strings.HasPrefix(test.Name.Name, "Fuzz") {
			continue
		}
		from := test.Pos()
		if test.Doc != nil {
			from = test.Doc.Pos()
		}
		for _, comment := range file.Comments {
			if comment.Pos() < from || comment.End() > test.End() {
				continue
			}
			for _, id := range caseID.FindAllString(comment.Text(), -1) {
				if !slices.Contains(cited[id], test.Name.Name) {
					cited[id] = append(cited[id], test.Name.Name)
				}
			}
		}
	}
	return nil
}
