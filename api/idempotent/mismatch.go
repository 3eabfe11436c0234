package idempotent

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

var errMismatch = errors.New("the key belongs to another request")

// mismatch refuses a key that was used for another request, and leaves a trace for whoever has to
// find the client's fault: names of fields, never values.
func (o *Operation[In, Out]) mismatch(claim domain.Claim, cmd command[In]) error {
	now := o.registry.cfg.DB.Now()
	m := domain.KeyMismatch{
		Scope: cmd.scope, Key: cmd.scope.Key.Short(), Sum: cmd.print.Sum, Fields: o.fields.differing(claim.Fingerprint, cmd.print),
		FirstRequest: claim.Request, FirstSeen: claim.FirstSeen, Request: cmd.hints.RequestID, FirstAt: now, LastAt: now,
	}
	o.log(cmd, "mismatch").Warn("idempotency key used for another request",
		"first_request", m.FirstRequest, "age", m.Age().Round(time.Second).String(), "differs_in", m.Fields)
	o.registry.audit.add(o.registry, m)
	err := domain.Errorf(domain.Conflict, "idempotency_key_reused", "This key was already used for another request. Use a new key for a new request.")
	err.Resource = resourceOf(claim)
	return err
}

// audit writes mismatches down, one at a time and beside the requests: the answer waits for none of
// it, and a client that makes nothing but mismatches holds one connection at most.
type audit struct {
	mu      sync.Mutex
	queue   []domain.KeyMismatch
	writing bool
}

const (
	auditQueue   = 256 // past it a mismatch is in the log alone
	auditTimeout = time.Second
)

func (a *audit) add(r *Registry, m domain.KeyMismatch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) >= auditQueue {
		return
	}
	a.queue = append(a.queue, m)
	if !a.writing {
		a.writing = true
		r.running.Go(func() { a.write(r) })
	}
}

// write goes on until the queue is empty.
func (a *audit) write(r *Registry) {
	for {
		a.mu.Lock()
		if len(a.queue) == 0 {
			a.writing, a.queue = false, nil
			a.mu.Unlock()
			return
		}
		next := a.queue[0]
		a.queue = a.queue[1:]
		a.mu.Unlock()
		if err := record(r.cfg.DB, next); err != nil {
			r.cfg.Log.Warn("mismatch not kept, it is in the log alone", "key", next.Key, "request", next.Request, "error", err)
		}
	}
}

func record(db *store.DB, m domain.KeyMismatch) error {
	ctx, cancel := context.WithTimeout(context.Background(), auditTimeout)
	defer cancel()
	return db.RecordMismatch(ctx, m)
}
