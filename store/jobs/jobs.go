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
	client *river.Client[*sql.Tx]
	listen *pgxpool.Pool
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
	q := &Queue{}
	driver, err := q.driver(ctx, cfg)
	if err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &sendMailWorker{db: cfg.DB, mailer: cfg.Mailer})
	river.AddWorker(workers, &preparePartitionsWorker{db: cfg.DB})
	river.AddWorker(workers, &sweepKeysWorker{db: cfg.DB, expiry: cfg.Expiry, log: cfg.Log})
	q.client, err = river.NewClient(driver, &river.Config{
		Logger: cfg.Log, Workers: workers, JobTimeout: 30 * time.Second,
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
func (q *Queue) Start(ctx context.Context) error { return q.client.Start(context.WithoutCancel(ctx)) }

// Stop lets running jobs end, or cancels them when ctx ends first. Unfinished jobs run again later.
func (q *Queue) Stop(ctx context.Context) error {
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

func (q *Queue) enqueue(tx *store.Tx, args river.JobArgs) {
	tx.Enqueue(func(ctx context.Context, block *sql.Tx) error {
		_, err := q.client.InsertTx(ctx, block, args, nil)
		return err
	})
}

// SendMail enqueues sending a mail that the same transaction keeps.
func (q *Queue) SendMail(tx *store.Tx, mailID string) { q.enqueue(tx, sendMail{MailID: mailID}) }

type sendMail struct {
	MailID string `json:"mail_id"`
}

func (sendMail) Kind() string { return "send_mail" }

type sendMailWorker struct {
	river.WorkerDefaults[sendMail]
	db     *store.DB
	mailer domain.Mailer
}

// Work sends the mail unless an earlier run noted that it was sent. A crash between sending and
// noting sends it again, under the same Message-ID.
func (w *sendMailWorker) Work(ctx context.Context, job *river.Job[sendMail]) error {
	mail, err := w.db.Mail(ctx, job.Args.MailID)
	if err != nil {
		return err
	}
	if w.mailer == nil || !mail.SentAt.IsZero() {
		return nil
	}
	if err := w.mailer.Send(ctx, mail); err != nil {
		return fmt.Errorf("send mail %s: %w", mail.ID, err)
	}
	return w.db.MarkSent(ctx, mail.ID)
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
