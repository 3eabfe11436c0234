package idempotent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// Operation is one mutating endpoint: called over HTTP through Handle, or from Go through Do, with
// the same keys, the same record and the same bytes.
type Operation[In, Out any] struct {
	Described
	registry *Registry
	endpoint int16
	fields   fields
	run      func(ctx context.Context, run *Run, in In) (Out, error)
}

// Options of an operation.
type Options struct {
	TTL      time.Duration // how long after completion the answer is replayed
	MaxBody  int64         // of the request, in bytes; 64 KiB when zero
	UUIDOnly bool          // accept only UUIDs as keys
}

// Local makes an operation whose whole effect is one transaction. fn reads, decides and queues its
// writes on tx; it may run more than once, so it must have no other effect. An error of a final kind
// undoes the writes and is remembered as the answer; any other error leaves no trace, and the key is
// free.
func Local[In, Out any](ctx context.Context, r *Registry, pattern string, o Options,
	fn func(ctx context.Context, tx *Tx, in In) (Out, error)) (*Operation[In, Out], error) {
	return register(ctx, r, pattern, "local", o, func(ctx context.Context, run *Run, in In) (Out, error) {
		return Finish(ctx, run, func(tx *Tx) (Out, error) { return fn(ctx, tx, in) })
	})
}

// Phased makes an operation that leaves the process between transactions. fn is built of Step, Call
// and Finish, and ends with Finish.
func Phased[In, Out any](ctx context.Context, r *Registry, pattern string, o Options,
	fn func(ctx context.Context, run *Run, in In) (Out, error)) (*Operation[In, Out], error) {
	return register(ctx, r, pattern, "phased", o, fn)
}

func register[In, Out any](ctx context.Context, r *Registry, pattern, kind string, o Options,
	fn func(context.Context, *Run, In) (Out, error)) (*Operation[In, Out], error) {
	if o.TTL <= r.cfg.RetryWindow {
		return nil, fmt.Errorf("register %s: a TTL of %s must be longer than the retry window of %s: a retry that comes after the record is gone could not be told from a new request",
			pattern, o.TTL, r.cfg.RetryWindow)
	}
	defaultTo(&o.MaxBody, 64<<10)
	op := &Operation[In, Out]{
		Described: Described{Pattern: pattern, Kind: kind, TTL: o.TTL, MaxBody: o.MaxBody, UUIDOnly: o.UUIDOnly},
		registry:  r, fields: fieldsOf(reflect.TypeFor[In]()), run: fn,
	}
	var err error
	if op.endpoint, err = r.bind(ctx, pattern); err != nil {
		return nil, fmt.Errorf("register %s: %w", pattern, err)
	}
	r.operations = append(r.operations, op.Described)
	return op, nil
}

// Hints are what a transport knows about a request beside its content. They change speed and
// logging, never the outcome.
type Hints struct {
	RequestID string
	Retry     bool          // the client says that it sent this before
	Patience  time.Duration // how long a duplicate waits; the registry's when zero
}

type hintsKey struct{}

// WithHints adds hints to the context of Do.
func WithHints(ctx context.Context, h Hints) context.Context {
	return context.WithValue(ctx, hintsKey{}, h)
}

func hintsOf(ctx context.Context) Hints {
	h, _ := ctx.Value(hintsKey{}).(Hints)
	return h
}

// command is one request, taken apart.
type command[In any] struct {
	scope domain.Scope
	print domain.Fingerprint
	in    In
	hints Hints
}

// Do runs the operation once for the key, or gives the answer of the request that did.
//
// A final answer, a refusal included, is a Reply. Everything else is a *domain.Error: nothing final
// is known yet, or the key is refused. The run goes on when ctx ends; the answer then waits for the
// retry.
func (o *Operation[In, Out]) Do(ctx context.Context, consumer domain.Consumer, key domain.Key, in In) (Reply, error) {
	reply, err := o.do(ctx, consumer, key, in)
	o.registry.metrics.requests.WithLabelValues(o.Pattern, outcome(reply, err)).Inc()
	return reply, err
}

