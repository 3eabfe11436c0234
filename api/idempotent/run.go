package idempotent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store"
)

// Tx is the transaction of one step: the store's Tx and the key it belongs to.
type Tx struct {
	*store.Tx
	Scope   domain.Scope
	metrics metrics
	then    func() // what the commit makes true for the run
	unknown func() // what it means for the run that the commit gave no answer
}

func (tx *Tx) commit(ctx context.Context) error {
	if err := tx.timedCommit(ctx); err != nil {
		tx.metrics.failedCommit(err)
		if errors.Is(err, store.ErrCommitUnknown) {
			tx.unknown()
		}
		return err
	}
	tx.then()
	return nil
}

func (tx *Tx) timedCommit(ctx context.Context) error {
	defer tx.metrics.timed("database", "commit")()
	return tx.Commit(ctx)
}

// Run is one attempt to carry an operation out.
type Run struct {
	op       Described
	registry *Registry
	key      store.NewKey
	consumer string // name, for the log
	attempt  int64  // 0 until the claim is written
	unknown  bool   // the claim may be written: its commit gave no answer
	resumed  bool
	absent   bool   // its client is not there
	looks    int    // how often the key was gone on with without its client, this time included
	went     bool   // a resumed run has reached something that was not done yet
	recorded []byte // finished steps as the key's row has them
	steps    map[string]json.RawMessage
	finished bool
	answer   domain.Answer
}

// resume takes a claim over and makes the run that goes on with it. store.ErrLeaseLost says that
// somebody else was faster.
func resume(ctx context.Context, op Described, r *Registry, key store.NewKey, claim domain.Claim, absent bool) (*Run, error) {
	run := &Run{op: op, registry: r, key: key, attempt: claim.Attempt + 1, recorded: claim.Steps, looks: claim.Looks, resumed: true, absent: absent}
	pause := time.Duration(0)
	if absent {
		run.looks++
		pause = domain.LookPause(run.looks)
	}
	tx := r.cfg.DB.Begin()
	tx.TakeOver(key.Scope, claim.Attempt, r.cfg.Lease, run.looks, pause)
	if run.looks > domain.MaxLooks {
		run.callPerson(tx) // no earlier run could: each of them took its process along
	}
	err := tx.Commit(ctx)
	if err == nil {
		r.metrics.takeovers.WithLabelValues(op.Pattern).Inc()
		run.noteTakeOver()
	}
	return run, err
}

// OutsideKey is the key that Call hands to its function under this name, for keeping it beforehand.
func (r *Run) OutsideKey(name string) string { return outsideKey(r.key.Scope, name) }

// Resumed reports whether an earlier attempt may have made outside calls already.
func (r *Run) Resumed() bool { return r.resumed }

// Completing reports whether the run goes on without its client, who may have gone for good: what has
// begun must be finished, and what has not must not be started.
func (r *Run) Completing() bool { return r.absent }

// goesOn counts where a run that was taken over does its first work.
func (r *Run) goesOn(step string) {
	if r.resumed && !r.went {
		r.went = true
		r.registry.metrics.recoveries.WithLabelValues(step).Inc()
	}
}

func (r *Run) begin() *Tx {
	return &Tx{Tx: r.registry.cfg.DB.Begin(), Scope: r.key.Scope, metrics: r.registry.metrics, unknown: func() { r.unknown = true }}
}

// Step runs fn and commits what it queued, with the claim if this is the first transaction. A step
// that an earlier attempt finished is not run again: its recorded result is given. fn may run more
// than once before it commits, so it must write only through tx. A final error undoes fn's writes and
// becomes the operation's answer.
func Step[T any](ctx context.Context, run *Run, name string, fn func(tx *Tx) (T, error)) (result T, err error) {
	if recorded, ok := run.steps[name]; ok {
		return result, json.Unmarshal(recorded, &result)
	}
	run.goesOn(name)
	if err := fault.Point(ctx, "before_"+name); err != nil {
		return result, err
	}
	first := run.attempt == 0
	err = run.decide(ctx, func(tx *Tx) error {
		if result, err = fn(tx); err != nil {
			return err
		}
		return run.record(tx, name, result)
	})
	if err == nil && first && name != "claim" {
		err = fault.Point(ctx, "after_claim") // which was in the step's commit
	}
	if err == nil {
		err = fault.Point(ctx, "after_"+name)
	}
	return result, err
}

// record queues the claim, or its progress, with a step's result.
func (r *Run) record(tx *Tx, name string, result any) error {
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("record step %s: %w", name, err)
	}
	steps := map[string]json.RawMessage{name: text}
	for k, v := range r.steps {
		steps[k] = v
	}
	all, err := json.Marshal(steps)
	if err != nil {
		return err
	}
	if r.attempt == 0 {
		tx.ClaimRunning(r.key, r.registry.cfg.Lease, all)
	} else {
		tx.RecordSteps(r.key.Scope, r.attempt, r.registry.cfg.Lease, all)
	}
	kind := domain.KeyStepped
	if r.attempt == 0 {
		kind = domain.KeyClaimed
	}
	tx.then = func() {
		r.attempt, r.steps = max(r.attempt, 1), steps
		r.note(kind, name, "")
	}
	return nil
}

