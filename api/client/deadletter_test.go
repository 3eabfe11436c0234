package client_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/api/client"
)

func aLetter() client.DeadLetter {
	return client.DeadLetter{Key: client.NewKey(), Method: "POST", Path: "/v1/orders", Body: json.RawMessage(`{"name":"Sanne"}`),
		Reason: client.ReasonUnknown, Status: 503, Code: "outcome_unknown", At: time.Now().UTC()}
}

// read gives the letters of a file and how many lines are none.
func read(t *testing.T, path string) (list []client.DeadLetter, broken int) {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var letter client.DeadLetter
		if json.Unmarshal(lines.Bytes(), &letter) != nil {
			broken++
			continue
		}
		list = append(list, letter)
	}
	return list, broken
}

func put(t *testing.T, path string, letters ...client.DeadLetter) {
	t.Helper()
	file, err := client.OpenDeadLetterFile(path)
	must(t, err)
	var all sync.WaitGroup
	for _, letter := range letters {
		all.Go(func() {
			if err := file.Put(t.Context(), letter); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	must(t, file.Close())
}

func TestADeadLetterFileKeepsEveryLetter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "letters.jsonl")
	first := aLetter()
	put(t, path, first)
	put(t, path, aLetter(), aLetter(), aLetter())
	list, broken := read(t, path)
	if len(list) != 4 || broken != 0 {
		t.Fatalf("%d letters, %d broken lines", len(list), broken)
	}
	got := list[0]
	if got.Key != first.Key || string(got.Body) != string(first.Body) || got.Path != first.Path || got.Reason != first.Reason ||
		got.Status != first.Status || got.Code != first.Code || !got.At.Equal(first.At) {
		t.Errorf("got %+v, want %+v", got, first)
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %s", info.Mode())
	}
}

// TestATornLineCostsNoOtherLetter: a crash in the middle of a write leaves half a line.
func TestATornLineCostsNoOtherLetter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "letters.jsonl")
	put(t, path, aLetter())
	info, err := os.Stat(path)
	must(t, err)
	put(t, path, aLetter())
	must(t, os.Truncate(path, info.Size()+40))
	put(t, path, aLetter(), aLetter())
	if list, broken := read(t, path); len(list) != 3 || broken != 1 {
		t.Errorf("%d letters, %d broken lines", len(list), broken)
	}
}

func TestALetterThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	file, err := client.OpenDeadLetterFile(filepath.Join(t.TempDir(), "letters.jsonl"))
	must(t, err)
	must(t, file.Close())
	if err := file.Put(t.Context(), aLetter()); err == nil {
		t.Error("no error")
	}
	if _, err := client.OpenDeadLetterFile(filepath.Join(t.TempDir(), "nowhere", "letters.jsonl")); err == nil {
		t.Error("opened a file in a folder that is not there")
	}
}
