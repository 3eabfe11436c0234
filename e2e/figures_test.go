package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// figures is the folder in which the page of evidence looks for what the tests measured. Empty: nobody asks.
func figures() string { return os.Getenv("EENMAAL_FIGURES") }

// keepFigures writes what a test measured into that folder.
func keepFigures(t *testing.T, name string, measured any) {
	t.Helper()
	dir := figures()
	if dir == "" {
		return
	}
	text, err := json.MarshalIndent(measured, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".json"), append(text, '\n'), 0o644) //nolint:gosec // it is to be read
	}
	if err != nil {
		t.Error(err)
	}
}
