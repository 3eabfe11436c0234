package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"example.com/eenmaal/store"
)

// Expiry says how long records of keys are kept. Both functions are called by the job, so not before
// Start.
type Expiry struct {
	Rules func() []store.SweepRule
	Swept func(store.Swept) // hears what every sweep did; may be nil
}

// sweepEvery is how often the key table is swept. River inserts the job once, however many processes
// there are.
const sweepEvery = 10 * time.Minute

func (e Expiry) periodic() []*river.PeriodicJob {
	if e.Rules == nil {
		return nil
	}
	once := &river.InsertOpts{MaxAttempts: 3, UniqueOpts: river.UniqueOpts{ByPeriod: sweepEvery}}
	return []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(sweepEvery),
		func() (river.JobArgs, *river.InsertOpts) { return sweepKeys{}, once }, &river.PeriodicJobOpts{RunOnStart: true})}
}

type sweepKeys struct{}

func (sweepKeys) Kind() string { return "sweep_keys" }

type sweepKeysWorker struct {
	river.WorkerDefaults[sweepKeys]
	db     *store.DB
	expiry Expiry
	log    *slog.Logger
}

// Timeout is longer than that of other jobs: a first sweep may find months of work. What it leaves is
// done by the next one.
func (w *sweepKeysWorker) Timeout(*river.Job[sweepKeys]) time.Duration { return 5 * time.Minute }

// Work sweeps the key table, and tells of the days that it could not drop.
func (w *sweepKeysWorker) Work(ctx context.Context, _ *river.Job[sweepKeys]) error {
	if w.expiry.Rules == nil {
		return nil // left by a process that had rules
	}
	swept, err := w.db.Sweep(ctx, w.expiry.Rules())
	if w.expiry.Swept != nil {
		w.expiry.Swept(swept)
	}
	if swept.DaysKept > 0 {
		w.log.WarnContext(ctx, "days of keys are over their time but have unfinished keys, or are in use", "days", swept.DaysKept)
	}
	return err
}
