package main

import (
	"log/slog"
	"os"
	"strings"
	"testing"
)

func TestReadmeHasTheTableOfEndpoints(t *testing.T) {
	t.Parallel()
	a := newTestApp(t, slog.New(slog.DiscardHandler))
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if table := contractTable(a.registry.Operations()); !strings.Contains(string(readme), table) {
		t.Errorf("README.md lacks this table:\n%s", table)
	}
}
