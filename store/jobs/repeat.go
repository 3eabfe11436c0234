package jobs

import (
	"time"

	"github.com/riverqueue/river"
)

// Repeat makes a job at the start and then whenever every has passed, once however many processes there
// are. id names the work there is at that moment: as long as a job with this id waits, runs or is done,
// there is no second one. One that was given up is made again. Call it before Start.
//
// River forgets done jobs after a day, so an id must not come for longer than that.
func (q *Queue) Repeat(kind Kind, every time.Duration, id func() string) {
	opts := &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
	q.client.PeriodicJobs().Add(river.NewPeriodicJob(river.PeriodicInterval(every), func() (river.JobArgs, *river.InsertOpts) {
		return task{kind: kind, ID: id()}, opts
	}, &river.PeriodicJobOpts{RunOnStart: true}))
}
