package main

import "testing"

// A mutant that no longer fits has become a shop without a bug, or one that cannot be built.
func TestEveryMutantFitsTheSource(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, m := range mutants {
		if _, err := m.sources("../.."); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if len(m.edits) == 0 || len(m.caught) == 0 || m.breaks == "" || names[m.name] {
			t.Errorf("%s: nothing says what it is", m.name)
		}
		names[m.name] = true
	}
}

// A mutant is caught by what it should be caught by, and by nothing else.
func TestOnlyTheRightInvariantCatches(t *testing.T) {
	t.Parallel()
	type broken = struct{ Invariant, Story string }
	bug, clean := mutant{caught: []string{"I4"}}, mutant{}
	for name, c := range map[string]struct {
		mutant  mutant
		found   []broken
		escaped bool
	}{
		"the right one":                        {bug, []broken{{"I4", "x"}}, false},
		"one of several":                       {bug, []broken{{"I4, I5, I14", "x"}}, false},
		"another one":                          {bug, []broken{{"I12", "x"}}, true},
		"the harness":                          {bug, []broken{{"harness", "x"}}, true},
		"none":                                 {bug, nil, true},
		"none, and there is no bug":            {clean, nil, false},
		"a violation where there is no bug":    {clean, []broken{{"I4", "x"}}, true},
		"a broken harness where there is none": {clean, []broken{{"harness", "x"}}, true},
	} {
		var v verdict
		c.mutant.judge(&v, seen{Violations: c.found})
		if (v.Escaped != "") != c.escaped {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
