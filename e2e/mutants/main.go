// Command mutants proves that the chaos harness would notice: it puts one bug into the shop, hurts that shop,
// and wants the harness to say so, for each of a list of bugs. The shop without a bug goes through the same
// troubles and must come out clean.
//
//	go run ./e2e/mutants -time 15s
//
// A bug is a change of the source, made while the binary is built and nowhere else. Run it from the top of
// the repository.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// patience is how long the jobs of one shop are waited for in the end, and tooLong how long all of it.
const (
	patience = 25 * time.Second
	tooLong  = 5 * time.Minute
)

func main() {
	length := flag.Duration("time", 15*time.Second, "how long each shop is hurt at most")
	seed := flag.Uint64("seed", 0, "of the troubles; 0 takes one by chance")
	only := flag.String("only", "", "only the bugs whose names hold this")
	out := flag.String("report", "", "file for the report as JSON")
	flag.Parse()
	r, err := hunt(hunter{length: *length, seed: cmp.Or(*seed, rand.Uint64())}, *only)
	if err == nil && *out != "" {
		err = r.write(*out)
	}
	fmt.Print("\n", r)
	if err == nil && r.escaped() > 0 {
		err = fmt.Errorf("%d of %d went wrong", r.escaped(), len(r.Verdicts))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// theShop is no mutant: it goes through everything that the mutants go through.
func theShop() mutant {
	m := mutant{name: "none", breaks: "the shop as it is"}
	for _, other := range mutants {
		m.storm = append(m.storm, other.storm...)
	}
	slices.Sort(m.storm)
	m.storm = slices.Compact(m.storm)
	return m
}

// hunt judges one shop after the other.
func hunt(h hunter, only string) (report, error) {
	r := report{Seed: h.seed, Seconds: h.length.Seconds()}
	dir, err := os.MkdirTemp("", "eenmaal-mutants-")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	h.harness = filepath.Join(dir, "chaos.test")
	if err := run("go", "test", "-c", "-o", h.harness, "./e2e/chaos"); err != nil {
		return r, err
	}
	for _, m := range append([]mutant{theShop()}, mutants...) {
		if !strings.Contains(m.name, only) {
			continue
		}
		v := h.verdict(m)
		r.Verdicts = append(r.Verdicts, v)
		fmt.Printf("%s: %s\n", m.name, cmp.Or(v.Escaped, v.Story, "nothing"))
	}
	return r, nil
}

// hunter hurts shops, each for some time under the same seed.
type hunter struct {
	harness string // the chaos tests as a program
	length  time.Duration
	seed    uint64
}

// verdict hurts the shop with the mutant's bug, and tells whether the harness noticed that bug.
func (h hunter) verdict(m mutant) verdict {
	v := verdict{Name: m.name, Breaks: m.breaks}
	found, took, err := h.hurt(m)
	v.Seconds = took.Seconds()
	if err != nil {
		v.Escaped = err.Error()
		return v
	}
	m.judge(&v, found)
	return v
}

// seen is what the harness reports of one shop.
type seen struct {
	Violations []struct{ Invariant, Story string }
	Keys       int
}

// judge tells by what the mutant was caught. One that only breaks the harness, or something else than it
// should, has escaped.
func (m mutant) judge(v *verdict, found seen) {
	others := []string{}
	for _, one := range found.Violations {
		for name := range strings.SplitSeq(one.Invariant, ", ") {
			switch {
			case !slices.Contains(m.caught, name):
				others = append(others, name+": "+one.Story)
			case !slices.Contains(v.CaughtBy, name):
				v.CaughtBy = append(v.CaughtBy, name)
				v.Story = cmp.Or(v.Story, one.Story)
			}
		}
	}
	slices.Sort(v.CaughtBy)
	switch {
	case len(m.caught) == 0 && len(others) > 0:
		v.Escaped = "the shop as it is comes out with " + strings.Join(others, "; ")
	case len(m.caught) > 0 && len(v.CaughtBy) == 0:
		v.Escaped = fmt.Sprintf("none of %v was seen broken among %d keys, but %q", m.caught, found.Keys, others)
	}
}

// hurt builds the mutant, runs the harness with it, and gives what that reports and how long it ran. That
// it fails is expected.
func (h hunter) hurt(m mutant) (found seen, took time.Duration, err error) {
	dir, err := os.MkdirTemp(filepath.Dir(h.harness), "")
	if err != nil {
		return found, 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, passed := range []string{filepath.Dir(h.harness), dir} { // by Postgres' account
		if err := os.Chmod(passed, 0o755); err != nil { //nolint:gosec // see above
			return found, 0, err
		}
	}
	binary, err := m.build(".", dir)
	if err != nil {
		return found, 0, err
	}
	begin, result := time.Now(), filepath.Join(dir, "report.json")
	ctx, cancel := context.WithTimeout(context.Background(), tooLong)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.harness, "-test.run", "^TestNothingIsDoneTwiceOrLostWhateverHappens$", "-chaos.binary", binary, //nolint:gosec // built here
		"-chaos.time", h.length.String(), "-chaos.patience", patience.String(), "-chaos.seed", fmt.Sprint(h.seed), "-chaos.report", result,
		"-chaos.only", cmp.Or(strings.Join(m.storm, "|"), "none"), "-chaos.catch", strings.Join(m.caught, ","))
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	out, runErr := cmd.CombinedOutput()
	text, err := os.ReadFile(result) //nolint:gosec // made here
	if err != nil {
		return found, time.Since(begin), errors.Join(fmt.Errorf("the harness broke:\n%s", out), runErr)
	}
	return found, time.Since(begin), json.Unmarshal(text, &found)
}
