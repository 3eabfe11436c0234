package jobs

import "context"

// Counts are the jobs that are not done.
type Counts struct {
	Waiting int // for a worker, their time or the next try
	Running int
	Dead    int // given up; a person has to look
}

// Counts counts the jobs of all processes.
func (q *Queue) Counts(ctx context.Context) (c Counts, err error) {
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
