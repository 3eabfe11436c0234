package main

import (
	"log/slog"
	"os"
	"strings"
	"testing"
)

func TestReadmeHasTheTableOfEndpoints(t *testing.T) {
	t.Parallel()
	cfg, err := LoadConfig(map[string]string{"DATA_DIR": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	a, err := newApp(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if table := contractTable(a.registry.Operations()); !strings.Contains(string(readme), table) {
		t.Errorf("README.md lacks this table:\n%s", table)
	}
}
