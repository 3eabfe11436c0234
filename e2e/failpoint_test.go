package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// breakable is the shop as a binary that can be told where to die; cmd/shop/failpoint.go says how.
var breakable = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "breakable")
	build := exec.Command("go", "build", "-tags", "nomsgpack,failpoint", "-ldflags", "-s -w", "-o", path, "../cmd/shop")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the shop with failpoints: %w\n%s", err, out)
	}
	return path, nil
})

// needBreakable gives the path of the binary.
func needBreakable(t *testing.T) string {
	t.Helper()
	path, err := breakable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A release cannot be told to die: nothing of the failpoints is in it, by whatever name. A binary keeps
// the names of its functions, types and settings also when it is stripped.
func TestAReleaseHasNoFailpoints(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{binary: false, needBreakable(t): true} {
		program, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"FAILPOINTS", "main.withFailpoints", "main.(*failpoints)", "main.failpointRule"} {
			if got := bytes.Contains(program, []byte(name)); got != want {
				t.Errorf("%s holds %s: %t, want %t", filepath.Base(path), name, got, want)
			}
		}
	}
}
