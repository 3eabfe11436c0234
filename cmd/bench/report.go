package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// triple is what rounds gave: the least, the middle and the most.
type triple struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

func tripleOf(values []float64) triple {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return triple{sorted[0], (sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[n-1]}
}

func (t triple) String() string { return fmt.Sprintf("%.3g - %.3g - %.3g", t.Min, t.Median, t.Max) }

// ratio compares two contenders inside each round.
func ratio(ours, theirs []slice, value func(slice) float64) triple {
	ratios := make([]float64, len(ours))
	for i := range ours {
		if base := value(theirs[i]); base > 0 {
			ratios[i] = value(ours[i]) / base
		}
	}
	return tripleOf(ratios)
}

// goal is what a median should reach.
type goal struct {
	kind  string
	value float64
}

var none = goal{}

func atLeast(v float64) goal { return goal{"≥", v} }
func atMost(v float64) goal  { return goal{"≤", v} }

// exactly allows for what Postgres writes by itself in the meantime.
func exactly(v float64) goal { return goal{"=", v} }

func (g goal) String() string {
	if g.kind == "" {
		return ""
	}
	return fmt.Sprintf("%s %g", g.kind, g.value)
}

// met tells whether a value reaches a fraction of the goal.
func (g goal) met(v, fraction float64) bool {
	switch g.kind {
	case "≥":
		return v >= g.value*fraction
	case "≤":
		return v*fraction <= g.value
	case "=":
		return v > g.value-0.02 && v < g.value+0.02
	default:
		return true
	}
}

// MarshalText writes a goal as the table shows it.
func (g goal) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// row is one line of the table.
type row struct {
	Suite   string `json:"suite"`
	What    string `json:"what"`
	Clients int    `json:"clients,omitzero"`
	Value   triple `json:"value"`
	Goal    goal   `json:"goal,omitzero"`
	Ours    string `json:"ours,omitempty"`
	Theirs  string `json:"theirs,omitempty"`
}

// summary is what one contender did, for illustration: medians of its rounds.
func summary(s []slice) string {
	median := func(value func(slice) float64) float64 {
		values := make([]float64, len(s))
		for i := range s {
			values[i] = value(s[i])
		}
		return tripleOf(values).Median
	}
	text := fmt.Sprintf("%.0f/s p50 %.2f p99 %.2f ms", median(slice.perSecond), 1000*median(slice.p50),
		1000*median(func(s slice) float64 { return s.times.at(0.99).Seconds() }))
	if median(slice.cpuPerOp) > 0 {
		text += fmt.Sprintf(" CPU %.0f + %.0f µs", median(func(s slice) float64 { return float64(s.cpuStore.Microseconds()) / float64(s.ops) }),
			median(func(s slice) float64 { return float64(s.cpuApp.Microseconds()) / float64(s.ops) }))
	}
	return text
}

// report is the outcome of a run and the circumstances it was made in.
type report struct {
	At       time.Time         `json:"at"`
	Machine  string            `json:"machine"`
	Settings map[string]string `json:"settings"`
	Load     [2]string         `json:"load_average"`  // at the start and at the end
	Fsync    [2]string         `json:"fsync_of_8_kb"` // likewise
	Rows     []row             `json:"rows"`
	services *services
}

func newReport(ctx context.Context, s *services) (*report, error) {
	r := &report{At: time.Now().UTC(), services: s, Machine: fmt.Sprintf("%s/%s, %d cores, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())}
	var err error
	if r.Settings, err = s.readSettings(ctx); err != nil {
		return nil, err
	}
	return r, r.probe(0)
}

func (r *report) probe(i int) error {
	took, err := r.services.fsyncProbe()
	r.Fsync[i], r.Load[i] = took.Round(time.Microsecond).String(), loadAverage()
	return err
}

func (r *report) add(line row) {
	fmt.Fprintf(os.Stderr, "  %s: %s, c=%d: %s\n", line.Suite, line.What, line.Clients, line.Value)
	r.Rows = append(r.Rows, line)
}

// print writes the table.
func (r *report) print(w io.Writer) {
	if err := r.probe(1); err != nil {
		fmt.Fprintln(w, "fsync probe:", err)
	}
	fmt.Fprintf(w, "\n%s, Postgres %s (fsync, synchronous_commit, full_page_writes: on)\n", r.Machine, r.Settings["server_version"])
	fmt.Fprintf(w, "load average %s, then %s; fsync of 8 KB %s, then %s\n", r.Load[0], r.Load[1], r.Fsync[0], r.Fsync[1])
	fmt.Fprint(w, "CPU is per request: of Postgres and Redis, plus of the server, or of the client where there is no server.\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "suite\twhat\tc\tmin - median - max\tgoal\t\tours\ttheirs")
	for _, line := range r.Rows {
		clients := ""
		if line.Clients > 0 {
			clients = fmt.Sprint(line.Clients)
		}
		fmt.Fprintln(table, strings.Join([]string{line.Suite, line.What, clients, line.Value.String(), line.Goal.String(), line.verdict(), line.Ours, line.Theirs}, "\t"))
	}
	_ = table.Flush() // the terminal
}

func (l row) verdict() string {
	switch {
	case l.Goal == none:
		return ""
	case l.Goal.met(l.Value.Median, 1):
		return "met"
	default:
		return "MISSED"
	}
}

func (r *report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // to be read by everybody
}

var errMissed = errors.New("missed")

// judge fails for every median that misses the given fraction of its goal.
func (r *report) judge(fraction float64) error {
	if fraction == 0 {
		return nil
	}
	var errs []error
	for _, line := range r.Rows {
		if !line.Goal.met(line.Value.Median, fraction) {
			errs = append(errs, fmt.Errorf("%w %g of the goal: %s, %s, c=%d: %.3g, goal %s", errMissed, fraction, line.Suite, line.What, line.Clients, line.Value.Median, line.Goal))
		}
	}
	return errors.Join(errs...)
}