func (o *Operation[In, Out]) do(ctx context.Context, consumer domain.Consumer, key domain.Key, in In) (Reply, error) {
	if key.IsZero() {
		return Reply{}, domain.Errorf(domain.Malformed, "idempotency_key_missing", "This endpoint needs an Idempotency-Key.")
	}
	if o.UUIDOnly && !key.IsUUID() {
		return Reply{}, domain.Errorf(domain.Malformed, "idempotency_key_malformed", "The Idempotency-Key of this endpoint must be a UUID.")
	}
	cmd := command[In]{scope: domain.Scope{Key: key, Consumer: consumer.ID, Endpoint: o.endpoint}, in: in, hints: hintsOf(ctx)}
	var err error
	if cmd.print, err = o.fields.fingerprint(o.Pattern, in); err != nil {
		return Reply{}, domain.Errorf(domain.Malformed, "body_malformed", "The request holds text that is not valid UTF-8.")
	}
	if known, ok := o.registry.cache.get(cmd.scope); ok {
		return o.replay(known.fingerprint, known.answer, cmd)
	}
	fl, lead, err := o.registry.flights.join(cmd.scope, cmd.print, o.registry.cfg.MaxWaiters)
	if errors.Is(err, errMismatch) {
		return Reply{}, o.mismatch(domain.Claim{Fingerprint: fl.fingerprint}, cmd)
	}
	if err != nil {
		return Reply{}, err
	}
	if lead {
		o.registry.running.Go(func() { o.lead(context.WithoutCancel(ctx), fl, cmd) })
	}
	patience := cmd.hints.Patience
	defaultTo(&patience, o.registry.cfg.Patience)
	if lead {
		patience = max(o.registry.cfg.Lease, o.registry.cfg.Deadline) // its own deadline comes first
	}
	reply, err := fl.wait(ctx, patience)
	reply.Replayed = reply.Replayed || !lead
	return reply, err
}

// Output decodes a Reply: the value of a successful answer, or the remembered refusal as the
// *domain.Error it was.
func (o *Operation[In, Out]) Output(r Reply) (out Out, err error) {
	if r.Answer.Status >= 400 {
		return out, refusalOf(r.Answer)
	}
	if err := json.Unmarshal(r.Answer.Body, &out); err != nil {
		return out, fmt.Errorf("decode stored answer: %w", err)
	}
	return out, nil
}

// lead does the work for a flight. It holds its own deadline, and a panic ends the run, not the
// program.
func (o *Operation[In, Out]) lead(ctx context.Context, fl *flight, cmd command[In]) {
	ctx, cancel := context.WithTimeout(ctx, o.registry.cfg.Deadline)
	defer cancel()
	reply, err := o.recovered(ctx, cmd)
	if err == nil {
		o.remember(cmd, reply)
	} else {
		err = o.public(cmd, err)
	}
	o.registry.flights.land(cmd.scope, fl, reply, err)
}

// remember keeps a final answer where the next replay finds it fastest. What was read from the copy
// is in the copy already.
func (o *Operation[In, Out]) remember(cmd command[In], reply Reply) {
	o.registry.cache.put(cmd.scope, cmd.print, reply.Answer)
	if o.registry.cfg.Answers != nil && !reply.copied {
		o.registry.cfg.Answers.Put(cmd.scope, cmd.print, reply.Answer, reply.Expires.Sub(o.registry.cfg.DB.Now()))
	}
}

func (o *Operation[In, Out]) recovered(ctx context.Context, cmd command[In]) (reply Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			o.registry.cfg.Log.Error("panic in operation", "endpoint", o.Pattern, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			reply, err = Reply{}, domain.Errorf(domain.Unavailable, "retry_same_key", "%s", domain.Sentence("retry_same_key"))
		}
	}()
	return o.execute(ctx, cmd)
}

