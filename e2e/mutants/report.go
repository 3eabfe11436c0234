package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
)

// verdict is what became of one mutant.
type verdict struct {
	Name     string   `json:"name"`
	Breaks   string   `json:"breaks"`
	CaughtBy []string `json:"caught_by"`
	Story    string   `json:"story"`   // of the first broken invariant
	Seconds  float64  `json:"seconds"` // without building it
	Escaped  string   `json:"escaped,omitempty"`
}

// report is also written as JSON, for those who keep it.
type report struct {
	Seed     uint64    `json:"seed"`
	Seconds  float64   `json:"seconds_of_trouble"`
	Verdicts []verdict `json:"verdicts"` // the first one is of the shop without a bug
}

// escaped counts what went wrong: bugs that were not seen, and a shop without one that was not clean.
func (r report) escaped() (n int) {
	for _, v := range r.Verdicts {
		if v.Escaped != "" {
			n++
		}
	}
	return n
}

func (r report) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MUTANT\tWHAT IT BREAKS\tCAUGHT BY\tSECONDS")
	for _, v := range r.Verdicts {
		caught := strings.Join(v.CaughtBy, ", ")
		switch {
		case v.Escaped != "":
			caught = "NOT CAUGHT"
		case caught == "":
			caught = "nothing, and rightly"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\n", v.Name, v.Breaks, caught, v.Seconds)
	}
	_ = w.Flush() // into memory
	return b.String()
}

// write keeps the report as JSON.
func (r report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // it is to be read
}
