package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/store/jobs"
	"example.com/eenmaal/store/storetest"
)

// TestTheConsoleLooksAndTriesAgain: it shows a job that was given up and has it done after all, and does
// nothing that would lose one.
func TestTheConsoleLooksAndTriesAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, time.Now)
		runs := &tally{counts: map[string]int{}}
		queue, err := jobs.New(t.Context(), jobs.Config{DB: db, ListenURL: d.URL})
		must(t, err)
		t.Cleanup(queue.Close)
		queue.Handle(jobs.Deliver, jobs.Handler{Tries: 1, Work: func(_ context.Context, id string, _ int) error {
			if runs.add(id); runs.of(id) == 1 {
				return errors.New("not today")
			}
			return nil
		}})
		tx := db.Begin()
		queue.Enqueue(tx, jobs.Deliver, "the delivery")
		must(t, tx.Commit(t.Context()))
		must(t, queue.Start(t.Context()))
		t.Cleanup(func() {
			stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			must(t, queue.Stop(stop))
		})
		dead := func(want int) {
			t.Helper()
			for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
				list, err := queue.Dead(t.Context(), 10)
				must(t, err)
				if len(list) == want && (want == 0 || list[0].Kind == "deliver_event" && list[0].About == "the delivery" && list[0].Error == "not today" && list[0].Tries == 1 && !list[0].EndedAt.IsZero()) {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("dead: %+v, want %d", list, want)
				}
			}
		}
		dead(1)
		console, err := queue.Console(t.Context(), "/desk/river", slog.New(slog.DiscardHandler))
		must(t, err)
		ask := func(method, path, body string) (int, string) {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			console.ServeHTTP(w, r)
			return w.Code, w.Body.String()
		}
		if status, page := ask("GET", "/desk/river/", ""); status != 200 || !strings.Contains(page, "/desk/river/assets/") {
			t.Errorf("page: %d %s", status, page)
		}
		if status, list := ask("GET", "/desk/river/api/jobs?state=discarded", ""); status != 200 || !strings.Contains(list, "deliver_event") {
			t.Errorf("list: %d %s", status, list)
		}
		if status, counts := ask("GET", "/desk/river/api/states", ""); status != 200 || !strings.Contains(counts, "discarded") {
			t.Errorf("states: %d %s", status, counts)
		}
		for _, forbidden := range [][2]string{{"POST", "jobs/cancel"}, {"POST", "jobs/delete"}, {"PUT", "queues/default/pause"},
			{"PUT", "queues/default/resume"}, {"PATCH", "queues/default"}, {"DELETE", "jobs/1"}, {"POST", "jobs/retry/../delete"}} {
			if status, _ := ask(forbidden[0], "/desk/river/api/"+forbidden[1], `{"ids":["1"]}`); status != http.StatusForbidden {
				t.Errorf("%v: %d", forbidden, status)
			}
		}
		if status, answer := ask("POST", "/desk/river/api/jobs/retry", `{"ids":["1"]}`); status != 200 {
			t.Fatalf("retry: %d %s", status, answer)
		}
		dead(0)
		for end := time.Now().Add(30 * time.Second); runs.of("the delivery") < 2; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it was not done after all")
			}
		}
	})
}
