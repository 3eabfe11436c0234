package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store"
)

// Kind of a job. Each is about one row, whose id it carries.
type Kind string

const (
	SendMail     Kind = "send_mail"     // a mail
	Modify       Kind = "modify_charge" // a pending capture, void or refund
	ApplyEvent   Kind = "apply_event"   // an event in the inbox
	PublishEvent Kind = "publish_event" // one of our own events
	Deliver      Kind = "deliver_event" // its delivery to one endpoint
	AskProvider  Kind = "ask_provider"  // a pending payment
	Reconcile    Kind = "reconcile"     // no row: a stretch of time, made by Repeat
)

var kinds = []Kind{SendMail, Modify, ApplyEvent, PublishEvent, Deliver, AskProvider, Reconcile}

// Handler does the jobs of one kind.
type Handler struct {
	// Work does the job for the row id. It may run again after it succeeded, and while another run of
	// it goes on, so its effect must be one that happens once. try counts from 1.
	Work func(ctx context.Context, id string, try int) error
	// Pause is how long to wait after the nth failed try; River's own growing pauses when nil.
	Pause func(try int) time.Duration
	// Tries is how often a job is tried before it is given up; 25 when zero.
	Tries int
	// Delay is how long a job waits before its first try.
	Delay time.Duration
	// Timeout of one try; that of Queue when zero.
	Timeout time.Duration
}

// ErrGiveUp in the chain of a handler's error says that no further try can help.
var ErrGiveUp = errors.New("given up")

// Again is a handler's error that is none: there is nothing to do yet, and the job runs again after the
// pause. It does not count as a try.
func Again(pause time.Duration) error { return river.JobSnooze(pause) }

// Handle says how jobs of a kind are done. Call it before Start.
func (q *Queue) Handle(kind Kind, h Handler) { q.handlers[kind] = h }

// Enqueue adds a job to the transaction: it runs after the commit, or never.
func (q *Queue) Enqueue(tx *store.Tx, kind Kind, id string) {
	opts := &river.InsertOpts{MaxAttempts: q.handlers[kind].Tries}
	if delay := q.handlers[kind].Delay; delay > 0 {
		opts.ScheduledAt = time.Now().Add(delay)
	}
	tx.Enqueue(river.InsertManyParams{Args: task{kind: kind, ID: id}, InsertOpts: opts}, q.insert)
}

func (q *Queue) insert(ctx context.Context, block *sql.Tx, jobs []any) error {
	var params []river.InsertManyParams
	for _, job := range jobs {
		switch job := job.(type) {
		case river.InsertManyParams:
			params = append(params, job)
		case hurried:
			if waits, err := q.hurry(ctx, block, job.Args.(task)); err != nil {
				return err
			} else if !waits {
				params = append(params, job.InsertManyParams)
			}
		}
	}
	if len(params) == 0 {
		return nil
	}
	_, err := q.client.InsertManyTx(ctx, block, params)
	return err
}

// task is every job of this program as River stores it.
type task struct {
	kind Kind
	ID   string `json:"id"`
}

func (t task) Kind() string { return string(t.kind) }

type taskWorker struct {
	river.WorkerDefaults[task]
	queue *Queue
}

func (w *taskWorker) Work(ctx context.Context, job *river.Job[task]) error {
	h, ok := w.queue.handlers[Kind(job.Kind)]
	if !ok {
		return fmt.Errorf("no handler for jobs of kind %s", job.Kind)
	}
	err := h.work(ctx, job)
	if errors.Is(err, ErrGiveUp) {
		return river.JobCancel(err)
	}
	return err
}

func (w *taskWorker) Timeout(job *river.Job[task]) time.Duration {
	return w.queue.handlers[Kind(job.Kind)].Timeout
}

// work does a job between two points where it may be cut off: before anything has happened, and when
// everything has and the queue does not know.
func (h Handler) work(ctx context.Context, job *river.Job[task]) error {
	if err := fault.Point(ctx, "before_"+job.Kind); err != nil {
		return err
	}
	if err := h.Work(ctx, job.Args.ID, job.Attempt); err != nil {
		return err
	}
	return fault.Point(ctx, "after_"+job.Kind)
}

func (w *taskWorker) NextRetry(job *river.Job[task]) time.Time {
	if pause := w.queue.handlers[Kind(job.Kind)].Pause; pause != nil {
		return time.Now().Add(pause(job.Attempt))
	}
	return time.Time{}
}