// execute decides what the request is: new, a repeat, or the rescue of one that stopped half-way.
//
// A request that looks new is simply run: its first transaction inserts the key, and a key that is
// taken undoes it. So a new order costs no look-up, and two replicas cannot both be first.
func (o *Operation[In, Out]) execute(ctx context.Context, cmd command[In]) (Reply, error) {
	if reply, ok, err := o.copied(ctx, cmd); ok {
		return reply, err
	}
	refused := domain.CheckUnknownKey(cmd.scope.Key, o.registry.cfg.DB.Now(), o.TTL)
	look := cmd.hints.Retry || refused != nil
	for range 3 {
		if look {
			claim, found, err := o.registry.cfg.DB.Claim(ctx, cmd.scope)
			if err != nil {
				return Reply{}, err
			}
			if found {
				return o.settle(ctx, cmd, claim)
			}
			if refused != nil {
				return Reply{}, refused
			}
		}
		reply, err := o.attempt(ctx, &Run{op: o.Described, registry: o.registry, key: o.newKey(cmd)}, cmd)
		if err == nil || !looksAgain(err) {
			return reply, err
		}
		look = true
		if !errors.Is(err, store.ErrKeyTaken) {
			refused = err // unless the record knows better
		}
	}
	return Reply{}, busy()
}

// looksAgain reports errors after which the record decides: the key was taken, the commit's answer
// was lost, or the request was found invalid, which must not hide the answer of an earlier one.
func looksAgain(err error) bool {
	if errors.Is(err, store.ErrKeyTaken) || errors.Is(err, store.ErrCommitUnknown) || errors.Is(err, store.ErrLeaseLost) {
		return true
	}
	switch domain.KindOf(err) {
	case domain.Invalid, domain.NotFound, domain.Malformed:
		return true
	default:
		return false
	}
}

// copied asks the copy of finished answers, for requests that say they are repeats.
func (o *Operation[In, Out]) copied(ctx context.Context, cmd command[In]) (Reply, bool, error) {
	if o.registry.cfg.Answers == nil || !cmd.hints.Retry {
		return Reply{}, false, nil
	}
	print, answer, ok := o.registry.cfg.Answers.Get(ctx, cmd.scope)
	if !ok {
		return Reply{}, false, nil
	}
	reply, err := o.replay(print, answer, cmd)
	reply.copied = true
	return reply, true, err
}

func (o *Operation[In, Out]) replay(print domain.Fingerprint, answer domain.Answer, cmd command[In]) (Reply, error) {
	claim := domain.Claim{State: domain.Done, Fingerprint: print, Answer: answer, Resource: answer.Header.Get("Location")}
	switch domain.Decide(claim, cmd.print, o.registry.cfg.DB.Now(), o.TTL) {
	case domain.Replay:
		return Reply{Answer: answer, Replayed: true, Expires: answer.At.Add(o.TTL)}, nil
	case domain.Mismatch:
		return Reply{}, o.mismatch(claim, cmd)
	default:
		o.registry.cache.drop(cmd.scope)
		return Reply{}, gone(claim)
	}
}

// settle answers a request whose key is known, waiting for a run that still goes on.
func (o *Operation[In, Out]) settle(ctx context.Context, cmd command[In], claim domain.Claim) (Reply, error) {
	patience := cmd.hints.Patience
	defaultTo(&patience, o.registry.cfg.Patience)
	waitUntil := time.Now().Add(patience)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		switch domain.Decide(claim, cmd.print, o.registry.cfg.DB.Now(), o.TTL) {
		case domain.Replay:
			return Reply{Answer: claim.Answer, Replayed: true, Expires: claim.Answer.At.Add(o.TTL)}, nil
		case domain.Mismatch:
			return Reply{}, o.mismatch(claim, cmd)
		case domain.Gone:
			return Reply{}, gone(claim)
		case domain.TakeOver:
			reply, again, err := o.takeOver(ctx, cmd, claim)
			if !again {
				return reply, err
			}
		case domain.Wait:
		}
		if time.Now().Add(pause).After(waitUntil) {
			return Reply{}, busy()
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return Reply{}, busy()
		}
		var err error
		if claim, _, err = o.registry.cfg.DB.Claim(ctx, cmd.scope); err != nil {
			return Reply{}, err
		}
	}
}

