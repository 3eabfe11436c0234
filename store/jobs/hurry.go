package jobs

import (
	"context"
	"database/sql"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"example.com/eenmaal/store"
)

// hurried is a job that is wanted now, whether or not one waits already.
type hurried struct{ river.InsertManyParams }

// Hurry adds to the transaction that a row's job runs now. One that waits for its next try does not wait any
// longer, and only where none waits a new one is made: however often it is asked for, one waits. One that
// runs does not count, since it may have looked at the row before.
func (q *Queue) Hurry(tx *store.Tx, kind Kind, id string) {
	opts := &river.InsertOpts{MaxAttempts: q.handlers[kind].Tries}
	tx.Enqueue(hurried{river.InsertManyParams{Args: task{kind: kind, ID: id}, InsertOpts: opts}}, q.insert)
}

// hurry has a job that waits run now, and reports whether there is one.
func (q *Queue) hurry(ctx context.Context, block *sql.Tx, t task) (waits bool, err error) {
	list, err := q.client.JobListTx(ctx, block, river.NewJobListParams().Kinds(t.Kind()).
		States(rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateScheduled).
		Where("args ->> 'id' = @id", river.NamedArgs{"id": t.ID}).First(1))
	if err != nil || len(list.Jobs) == 0 {
		return false, err
	}
	switch job := list.Jobs[0]; job.State {
	case rivertype.JobStateRetryable, rivertype.JobStateScheduled:
		_, err = q.client.JobRetryTx(ctx, block, job.ID)
	}
	return true, err
}
