package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// root is the top of the repository.
const root = "../.."

// A mutant that no longer fits has become a shop without a bug, or one that cannot be built.
func TestEveryMutantFitsTheSource(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		if _, err := m.sources(); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if len(m.edits) == 0 || len(m.caught) == 0 || m.breaks == "" {
			t.Errorf("%s: nothing says what it is", m.name)
		}
	}
}

// sources are the changed files, by the names of those they replace.
func (m mutant) sources() (map[string]string, error) {
	changed := map[string]string{}
	for _, e := range m.edits {
		text, known := changed[e.file]
		if !known {
			source, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, err
			}
			text = string(source)
		}
		if n := strings.Count(text, e.old); n != 1 || e.old == e.new {
			return nil, fmt.Errorf("%s holds %d times, and must once: %s", e.file, n, e.old)
		}
		changed[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return changed, nil
}

// build makes the shop with the mutant's bug, in a folder of its own; the sources stay as they are.
func (m mutant) build(dir string) (binary string, err error) {
	changed, err := m.sources()
	if err != nil {
		return "", err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for file, text := range changed {
		original, err := filepath.Abs(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		instead := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(instead, []byte(text), 0o600); err != nil {
			return "", err
		}
		overlay.Replace[original] = instead
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	replacements, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "shop")
	if err := os.WriteFile(replacements, list, 0o600); err != nil {
		return "", err
	}
	return binary, run(root, "go", "build", "-tags", "nomsgpack,failpoint", "-ldflags", "-s -w", "-overlay", replacements, "-o", binary, "./cmd/shop")
}

// run runs a program to its end.
func run(dir, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
	}
	return nil
}
