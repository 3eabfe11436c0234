// Package mutants proves that the chaos harness would notice: it hurts a shop into which somebody has put
// one bug, for each of a list of bugs, and wants the harness to say so. The shop without a bug goes through
// the same troubles and must come out clean.
//
//	go test ./e2e/mutants -args -mutants.time 15s
//
// A bug is a change of the source, made while the binary is built and nowhere else.
package mutants

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
	"testing"
	"time"
)

var (
	length     = flag.Duration("mutants.time", 15*time.Second, "how long each shop is hurt at most")
	seedFlag   = flag.Uint64("mutants.seed", 0, "of the troubles; 0 takes one by chance")
	reportFlag = flag.String("mutants.report", "", "file for the report as JSON")
)

// patience is how long jobs are waited for in the end.
const patience = 25 * time.Second

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

func TestEveryMutantIsCaught(t *testing.T) {
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || strings.HasPrefix(f.Name, "mutants.") })
	if !asked {
		t.Skip("NOT TESTED: it takes a quarter of an hour; make mutants")
	}
	dir := folder(t)
	harness := filepath.Join(dir, "chaos.test")
	if err := run(root, "go", "test", "-c", "-o", harness, "./e2e/chaos"); err != nil {
		t.Fatal(err)
	}
	r := report{Seed: cmp.Or(*seedFlag, rand.Uint64()), Seconds: length.Seconds()}
	for _, m := range append([]mutant{theShop()}, mutants...) {
		t.Run(strings.ReplaceAll(m.name, ", ", " "), func(t *testing.T) {
			v := m.verdict(t, harness, r.Seed)
			r.Verdicts = append(r.Verdicts, v)
			t.Logf("caught by %v after %.0f s: %s", v.CaughtBy, v.Seconds, v.Story)
			if v.Escaped != "" {
				t.Error(v.Escaped)
			}
		})
	}
	fmt.Println(r)
	if *reportFlag != "" {
		if err := r.write(*reportFlag); err != nil {
			t.Error(err)
		}
	}
}

// folder is for binaries and for what the harness leaves. Postgres' account passes through.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "eenmaal-mutants-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// seen is what the harness reports of one shop.
type seen struct {
	Violations []struct{ Invariant, Story string }
	Keys       int
}

// verdict hurts the shop with the mutant's bug, and tells whether the harness noticed that bug. One that
// only breaks the harness, or something else than it should, has escaped.
func (m mutant) verdict(t *testing.T, harness string, seed uint64) verdict {
	t.Helper()
	v := verdict{Name: m.name, Breaks: m.breaks}
	dir := folder(t)
	binary, err := m.build(dir)
	if err != nil {
		v.Escaped = err.Error()
		return v
	}
	begin := time.Now()
	found, err := m.hurt(harness, binary, dir, seed)
	v.Seconds = time.Since(begin).Seconds()
	if err != nil {
		v.Escaped = err.Error()
		return v
	}
	m.judge(&v, found)
	return v
}

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
		v.Escaped = "the shop as it is comes out with " + strings.Join(others, "\n")
	case len(m.caught) > 0 && len(v.CaughtBy) == 0:
		v.Escaped = fmt.Sprintf("none of %v was seen broken among %d keys, but %q", m.caught, found.Keys, others)
	}
}

// hurt runs the harness with the binary, and gives what it reports. That it fails is expected.
func (m mutant) hurt(harness, binary, dir string, seed uint64) (found seen, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	result := filepath.Join(dir, "report.json")
	cmd := exec.CommandContext(ctx, harness, "-test.run", "TestNothingIsDoneTwiceOrLost", "-chaos.binary", binary,
		"-chaos.time", length.String(), "-chaos.patience", patience.String(), "-chaos.seed", fmt.Sprint(seed), "-chaos.report", result,
		"-chaos.only", cmp.Or(strings.Join(m.storm, "|"), "none"), "-chaos.catch", strings.Join(m.caught, ","))
	cmd.Dir = filepath.Join(root, "e2e/chaos")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	out, runErr := cmd.CombinedOutput()
	text, err := os.ReadFile(result)
	if err != nil {
		return found, errors.Join(fmt.Errorf("the harness broke:\n%s", out), runErr)
	}
	return found, json.Unmarshal(text, &found)
}
