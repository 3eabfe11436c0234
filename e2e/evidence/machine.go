package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// machine is where the tests ran. What cannot be found out is "unknown".
type machine struct{ Commit, System, Processors, Memory, Go, Postgres, Redis string }

func thisMachine() machine {
	m := machine{Commit: told("git", "rev-parse", "HEAD"), System: field("/etc/os-release", "PRETTY_NAME=") + ", Linux " + told("uname", "-r"),
		Processors: told("getconf", "_NPROCESSORS_ONLN") + " (" + runtime.GOARCH + ")", Memory: gigabytes(field("/proc/meminfo", "MemTotal:")),
		Go: runtime.Version(), Postgres: version("PostgreSQL", told(program("postgres"), "--version")), Redis: version("Redis", told("redis-server", "--version"))}
	if told("git", "status", "--porcelain", "--untracked-files=no") != "" {
		m.Commit += ", with changes"
	}
	return m
}

// gigabytes makes "24684092 kB" readable.
func gigabytes(text string) string {
	kilobytes, err := strconv.Atoi(strings.TrimSuffix(text, " kB"))
	if err != nil {
		return text
	}
	return fmt.Sprintf("%.0f GB", float64(kilobytes)/1e6)
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)

// version leaves a program's name and number of what it tells about itself.
func version(program, told string) string {
	if found := number.FindString(told); found != "" {
		return program + " " + found
	}
	return told
}

// told is the first line that a program prints.
func told(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output() //nolint:noctx,gosec // short programs, named above
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// field is what stands behind a name in a file of the system's.
func field(file, name string) string {
	text, _ := os.ReadFile(file) //nolint:gosec // named above
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return "unknown"
}

// program finds one of Postgres' programs, which many systems keep out of PATH.
func program(name string) string {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 {
		return found[0]
	}
	return name
}
