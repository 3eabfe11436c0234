// Package jobs runs work after a commit: a job is enqueued in the transaction that makes it
// necessary, so it runs if that transaction happened and never otherwise. Jobs are delivered at
// least once; each must bear being run twice.
//
// River is used here and nowhere else.
package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// Config of a Queue. DB must be given.
type Config struct {
	DB *store.DB
	// ListenURL is the Postgres to hear of new jobs from; without it they are found by polling.
	ListenURL string
	Mailer    domain.Mailer // nil keeps mails without sending them
	Expiry    Expiry        // without rules, keys are kept for ever
	Log       *slog.Logger
	Workers   int // 4 when zero
}

// Queue enqueues jobs, and works on them once started.
type Queue struct {
	db       *sql.DB
	postgres bool
	client   *river.Client[*sql.Tx]
	listen   *pgxpool.Pool
	handlers map[Kind]Handler
	loops    loops
}

// New makes a queue. It does not work until Start.
func New(ctx context.Context, cfg Config) (*Queue, error) {
	if cfg.DB == nil {
		return nil, errors.New("jobs: Config.DB is missing")
	}
	if cfg.Workers == 0 {
		cfg.Workers = 4
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	q := &Queue{db: cfg.DB.SQL(), postgres: cfg.DB.Postgres(), handlers: map[Kind]Handler{SendMail: sendMail(cfg.DB, cfg.Mailer)}}
	driver, err := q.driver(ctx, cfg)
	if err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	for _, kind := range kinds {
		river.AddWorkerArgs(workers, task{kind: kind}, &taskWorker{queue: q})
	}
	river.AddWorker(workers, &preparePartitionsWorker{db: cfg.DB})
	river.AddWorker(workers, &sweepKeysWorker{db: cfg.DB, expiry: cfg.Expiry, log: cfg.Log})
	q.client, err = river.NewClient(driver, &river.Config{
		Logger: cfg.Log, Workers: workers, FetchPollInterval: pollInterval(q.listen != nil),
		// The job of a worker that was killed is taken over when it must have ended.
		JobTimeout: 30 * time.Second, RescueStuckJobsAfter: time.Minute,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: cfg.Workers}},
		PeriodicJobs: append(cfg.Expiry.periodic(), river.NewPeriodicJob(river.PeriodicInterval(6*time.Hour),
			func() (river.JobArgs, *river.InsertOpts) { return preparePartitions{}, nil }, nil)),
	})
	if err != nil {
		return nil, fmt.Errorf("job queue: %w", err)
	}
	return q, nil
}

func (q *Queue) driver(ctx context.Context, cfg Config) (riverdriver.Driver[*sql.Tx], error) {
	if !cfg.DB.Postgres() || cfg.ListenURL == "" {
		return cfg.DB.JobDriver(), nil
	}
	conf, err := pgxpool.ParseConfig(cfg.ListenURL)
	if err != nil {
		return nil, errors.New("job queue: the database address cannot be parsed")
	}
	conf.MaxConns = 2
	if q.listen, err = pgxpool.NewWithConfig(ctx, conf); err != nil {
		return nil, fmt.Errorf("job queue: %w", err)
	}
	return riverdatabasesql.NewWithPgxListener(cfg.DB.SQL(), q.listen), nil
}

// Start begins to work. ctx ending does not stop the work; Stop does.
func (q *Queue) Start(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if err := q.client.Start(ctx); err != nil {
		return err
	}
	q.loops.start(ctx)
	return nil
}

// Stop lets running jobs end, or cancels them when ctx ends first. Unfinished jobs run again later.
func (q *Queue) Stop(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		q.loops.end(ctx)
	}()
	defer func() { <-ended }() // soon after ctx
	err := q.client.Stop(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		err = q.client.StopAndCancel(stop)
	}
	return err
}

// Close frees what New opened. Call it after Stop.
func (q *Queue) Close() {
	if q.listen != nil {
		q.listen.Close()
	}
}

// pollInterval is how often new jobs are looked for. Who hears of them asks seldom.
func pollInterval(listens bool) time.Duration {
	if listens {
		return time.Second
	}
	return 200 * time.Millisecond
}

type preparePartitions struct{}

func (preparePartitions) Kind() string { return "prepare_partitions" }

type preparePartitionsWorker struct {
	river.WorkerDefaults[preparePartitions]
	db *store.DB
}

// Work makes the coming days of the key table.
func (w *preparePartitionsWorker) Work(ctx context.Context, _ *river.Job[preparePartitions]) error {
	return w.db.EnsurePartitions(ctx)
}
