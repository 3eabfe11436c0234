package idempotent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// execute decides what the request is: new, a repeat, or the rescue of one that stopped half-way.
//
// A request that looks new is simply run: its first transaction inserts the key, and a key that is
// taken undoes it. So a new order costs no look-up, and two replicas cannot both be first. One that may
// not be run, for its age or its caller's limit, is looked up before it is refused.
func (o *Operation[In, Out]) execute(ctx context.Context, cmd command[In]) (Reply, error) {
	if reply, ok, err := o.copied(ctx, cmd); ok {
		return reply, err
	}
	refused := domain.CheckUnknownKey(cmd.scope.Key, o.registry.cfg.DB.Now(), o.TTL)
	look := cmd.hints.Retry || refused != nil
	for range 3 {
		if look {
			claim, found, err := o.registry.claim(ctx, cmd.scope)
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
		if refused = o.admit(ctx, cmd); refused != nil {
			if look {
				return Reply{}, refused
			}
			look = true
			continue
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

// admit asks whether the consumer may have one more new run. Nothing else is charged: replays, waits and
// runs that go on are not.
func (o *Operation[In, Out]) admit(ctx context.Context, cmd command[In]) error {
	if o.registry.cfg.Admit == nil {
		return nil
	}
	return o.registry.cfg.Admit(ctx, domain.Consumer{ID: cmd.scope.Consumer, Name: cmd.consumer}, o.Pattern)
}

// looksAgain reports errors after which the record decides: the key was taken or has made something
// before, the commit's answer was lost, or the request was found invalid, which must not hide the
// answer of an earlier one.
func looksAgain(err error) bool {
	for _, known := range []error{store.ErrKeyTaken, store.ErrKeySpent, store.ErrCommitUnknown, store.ErrLeaseLost} {
		if errors.Is(err, known) {
			return true
		}
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
	reply, err := o.replay(print, answer, cmd, fromCopy)
	return reply, true, err
}

func (o *Operation[In, Out]) replay(print domain.Fingerprint, answer domain.Answer, cmd command[In], from string) (Reply, error) {
	claim := domain.Claim{State: domain.Done, Fingerprint: print, Answer: answer,
		Resource: answer.Header.Get("Location"), Request: answer.Request, FirstSeen: answer.At}
	switch domain.Decide(claim, cmd.print, o.registry.cfg.DB.Now(), o.TTL) {
	case domain.Replay:
		return Reply{Answer: answer, Replayed: true, from: from, Expires: answer.At.Add(o.TTL)}, nil
	case domain.Mismatch:
		return Reply{}, o.mismatch(claim, cmd)
	default:
		o.registry.cache.drop(cmd.scope)
		return Reply{}, gone(claim)
	}
}

// beside answers a request that differs from the one this process works on. Whose the key is, is for the
// record to say: the other request may itself be the stranger, and this one a retry of what was done
// elsewhere. Without a record the key is taken to be the other's, which came first.
func (o *Operation[In, Out]) beside(ctx context.Context, running domain.Claim, cmd command[In]) (Reply, error) {
	claim, found, err := o.registry.claim(ctx, cmd.scope)
	if err != nil {
		return Reply{}, o.public(cmd, err)
	}
	if !found {
		return Reply{}, o.mismatch(running, cmd)
	}
	switch domain.Decide(claim, cmd.print, o.registry.cfg.DB.Now(), o.TTL) {
	case domain.Replay:
		return Reply{Answer: claim.Answer, Replayed: true, from: fromDatabase, Expires: claim.Answer.At.Add(o.TTL)}, nil
	case domain.Mismatch:
		return Reply{}, o.mismatch(claim, cmd)
	case domain.Gone:
		return Reply{}, gone(claim)
	default:
		return Reply{}, busy()
	}
}

// settle answers a request whose key is known, waiting for a run that still goes on.
func (o *Operation[In, Out]) settle(ctx context.Context, cmd command[In], claim domain.Claim) (Reply, error) {
	patience := cmd.hints.Patience
	defaultTo(&patience, o.registry.cfg.Patience)
	waitUntil, waited := time.Now().Add(patience), false
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		switch domain.Decide(claim, cmd.print, o.registry.cfg.DB.Now(), o.TTL) {
		case domain.Replay:
			return Reply{Answer: claim.Answer, Replayed: true, waited: waited, from: fromDatabase, Expires: claim.Answer.At.Add(o.TTL)}, nil
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
		if !waited {
			waited = true
			o.note(cmd.scope, domain.KeyWaits, cmd.hints.RequestID, "")
			defer o.registry.metrics.waiting()()
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return Reply{}, busy()
		}
		var err error
		if claim, _, err = o.registry.claim(ctx, cmd.scope); err != nil {
			return Reply{}, err
		}
	}
}

// takeOver goes on where the last attempt stopped. again is true when somebody else was faster.
func (o *Operation[In, Out]) takeOver(ctx context.Context, cmd command[In], claim domain.Claim) (reply Reply, again bool, err error) {
	run, err := resume(ctx, o.Described, o.registry, o.newKey(cmd), claim, cmd.packed != nil)
	if err == nil {
		reply, err = o.attempt(ctx, run, cmd)
	}
	if errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrCommitUnknown) {
		return Reply{}, true, nil
	}
	return reply, false, err
}

// attempt runs the operation's function once. A run that stops without a final answer gives its key
// back at once, except after a crash, where the lease ends by itself.
func (o *Operation[In, Out]) attempt(ctx context.Context, run *Run, cmd command[In]) (Reply, error) {
	run.consumer = cmd.consumer
	err := fmt.Errorf("%s ended in a panic", o.Pattern) // unless it returns
	defer func() { run.giveBack(ctx, err) }()
	if err = o.recall(run, &cmd); err == nil {
		_, err = o.run(ctx, run, cmd.in)
	}
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

// recall reads what the key's row keeps for a run that goes on: its finished steps, and the command when
// no client has brought it.
func (o *Operation[In, Out]) recall(run *Run, cmd *command[In]) error {
	if len(run.recorded) > 0 {
		if err := json.Unmarshal(run.recorded, &run.steps); err != nil {
			return fmt.Errorf("read finished steps: %w", err)
		}
	}
	if !run.absent {
		return nil
	}
	return o.fields.unpack(cmd.packed, &cmd.in)
}

func (o *Operation[In, Out]) newKey(cmd command[In]) store.NewKey {
	k := store.NewKey{Scope: cmd.scope, Fingerprint: cmd.print, Request: cmd.hints.RequestID}
	if o.Kind == "phased" {
		k.Input, _ = o.fields.pack(cmd.in) // the fingerprint has marshalled it before
	}
	return k
}
