package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func rendered(t *testing.T, from string) (html, markdown string) {
	t.Helper()
	to := t.TempDir()
	if err := write(filepath.Join("testdata", from), to, "../../web/ui/static/tokens.css"); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range []string{"evidence.html", "evidence.md"} {
		text, err := os.ReadFile(filepath.Join(to, name)) //nolint:gosec // made here
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts["evidence.html"], texts["evidence.md"]
}

// Both pages tell every number of every file, and what went wrong.
func TestThePageTellsEverything(t *testing.T) {
	t.Parallel()
	html, markdown := rendered(t, "whole")
	for _, text := range []string{html, markdown} {
		for _, want := range []string{
			"Pay", "Postgres", "SQLite", "34", "37", "41 s", // killed at every point
			"600 s", "9001, 8999", "40404", "12121", "5151", "313", "424", "535", "64", "6868", "75", "4646, 2727", "3838, 3939", "7171, 7272",
			"1.23 s", "9.87 s", "kill replica", "88", "1 violations", // chaos
			"30 s", "5432", "2345", "654, 321", "765", "87", "1.50 s", "were one shop", // several replicas
			"no fencing", "I4, I5", "22 s", "nothing, and rightly", // bugs
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not on the page", want)
			}
		}
		if strings.Contains(text, "did not run.") {
			t.Error("all parts ran, and the page says otherwise")
		}
	}
	for text, bad := range map[string][]string{
		html:     {`<span class="bad">failed</span>`, `<span class="bad">not seen as it should be</span>`, "a &lt;b&gt;story&lt;/b&gt;"},
		markdown: {"**FAILED**", "**NOT SEEN AS IT SHOULD BE**", `with a bar`, `\|`},
	} {
		for _, want := range bad {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not on the page", want)
			}
		}
	}
}

// A flow that takes turns between the databases is not passed off as killed at every point on each.
func TestThePageTellsOfTurns(t *testing.T) {
	t.Parallel()
	one := killPoints{Flow: "Pay", Database: "Postgres", Points: 2, Kills: map[string]int{"before_commit": 1}}
	for kills, want := range map[int]bool{1: true, 2: false} {
		one.Kills["before_commit"] = kills
		p := page{KillPoints: []killPoints{one}}
		for _, write := range []func(page) ([]byte, error){html, markdown} {
			text, err := write(p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(text), "every second point"); got != want {
				t.Errorf("%d kills at 2 points: told %v", kills, got)
			}
		}
	}
}

// A part without its file did not run, and is not passed over in silence.
func TestThePageTellsWhatDidNotRun(t *testing.T) {
	t.Parallel()
	html, markdown := rendered(t, "part")
	for _, text := range []string{html, markdown} {
		if n := strings.Count(text, "This part did not run."); n != 3 {
			t.Errorf("%d parts did not run, want 3", n)
		}
		if !strings.Contains(text, "nobody was waiting any more") {
			t.Error("a recovery that nobody waited for has a time")
		}
	}
}

// The page needs nothing else, and runs nothing.
func TestThePageStandsAlone(t *testing.T) {
	t.Parallel()
	html, _ := rendered(t, "whole")
	for _, bad := range []string{"<script", "http://", "https://", "url(", "@import", "src="} {
		if strings.Contains(html, bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	if day := time.Now().UTC().Format("2 January 2006"); !strings.Contains(html, day) {
		t.Errorf("the page does not tell its day, %s", day)
	}
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	if err := os.WriteFile(filepath.Join(from, "mutants.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(from); err == nil {
		t.Error("a broken file made a page")
	}
}

// What machines and tests call things is not what people read.
func TestNamesAreReadable(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		flowName("CaptureAndRefund"): "Capture and refund", flowName("Pay"): "Pay",
		gigabytes("24684092 kB"): "25 GB", gigabytes("unknown"): "unknown",
		version("Redis", "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0"): "Redis 7.0.15", version("Redis", "unknown"): "unknown",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
