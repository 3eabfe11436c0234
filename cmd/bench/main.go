// Command bench measures the shop against the least that its work can cost, and prints ratios.
//
//	go run ./cmd/bench -quick           under two minutes
//	go run ./cmd/bench -json out.json   longer slices and more rounds, and a file for machines
//
// It starts a Postgres and a Redis of its own, which keep every promise about the disk, and the shop
// and its rivals as children of this program. What is compared runs interleaved: in random order
// inside each round, and a ratio is formed inside the round. After every slice the rows are counted.
//
// Judge the ratios. Absolute figures depend on the machine and on what else it does; the load average
// and the time of one fsync are printed for that reason.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		exit(serve(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, os.Args[1:]))
}

func exit(err error) {
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// plan says how much to measure.
type plan struct {
	rounds int
	slice  time.Duration
	starts int // of the built shop
	storms int // keys that are sent several times at once
}

var (
	quick = plan{rounds: 5, slice: 500 * time.Millisecond, starts: 5, storms: 1000}
	long  = plan{rounds: 9, slice: 2 * time.Second, starts: 9, storms: 10_000}
)

// bench is one run of this program.
type bench struct {
	plan
	ctx      context.Context // ends when the run is interrupted
	dir      string          // removed at the end
	profiles string          // where children leave CPU profiles; empty for none
	services *services
	report   *report
}

// suite is one group of comparisons.
type suite struct {
	name string
	run  func(*bench) error
}

// suites in the order in which they run.
var suites = []suite{
	{"orders", (*bench).orders},
	{"replay", (*bench).replay},
	{"journal", (*bench).journal},
	{"fairness", (*bench).fairness},
	{"storm", (*bench).storms},
	{"commits", (*bench).commits},
	{"sqlite", (*bench).sqlite},
	{"start", (*bench).start},
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	isQuick := flags.Bool("quick", false, "short slices and few rounds: under two minutes")
	ram := flags.Bool("ram", false, "keep Postgres in memory when there is enough, to see past the disk")
	file := flags.String("json", "", "also write the results to this `file`")
	gate := flags.Float64("gate", 0, "fail when a median misses this `fraction` of its goal; 0 never fails")
	only := flags.String("suites", "", "run only these, with commas between them")
	profiles := flags.String("profile", "", "let the shop leave CPU profiles in this `folder`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b := &bench{plan: long, ctx: ctx, profiles: *profiles}
	if *isQuick {
		b.plan = quick
	}
	if err := b.open(*ram); err != nil {
		return err
	}
	defer b.close()
	if err := b.runSuites(*only); err != nil {
		return err
	}
	b.report.print(os.Stdout)
	if *file != "" {
		if err := b.report.write(*file); err != nil {
			return err
		}
	}
	return b.report.judge(*gate)
}

// open starts the services and refuses to measure a Postgres that does not keep its promises.
func (b *bench) open(ram bool) (err error) {
	if b.dir, err = os.MkdirTemp("", "eenmaal-bench-"); err != nil {
		return err
	}
	// Postgres may run under another account and must be able to enter.
	if err = os.Chmod(b.dir, 0o755); err != nil { //nolint:gosec // nothing secret is in it
		return errors.Join(err, os.RemoveAll(b.dir))
	}
	if b.services, err = startServices(b.dir, ram); err != nil {
		return errors.Join(err, os.RemoveAll(b.dir))
	}
	if b.report, err = newReport(b.ctx, b.services); err != nil {
		b.close()
		return err
	}
	return nil
}

func (b *bench) close() {
	b.services.stop()
	_ = os.RemoveAll(b.dir) // a temporary folder
}

func (b *bench) runSuites(only string) error {
	var wanted []string
	if only != "" {
		wanted = strings.Split(only, ",")
	}
	for _, name := range wanted {
		if !slices.ContainsFunc(suites, func(s suite) bool { return s.name == name }) {
			return fmt.Errorf("there is no suite %q", name)
		}
	}
	for _, s := range suites {
		if wanted != nil && !slices.Contains(wanted, s.name) {
			continue
		}
		began := time.Now()
		if err := s.run(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s took %.0f s\n", s.name, time.Since(began).Seconds())
	}
	return nil
}
