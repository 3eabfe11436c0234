package jobs

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"riverqueue.com/riverui"
)

// Console is the River UI under a path. From its first visitor on it counts jobs every few seconds, until
// ctx ends. It looks at all jobs and can try one again, which every job bears; what would lose work (to
// cancel or delete a job, or to stop a queue) is forbidden. It asks nobody who he is: the caller does.
func (q *Queue) Console(ctx context.Context, path string, log *slog.Logger) (http.Handler, error) {
	path = strings.TrimSuffix(path, "/")
	ui, err := riverui.NewHandler(&riverui.HandlerOpts{Endpoints: riverui.NewEndpoints(q.client, nil), Logger: log, Prefix: path})
	if err != nil {
		return nil, err
	}
	start := sync.OnceValue(func() error { return ui.Start(ctx) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if !reads && (r.Method != http.MethodPost || r.URL.Path != path+"/api/jobs/retry") {
			http.Error(w, `{"message":"Here jobs can be looked at and tried again only."}`, http.StatusForbidden)
			return
		}
		if err := start(); err != nil {
			log.WarnContext(r.Context(), "console of the jobs does not count", "error", err)
		}
		ui.ServeHTTP(w, r)
	}), nil
}
