package jobs

import (
	"context"
	"encoding/json"

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
	return c, rows.Err()
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
