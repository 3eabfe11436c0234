package idempotent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// Complete goes on with runs that stopped and whose clients have not come back: at most limit of them,
// side by side, those that wait longest. It gives how many it went on with; the key of each has its
// final answer then, or the time of the next look.
//
// It is a retry that nobody sent: the same function goes on at the same step, under the same number of
// its attempt. So it may run in every process and while the client asks again: one of them takes the
// key over, and the others find it taken. The answer is the key's, and a later retry replays it.
//
// The runs end with ctx, and give their keys back.
func (r *Registry) Complete(ctx context.Context, limit int) (int, error) {
	due, err := r.cfg.DB.Unfinished(ctx, slices.Collect(maps.Keys(r.completers)), limit)
	var all sync.WaitGroup
	for _, key := range due {
		all.Go(func() { r.completers[key.Scope.Endpoint](ctx, key) })
	}
	all.Wait()
	return len(due), err
}

// complete goes on with one key of the operation.
func (o *Operation[In, Out]) complete(ctx context.Context, u domain.Unfinished) {
	ctx, cancel := context.WithTimeout(ctx, o.registry.cfg.Deadline)
	defer cancel()
	cmd := command[In]{scope: u.Scope, consumer: fmt.Sprint(u.Scope.Consumer), print: u.Claim.Fingerprint,
		packed: slices.Concat([]byte{}, u.Input), hints: Hints{RequestID: u.Claim.Request}}
	overtaken := false
	reply, err := o.recovered(cmd, func() (reply Reply, err error) {
		reply, overtaken, err = o.takeOver(ctx, cmd, u.Claim)
		return reply, err
	})
	outcome := runCompleted
	switch {
	case overtaken:
		outcome = runOvertaken
	case err != nil:
		outcome = runUnfinished
		_ = o.public(cmd, err) // logs what was not foreseen
	default:
		o.remember(cmd, reply)
	}
	o.registry.metrics.completed.WithLabelValues(outcome).Inc()
}

// callPerson queues a flag about a key that does not get its answer.
func (r *Run) callPerson(tx *store.Tx) {
	tx.Flag(domain.NeedsAttention, aboutKey(r.key.Scope), fmt.Sprintf("%s with key %s... of consumer %d has no final answer after %d looks",
		r.op.Pattern, r.key.Scope.Key.Short(), r.key.Scope.Consumer, r.looks))
}

// aboutKey names a key of a consumer: the id of its operation, which is the same for all consumers, and
// the consumer.
func aboutKey(s domain.Scope) string { return fmt.Sprintf("%s/%d", operationID(s), s.Consumer) }

// ScopeAbout reads the name that a flag about a key has. ok is false when the text is no such name.
func ScopeAbout(text string) (s domain.Scope, ok bool) {
	id, consumer, _ := strings.Cut(text, "/")
	if s.Endpoint, s.Key, ok = parseOperationID(id); !ok {
		return domain.Scope{}, false
	}
	var err error
	s.Consumer, err = strconv.ParseInt(consumer, 10, 64)
	return s, err == nil
}
