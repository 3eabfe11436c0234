package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sources are the changed files, by the names of those they replace.
func (m mutant) sources(root string) (map[string]string, error) {
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
func (m mutant) build(root, dir string) (binary string, err error) {
	changed, err := m.sources(root)
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
	return binary, run("go", "build", "-tags", "nomsgpack,failpoint", "-ldflags", "-s -w", "-overlay", replacements, "-o", binary, "./cmd/shop")
}

// run runs a program to its end.
func run(program string, args ...string) error {
	cmd := exec.Command(program, args...) //nolint:noctx,gosec // the Go tool, told above
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
	}
	return nil
}
