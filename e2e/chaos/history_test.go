package chaos

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// What one attempt told its client.
const (
	final   = "final"   // the answer that binds all others
	reused  = "reused"  // the key belongs to another request
	unknown = "unknown" // no answer, or one that promises nothing: it may have been done, be done later or never
	none    = "none"    // of a look: nothing is recorded for the key
	opened  = "open"    // of a look: the first request runs, or stopped half-way
	done    = "done"    // of a look: there is a final answer
)

// attempt is one request and what came of it: one line of the history. Times are nanoseconds since the
// start.
type attempt struct {
	Call     int64  `json:"call"`
	Return   int64  `json:"return"`
	Client   int    `json:"client"`
	Replica  string `json:"replica"`
	Consumer string `json:"consumer"`
	Endpoint string `json:"endpoint"`
	Key      string `json:"key"`
	Print    string `json:"payload,omitempty"` // empty for a look
	Status   int    `json:"status,omitempty"`
	Outcome  string `json:"outcome"`
	Code     string `json:"code,omitempty"` // of a problem, or the error
	Replayed bool   `json:"replayed,omitempty"`
	Hash     string `json:"hash,omitempty"` // of status, headers and body of a final answer
	Request  string `json:"request,omitempty"`
}

// scope is what a key is unique within.
func (a attempt) scope() string { return a.Consumer + " " + a.Endpoint + " " + a.Key }

// history is all attempts, in memory and on disk.
type history struct {
	begin time.Time
	mu    sync.Mutex
	all   []attempt
	acks  map[string]ack // by scope: the first final answer
	file  *os.File
	lines *bufio.Writer
}

// ack is what a client was told for good.
type ack struct {
	attempt
	op     operation
	body   []byte
	header string
}

func newHistory(t *testing.T, path string) *history {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return &history{begin: time.Now(), acks: map[string]ack{}, file: file, lines: bufio.NewWriter(file)}
}

func (h *history) now() int64 { return time.Since(h.begin).Nanoseconds() }

// add notes an attempt. It gives the first final answer of the key when this one is another.
func (h *history) add(a attempt, full ack) (differs *ack) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, a)
	line, _ := json.Marshal(a) // strings and numbers
	fmt.Fprintf(h.lines, "%s\n", line)
	if a.Outcome != final {
		return nil
	}
	first, known := h.acks[a.scope()]
	if !known {
		h.acks[a.scope()] = full
		return nil
	}
	if first.Hash != a.Hash || first.Print != a.Print {
		return &first
	}
	return nil
}

// finals are the answers that clients were told for good.
func (h *history) finals() (list []ack) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.acks {
		list = append(list, a)
	}
	return list
}

func (h *history) attempts() []attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]attempt{}, h.all...)
}

// about gives the attempts with the keys that a story names, the first of many.
func (h *history) about(story string) (lines string) {
	const most = 30
	n := 0
	for _, a := range h.attempts() {
		if strings.Contains(story, a.Key) && n < most {
			line, _ := json.Marshal(a) // strings and numbers
			lines += string(line) + "\n"
			n++
		}
	}
	return lines
}

func (h *history) flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.lines.Flush() // the history in memory is what is judged
}
