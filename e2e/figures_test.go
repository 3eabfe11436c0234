package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// keepFigures writes what a test measured into the folder EENMAAL_FIGURES, for the page of evidence.
// Without the folder nobody asks.
func keepFigures(t *testing.T, name string, figures any) {
	t.Helper()
	dir := os.Getenv("EENMAAL_FIGURES")
	if dir == "" {
		return
	}
	text, err := json.MarshalIndent(figures, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".json"), append(text, '\n'), 0o644) //nolint:gosec // it is to be read
	}
	if err != nil {
		t.Error(err)
	}
}
