package idempotent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/eenmaal/domain"
)

// Operation is one mutating endpoint: called over HTTP through Handle, or from Go through Do, with
// the same keys, the same record and the same bytes.
type Operation[In, Out any] struct {
	Described
	registry *Registry
	fields   fields
	run      func(ctx context.Context, run *Run, in In) (Out, error)
}

// Options of an operation.
type Options struct {
	TTL          time.Duration // how long after completion the answer is replayed
	MaxBody      int64         // of the request, in bytes; 64 KiB when zero
	BodyOptional bool          // no body at all means {}
	UUIDOnly     bool          // accept only UUIDs as keys
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
		Described: Described{Pattern: pattern, Kind: kind, TTL: o.TTL, MaxBody: o.MaxBody,
			BodyOptional: o.BodyOptional, UUIDOnly: o.UUIDOnly},
		registry: r, fields: fieldsOf(reflect.TypeFor[In]()), run: fn,
	}
	err := op.fields.checkPattern(pattern)
	if err == nil {
		op.number, err = r.bind(ctx, pattern)
	}
	if err != nil {
		return nil, fmt.Errorf("register %s: %w", pattern, err)
	}
	r.operations, r.handlers = append(r.operations, op.Described), append(r.handlers, op.Handle)
	if kind == "phased" {
		r.completers[op.number] = op.complete
	}
	r.metrics.start(pattern)
	return op, nil
}

// Hints are what a transport knows about a request beside its content. They change speed and
// logging, never the outcome.
type Hints struct {
	RequestID string
	Retry     bool          // the client says that it sent this before
	Patience  time.Duration // how long a duplicate waits; the registry's when zero
	Trace     *Trace        // filled for the transport's log line; nil for none
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
	scope    domain.Scope
	consumer string // name, for the log
	print    domain.Fingerprint
	in       In
	packed   []byte // the command as it was kept, when it comes without its client
	hints    Hints
}

// Do runs the operation once for the key, or gives the answer of the request that did.
//
// A final answer, a refusal included, is a Reply. Everything else is a *domain.Error: nothing final
// is known yet, or the key is refused. The run goes on when ctx ends; the answer then waits for the
// retry.
func (o *Operation[In, Out]) Do(ctx context.Context, consumer domain.Consumer, key domain.Key, in In) (Reply, error) {
	cmd := command[In]{in: in, hints: hintsOf(ctx), consumer: consumer.Name,
		scope: domain.Scope{Key: key, Consumer: consumer.ID, Endpoint: o.number}}
	var reply Reply
	err := o.accepts(key)
	if err == nil {
		reply, err = o.do(ctx, cmd)
		err = o.registry.linked(cmd.scope, err)
	}
	o.came(ctx, cmd.scope, consumer, reply, err)
	return reply, err
}

// came notes what came of a request, for the metrics, the journal and the transport's log.
func (o *Operation[In, Out]) came(ctx context.Context, s domain.Scope, consumer domain.Consumer, reply Reply, err error) {
	outcome := outcome(reply, err)
	o.registry.metrics.count(o.Pattern, outcome)
	o.note(s, domain.KeyEventKind(outcome), hintsOf(ctx).RequestID, detailOf(reply, err))
	trace := TraceOf(ctx)
	trace.Consumer, trace.Key, trace.Outcome = consumer.Name, s.Key.Short(), outcome
}

// accepts refuses a key that this endpoint does not take.
func (o *Operation[In, Out]) accepts(key domain.Key) error {
	switch {
	case key.IsZero():
		return domain.Errorf(domain.Malformed, "idempotency_key_missing", "This endpoint needs an Idempotency-Key.")
	case o.UUIDOnly && !key.IsUUID():
		return domain.Errorf(domain.Malformed, "idempotency_key_malformed", "The Idempotency-Key of this endpoint must be a UUID.")
	default:
		return nil
	}
}

// do finds an answer in the memory of the process, or a flight to lead or to wait for.
func (o *Operation[In, Out]) do(ctx context.Context, cmd command[In]) (Reply, error) {
	var err error
	if cmd.print, err = o.fields.fingerprint(o.Pattern, cmd.in); err != nil {
		return Reply{}, domain.Errorf(domain.Malformed, "body_malformed", "The request holds text that is not valid UTF-8.")
	}
	if o.registry.recent.use(cmd.scope) {
		o.registry.metrics.reuse.Inc()
		o.log(cmd, "cross_endpoint_reuse").Info("the key was used on another endpoint before")
	}
	if known, ok := o.registry.cache.get(cmd.scope); ok {
		return o.replay(known.fingerprint, known.answer, cmd, fromMemory)
	}
	mine := newFlight(cmd.print, cmd.hints.RequestID, o.registry.cfg.DB.Now())
	fl, lead, err := o.registry.flights.join(cmd.scope, mine, o.registry.cfg.MaxWaiters)
	if errors.Is(err, errMismatch) {
		return o.beside(ctx, fl.claim(), cmd)
	}
	if err != nil {
		return Reply{}, err
	}
	if lead {
		o.registry.running.Go(func() { o.lead(context.WithoutCancel(ctx), fl, cmd) })
		// Its own deadline comes first.
		return fl.wait(ctx, max(o.registry.cfg.Lease, o.registry.cfg.Deadline))
	}
	patience := cmd.hints.Patience
	defaultTo(&patience, o.registry.cfg.Patience)
	o.note(cmd.scope, domain.KeyWaits, cmd.hints.RequestID, "")
	defer o.registry.metrics.waiting()()
	reply, err := fl.wait(ctx, patience)
	reply.Replayed, reply.waited = true, true
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
	reply, err := o.recovered(cmd, func() (Reply, error) { return o.execute(ctx, cmd) })
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
	if o.registry.cfg.Answers != nil && reply.from != fromCopy {
		o.registry.cfg.Answers.Put(cmd.scope, cmd.print, reply.Answer, reply.Expires.Sub(o.registry.cfg.DB.Now()))
	}
}

// recovered makes an error of a panic.
func (o *Operation[In, Out]) recovered(cmd command[In], do func() (Reply, error)) (reply Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			o.log(cmd, "retryable").Error("panic in operation", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			reply, err = Reply{}, domain.Errorf(domain.Unavailable, "retry_same_key", "%s", domain.Sentence("retry_same_key"))
		}
	}()
	return do()
}
