package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// page is everything that is told. A part that is nil did not run.
type page struct {
	At         time.Time
	Machine    machine
	Style      string
	KillPoints []killPoints
	Storms     []storm
	Scaleout   *scaleout
	Mutants    *mutants
}

// killPoints is what one flow on one database met when it was killed at each point.
type killPoints struct {
	Flow     string
	Database string
	Points   int
	Names    int
	Kills    map[string]int
	Seconds  float64
	Failed   bool
}

// All counts the kills.
func (k killPoints) All() (n int) {
	for _, one := range k.Kills {
		n += one
	}
	return n
}

// Halved reports whether some flow was killed at a part of its points only.
func (p page) Halved() bool {
	return slices.ContainsFunc(p.KillPoints, func(k killPoints) bool { return k.All() < k.Points })
}

// worlds are what chaos comes over, by the files that it leaves.
var worlds = map[string]string{"chaos.json": "Two replicas on Postgres and Redis", "chaos-sqlite.json": "One process on SQLite"}

// storm is one run of chaos.
type storm struct {
	Name        string `json:"-"`
	Seed        uint64
	Seconds     float64 `json:"seconds_of_trouble"`
	Fsync       bool
	Keys        int
	Finals      int `json:"final_answers"`
	Operations  int
	Unknowns    int `json:"unknown_outcomes"`
	Replays     int
	Mismatches  int
	Takeovers   int
	Deaths      int `json:"replica_deaths"`
	Crashes     int `json:"postgres_crashes"`
	Full        int `json:"writes_refused_by_full_disk"`
	Redis       int `json:"redis_faults"`
	Orders      int
	Paid        int `json:"orders_paid"`
	Mails       int
	MailCopies  int `json:"mail_copies"`
	Events      int
	EventCopies int           `json:"event_copies"`
	Recovery    time.Duration `json:"slowest_recovery_ns"`
	Answer      time.Duration `json:"slowest_answer_ns"`
	Nemeses     map[string]int
	Violations  []struct{ Invariant, Story string }
	Void        []string
}

// scaleout is what customers of several replicas saw.
type scaleout struct {
	Replicas   int
	Restarts   int
	Seconds    float64
	Requests   int
	Keys       int
	Twins      int `json:"twice_at_once"`
	Elsewhere  int `json:"twice_at_once_on_two_replicas"`
	Replays    int
	Mismatches int
	Unanswered int     `json:"requests_without_an_answer"`
	Slowest    float64 `json:"slowest_answer_seconds"`
	Failed     bool
}

// mutants are the bugs that were put into the shop, and first the shop without one.
type mutants struct {
	Seed     uint64
	Seconds  float64 `json:"seconds_of_trouble"`
	Verdicts []struct {
		Name     string
		Breaks   string
		CaughtBy []string `json:"caught_by"`
		Seconds  float64
		Escaped  string
	}
}

// read reads what the tests left in a folder.
func read(dir string) (p page, err error) {
	if p.KillPoints, err = readAll[killPoints](dir, "killpoints-*.json", nil); err != nil {
		return p, err
	}
	p.Storms, err = readAll(dir, "chaos*.json", func(s *storm, name string) { s.Name = worlds[name] })
	if err != nil {
		return p, err
	}
	if p.Scaleout, err = readOne[scaleout](dir, "scaleout.json"); err != nil {
		return p, err
	}
	p.Mutants, err = readOne[mutants](dir, "mutants.json")
	return p, err
}

func readAll[T any](dir, pattern string, named func(*T, string)) (list []T, err error) {
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return nil, err
	}
	for _, file := range slices.SortedFunc(slices.Values(files), func(a, b string) int { return cmp.Compare(stem(a), stem(b)) }) {
		one, err := readOne[T](dir, filepath.Base(file))
		if err != nil {
			return nil, err
		}
		if named != nil {
			named(one, filepath.Base(file))
		}
		list = append(list, *one)
	}
	return list, nil
}

// stem is a file's name without its end, so that one comes before those that only add to it.
func stem(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }

// readOne gives nil when the file is not there.
func readOne[T any](dir, name string) (*T, error) {
	text, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // a path from the command line of a developer
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	one := new(T)
	return one, json.Unmarshal(text, one)
}
