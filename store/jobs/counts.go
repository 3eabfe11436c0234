package jobs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"example.com/eenmaal/domain"
)

// Counts counts the jobs of all processes.
func (q *Queue) Counts(ctx context.Context) (c domain.JobCounts, err error) {
	rows, err := q.db.QueryContext(ctx, `SELECT state, count(*) FROM river_job
		WHERE state IN ('available', 'pending', 'retryable', 'scheduled', 'running', 'discarded') GROUP BY state`)
	if err != nil {
		return c, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var state string
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return c, err
		}
		switch state {
		case "running":
			c.Running += n
		case "discarded":
			c.Dead += n
		default:
			c.Waiting += n
		}
	}
	if err := rows.Err(); err != nil {
		return c, err
	}
	c.Oldest, err = q.oldest(ctx)
	return c, err
}

// oldest finds how long the oldest job of each kind has been there without being done. That of mails is
// how far the outbox is behind, and that of events how far the inbox is.
func (q *Queue) oldest(ctx context.Context) (map[string]time.Duration, error) {
	age := "extract(epoch FROM now() - min(created_at))"
	if !q.postgres {
		age = "(julianday('now') - julianday(min(created_at))) * 86400"
	}
	rows, err := q.db.QueryContext(ctx, `SELECT kind, `+age+` FROM river_job
		WHERE state IN ('available', 'pending', 'retryable', 'scheduled', 'running') GROUP BY kind`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	oldest := map[string]time.Duration{}
	for _, kind := range kinds {
		oldest[string(kind)] = 0
	}
	for rows.Next() {
		var kind string
		var seconds float64
		if err := rows.Scan(&kind, &seconds); err != nil {
			return nil, err
		}
		if _, ours := oldest[kind]; ours { // the others are River's and the sweep's
			oldest[kind] = time.Duration(max(seconds, 0) * float64(time.Second))
		}
	}
	return oldest, rows.Err()
}

// Dead reads the newest jobs that were given up, of those that River still remembers.
func (q *Queue) Dead(ctx context.Context, limit int) ([]domain.DeadJob, error) {
	list, err := q.client.JobList(ctx, river.NewJobListParams().States(rivertype.JobStateDiscarded).
		OrderBy(river.JobListOrderByFinalizedAt, river.SortOrderDesc).First(limit))
	if err != nil {
		return nil, err
	}
	dead := make([]domain.DeadJob, len(list.Jobs))
	for i, j := range list.Jobs {
		var args task
		_ = json.Unmarshal(j.EncodedArgs, &args) // a periodic job is about no row
		dead[i] = domain.DeadJob{ID: j.ID, Kind: j.Kind, About: args.ID, Tries: j.Attempt}
		if len(j.Errors) > 0 {
			dead[i].Error = j.Errors[len(j.Errors)-1].Error
		}
		if j.FinalizedAt != nil {
			dead[i].EndedAt = j.FinalizedAt.UTC()
		}
	}
	return dead, nil
}