// Call runs fn with no transaction open, after the claim was written. key is the same on every
// attempt, so that the other side can tell repeats even when two attempts overlap. What fn gives is
// recorded by the next step.
func Call[T any](ctx context.Context, run *Run, name string, fn func(ctx context.Context, key string) (T, error)) (result T, err error) {
	if run.attempt == 0 {
		if _, err := Step(ctx, run, "claim", func(*Tx) (bool, error) { return true, nil }); err != nil {
			return result, err
		}
	}
	run.goesOn(name)
	if err := fault.Point(ctx, "before_"+name); err != nil {
		return result, err
	}
	run.note(domain.KeyCalling, name, "")
	result, err = fn(ctx, outsideKey(run.key.Scope, name))
	run.note(domain.KeyCalled, name, wordOf(err))
	if err != nil {
		return result, err
	}
	return result, fault.Point(ctx, "after_"+name)
}

// Finish writes the last rows and the answer in one transaction. fn may run more than once, so it
// must write only through tx. A final error undoes fn's writes and is remembered as the answer; any
// other error undoes everything of this step.
//
// The answer is Out as JSON with status 201, unless Out says otherwise with an HTTPStatus method. Its
// Location is what the Path method of Out gives, when it has one.
func Finish[Out any](ctx context.Context, run *Run, fn func(tx *Tx) (Out, error)) (out Out, err error) {
	run.goesOn("finish")
	if err := fault.Point(ctx, "before_finish"); err != nil {
		return out, err
	}
	err = run.decide(ctx, func(tx *Tx) error {
		if out, err = fn(tx); err != nil {
			return err
		}
		answer, err := answerOf(out)
		if err != nil {
			return err
		}
		run.finish(tx, answer)
		return fault.Point(ctx, "before_finish_commit")
	})
	if err == nil {
		err = fault.Point(ctx, "after_finish")
	}
	return out, err
}

// finish queues the answer, with the claim when there is none yet.
func (r *Run) finish(tx *Tx, answer domain.Answer) {
	answer.Request, answer.At = r.key.Request, tx.Now()
	resource := "" // the Location header tells it while there is an answer
	if r.attempt == 0 {
		tx.ClaimDone(r.key, answer, resource)
	} else {
		tx.Finish(r.key.Scope, r.attempt, answer, resource)
		if r.looks >= domain.MaxLooks {
			tx.SettleFlag(domain.NeedsAttention, aboutKey(r.key.Scope), "it has ended by itself")
		}
	}
	tx.then = func() {
		r.attempt, r.finished, r.answer = max(r.attempt, 1), true, answer
		r.note(domain.KeyFinished, "", strconv.Itoa(answer.Status))
	}
}

// errRefused ends a run whose refusal has been stored as its answer.
var errRefused = errors.New("refused")

// decide lets fn read, decide and queue, and commits it. When what fn read was out of date it decides
// anew; when it refuses, the refusal alone is committed.
func (r *Run) decide(ctx context.Context, fn func(*Tx) error) error {
	for try := 1; ; try++ {
		tx := r.begin()
		err := fn(tx)
		if err == nil {
			err = tx.commit(ctx)
		}
		switch {
		case errors.Is(err, store.ErrStale) && try < store.MaxStale:
			r.registry.cfg.DB.ForgetPrices()
		case err != nil && domain.KindOf(err).Final():
			return r.refuse(ctx, err)
		default:
			return err
		}
	}
}

// refuse stores a final "no" as the answer, and nothing else.
func (r *Run) refuse(ctx context.Context, refusal error) error {
	answer, err := refusalAnswer(r.registry.linked(r.key.Scope, refusal))
	if err != nil {
		return err
	}
	tx := r.begin()
	r.finish(tx, answer)
	if err := tx.commit(ctx); err != nil {
		return err
	}
	return errRefused
}

// giveBack releases the claim of a run that stopped without a final answer because of err, and says
// when it is looked at if its client does not come back. It may fail: then the lease ends by itself. A
// panic passes through.
func (r *Run) giveBack(ctx context.Context, err error) {
	if r.finished || r.attempt == 0 && !r.unknown {
		return
	}
	r.note(domain.KeyStopped, "", wordOf(err))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := r.release(ctx, err); err != nil {
		r.registry.cfg.Log.Warn("key not released, its lease will end", "endpoint", r.op.Pattern, "key", r.key.Scope.Key.Short(),
			"consumer", r.consumer, "request", r.key.Request, "outcome", "retryable", "error", err)
	}
}

// release gives back the claim that this run has, or may have: a lost answer is no reason to let
// everybody wait for the lease to end.
func (r *Run) release(ctx context.Context, cause error) error {
	pause := domain.LookPause(r.looks)
	if known, ok := errors.AsType[*domain.Error](cause); ok && r.absent && known.RetryAfter > 0 {
		pause = min(known.RetryAfter, domain.MaxLookPause)
	}
	if r.attempt == 0 {
		return r.registry.cfg.DB.ReleaseUnknown(ctx, r.key.Scope, r.key.Request, pause)
	}
	tx := r.registry.cfg.DB.Begin()
	tx.Release(r.key.Scope, r.attempt, pause)
	if r.looks >= domain.MaxLooks {
		r.callPerson(tx)
	}
	return tx.Commit(ctx)
}
