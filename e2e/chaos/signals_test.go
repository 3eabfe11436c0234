package chaos

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// listen reads a replica's metrics until ctx ends, and fires what shows itself there alone: that a process
// has gone on with a key without its client, and has finished it or found that somebody was faster. A
// number that falls belongs to a new process.
func (w *world) listen(ctx context.Context, r *replica) {
	for last := 0; ctx.Err() == nil; time.Sleep(300 * time.Millisecond) {
		now, err := r.reading(`idem_completer_runs_total{outcome="completed"}`, `idem_completer_runs_total{outcome="overtaken"}`)
		if err != nil {
			continue // it is dead or frozen
		}
		if now < last {
			last = 0
		}
		w.fire(completerToo, now-last)
		last = now
	}
}

// reading is the sum of some of the replica's counts.
func (r *replica) reading(names ...string) (sum int, err error) {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + r.addr + "/metrics")
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !slices.Contains(names, name) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, err
		}
		sum += int(n)
	}
	return sum, nil
}