// takeOver goes on where the last attempt stopped. again is true when somebody else was faster.
func (o *Operation[In, Out]) takeOver(ctx context.Context, cmd command[In], claim domain.Claim) (reply Reply, again bool, err error) {
	ok, err := o.registry.cfg.DB.TakeOver(ctx, cmd.scope, claim.Attempt, o.registry.cfg.Lease)
	if err != nil || !ok {
		return Reply{}, err == nil, err
	}
	o.registry.metrics.takeovers.WithLabelValues(o.Pattern).Inc()
	run, err := resume(o.Described, o.registry, o.newKey(cmd), claim)
	if err != nil {
		return Reply{}, false, err
	}
	reply, err = o.attempt(ctx, run, cmd)
	if errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrCommitUnknown) {
		return Reply{}, true, nil
	}
	return reply, false, err
}

// attempt runs the operation's function once. A run that stops without a final answer gives its key
// back at once, except after a crash, where the lease ends by itself.
func (o *Operation[In, Out]) attempt(ctx context.Context, run *Run, cmd command[In]) (Reply, error) {
	defer run.giveBack(ctx)
	_, err := o.run(ctx, run, cmd.in)
	if err != nil && !run.finished && domain.KindOf(err).Final() {
		err = run.refuse(ctx, err) // a "no" from between the steps
	}
	if run.finished {
		return Reply{Answer: run.answer, Expires: run.answer.At.Add(o.TTL)}, nil
	}
	if err == nil {
		err = fmt.Errorf("%s ended without Finish", o.Pattern)
	}
	return Reply{}, err
}

func (o *Operation[In, Out]) newKey(cmd command[In]) store.NewKey {
	k := store.NewKey{Scope: cmd.scope, Fingerprint: cmd.print, Request: cmd.hints.RequestID}
	if o.Kind == "phased" {
		k.Input, _ = json.Marshal(cmd.in, json.Deterministic(true)) // the fingerprint has marshalled it before
	}
	return k
}

var errMismatch = errors.New("the key belongs to another request")

// mismatch refuses a key that was used for another request, and leaves a trace for whoever has to
// find the client's fault: names of fields, never values.
func (o *Operation[In, Out]) mismatch(claim domain.Claim, cmd command[In]) error {
	o.registry.cfg.Log.Warn("idempotency key used for another request",
		"endpoint", o.Pattern, "key", cmd.scope.Key.Short(), "consumer", cmd.scope.Consumer,
		"request", cmd.hints.RequestID, "first_request", claim.Answer.Request,
		"differs_in", o.fields.differing(claim.Fingerprint, cmd.print))
	err := domain.Errorf(domain.Conflict, "idempotency_key_reused", "This key was already used for another request. Use a new key for a new request.")
	err.Resource = resourceOf(claim)
	return err
}

func gone(claim domain.Claim) error {
	err := domain.Errorf(domain.Expired, "idempotency_key_expired", "The answer of this key is no longer kept. The request was not run again.")
	err.Resource = resourceOf(claim)
	return err
}

func resourceOf(claim domain.Claim) string {
	if claim.Resource != "" {
		return claim.Resource
	}
	return claim.Answer.Header.Get("Location")
}

// public gives an error that may leave the program. What was not foreseen is logged here, once, and
// told as a failure on our side.
func (o *Operation[In, Out]) public(cmd command[In], err error) error {
	if known, ok := errors.AsType[*domain.Error](err); ok {
		if known.Unwrap() != nil {
			o.log(slog.LevelWarn, cmd, err)
		}
		return known
	}
	if errors.Is(err, store.ErrKeySpent) {
		return gone(domain.Claim{})
	}
	if store.IsDown(err) || errors.Is(err, store.ErrCommitUnknown) {
		o.log(slog.LevelWarn, cmd, err)
		return domain.Errorf(domain.Unavailable, "store_unavailable", "%s", domain.Sentence("store_unavailable"))
	}
	o.log(slog.LevelError, cmd, err)
	return domain.Errorf(domain.Unavailable, "retry_same_key", "%s", domain.Sentence("retry_same_key"))
}

func (o *Operation[In, Out]) log(level slog.Level, cmd command[In], err error) {
	o.registry.cfg.Log.Log(context.Background(), level, "operation failed", "endpoint", o.Pattern,
		"key", cmd.scope.Key.Short(), "request", cmd.hints.RequestID, "error", err)
}
