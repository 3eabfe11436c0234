package jobs

import (
	"context"
	"time"
)

// Counts are the jobs that are not done.
type Counts struct {
	Waiting int // for a worker, their time or the next try
	Running int
	Dead    int // given up; a person has to look

	Oldest map[Kind]time.Duration // age of the oldest one that is not done, of every kind
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
	if err := rows.Err(); err != nil {
		return c, err
	}
	c.Oldest, err = q.oldest(ctx)
	return c, err
}

// oldest finds how long the oldest job of each kind has been there without being done. That of mails is
// how far the outbox is behind, and that of events how far the inbox is.
func (q *Queue) oldest(ctx context.Context) (map[Kind]time.Duration, error) {
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
	oldest := map[Kind]time.Duration{}
	for _, kind := range kinds {
		oldest[kind] = 0
	}
	for rows.Next() {
		var kind Kind
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
