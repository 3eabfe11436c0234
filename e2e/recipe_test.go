package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheRecipeForAnEndpointWorks follows the README's "Add an endpoint" to the letter, on a copy of the
// repository: the result builds, and the suites of every operation accept it. Left out, a step is
// missed by some test.
func TestTheRecipeForAnEndpointWorks(t *testing.T) {
	t.Parallel()
	steps := recipe(t)
	dir := copyRepository(t)
	for _, s := range steps {
		s.follow(t, dir)
	}
	if out, err := testCopy(dir, suites); err != nil {
		t.Fatalf("the recipe's result fails: %v\n%s", err, out)
	}
	for _, forgotten := range []string{"api/openapi/openapi.yaml", "api/twice_test.go"} {
		done, err := os.ReadFile(filepath.Join(dir, forgotten))
		if err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(filepath.Join("..", forgotten))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, forgotten), string(before))
		if out, err := testCopy(dir, "^TestEveryO|^TestEveryRouteIs"); err == nil {
			t.Errorf("nothing misses the step in %s:\n%s", forgotten, out)
		}
		write(t, filepath.Join(dir, forgotten), string(done))
	}
}

// suites are those that every operation passes, and the guards.
const suites = "^(TestEvery|TestTwiceEqualsOnce|TestFiftyOverlapping|TestALateRetryNeverRuns|TestTheContract|TestRequestSchemas)"

// step is one code block of the recipe: a new file, or lines to add after one that holds a text.
type step struct{ file, after, text string }

var stepPattern = regexp.MustCompile("(?s)(?:New file `([^`]+)`|In `([^`]+)`, after\\s+the\\s+line\\s+with\\s+`([^`]+)`):\n\n```\\w+\n(.*?)```")

func recipe(t *testing.T) (steps []step) {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(readme), "## Add an endpoint")
	text, _, _ = strings.Cut(text, "\n## ")
	for _, m := range stepPattern.FindAllStringSubmatch(text, -1) {
		steps = append(steps, step{file: m[1] + m[2], after: m[3], text: m[4]})
	}
	if blocks := strings.Count(text, "```") / 2; len(steps) != blocks || blocks < 8 {
		t.Fatalf("%d of the recipe's %d code blocks say where they belong", len(steps), blocks)
	}
	return steps
}

func (s step) follow(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, s.file)
	old, err := os.ReadFile(path)
	if s.after == "" {
		if err == nil {
			t.Fatalf("%s exists already", s.file)
		}
		write(t, path, s.text)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(old), "\n")
	for i, line := range lines {
		if strings.Contains(line, s.after) {
			write(t, path, strings.Join(lines[:i+1], "")+s.text+strings.Join(lines[i+1:], ""))
			return
		}
	}
	t.Fatalf("%s has no line with %q", s.file, s.after)
}

// copyRepository copies what the tests of the API need.
func copyRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "api", "domain", "store", "migrations"} {
		err := filepath.WalkDir(filepath.Join("..", name), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil {
				write(t, filepath.Join(dir, strings.TrimPrefix(path, ".."+string(filepath.Separator))), string(text))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// testCopy runs tests of the API on SQLite.
func testCopy(dir, run string) (string, error) {
	cmd := exec.Command("go", "test", "-run", run, "./api")
	cmd.Dir = dir
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); name != "TEST_POSTGRES_URL" && name != "TEST_REDIS_URL" && name != "EENMAAL_TEST_ALL" {
			cmd.Env = append(cmd.Env, setting)
		}
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("GOFLAGS=%s -p=1", os.Getenv("GOFLAGS")))
	out, err := cmd.CombinedOutput()
	return string(out), err
}
