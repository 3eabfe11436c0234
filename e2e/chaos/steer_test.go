package chaos

import (
	"flag"
	"slices"
	"strings"
	"time"
)

// A run can be steered, so that it soon meets one bug that somebody put into the shop: e2e/mutants does.
var (
	binaryFlag = flag.String("chaos.binary", "", "the shop to hurt, built with the tag failpoint; without it the shop is built")
	onlyFlag   = flag.String("chaos.only", "", "the only troubles that there are, as in \"kill replica|crash Postgres\"; none is \"none\"")
	catchFlag  = flag.String("chaos.catch", "", "invariants, as in I1,I4: the run is over when one of them is broken")
	patience   = flag.Duration("chaos.patience", 3*time.Minute, "how long jobs are waited for in the end")
)

// rescue is when the shop finds by itself that the worker of a job has died. Who has less patience gets
// such jobs handed back at once.
const rescue = time.Minute

// chosen leaves out the nemeses that the run goes without.
func chosen(all []nemesis) []nemesis {
	if *onlyFlag == "" {
		return all
	}
	names := strings.Split(*onlyFlag, "|")
	return slices.DeleteFunc(all, func(n nemesis) bool { return !slices.Contains(names, n.name) })
}

// caught reports whether the run has found what it is for.
func (w *world) caught() bool {
	if *catchFlag == "" {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.violations, func(v violation) bool { return v.breaks(strings.Split(*catchFlag, ",")) })
}

// breaks reports whether the violation is one of these invariants. A history without an explanation may
// break any of several.
func (v violation) breaks(invariants []string) bool {
	return slices.ContainsFunc(strings.Split(v.Invariant, ", "), func(i string) bool { return slices.Contains(invariants, i) })
}
