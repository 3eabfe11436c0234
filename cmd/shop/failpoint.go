//go:build failpoint

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/eenmaal/domain/fault"
)

// A binary built with -tags failpoint can be told to die or to pause where it hurts. FAILPOINTS holds
// rules, separated by commas:
//
//	kill@<n>                               die, as by kill -9, at the nth point passed by the process
//	kill:<name>:<probability>              die at a point of this name
//	sleep:<name>:<duration>:<probability>  pause at a point of this name
//	trace=<file>                           append the name of each point passed, one a line
//	from=<name>                            number and trace only from the first point of this name on
//
// Every request and every job passes these points, in its own order:
//
//	before_reserve ... after_reserve    the first step of a payment, capture or void: the claim and its row
//	after_claim                         within that, right after the commit with the claim
//	before_charge ... after_charge      the call of the provider; also _capture and _void
//	before_finish ... after_finish      the last step of every operation; an order's, a refund's only one
//	before_finish_commit                within that, when all is decided and nothing written
//	before_commit ... after_commit      around every transaction, those of the jobs included
//	before_write                        an operation's answer, before its first byte
//	after_webhook                       an event of the provider is kept and not yet acknowledged
//	before_<kind> ... after_<kind>      a job: send_mail, modify_charge, apply_event, publish_event, deliver_event,
//	                                    ask_provider, reconcile
//	after_mail, after_delivery          within those: it was sent, and that is not yet noted
//
// LEASE shortens the lease of an attempt, so that a test need not wait half a minute for it to end.

// withFailpoints puts the plan of FAILPOINTS into the context of everything that comes from ctx.
func withFailpoints(ctx context.Context) (context.Context, error) {
	text := os.Getenv("FAILPOINTS")
	if text == "" {
		return ctx, nil
	}
	f := &failpoints{}
	for rule := range strings.SplitSeq(text, ",") {
		if err := f.add(rule); err != nil {
			return ctx, fmt.Errorf("FAILPOINTS: %q: %w", rule, err)
		}
	}
	return fault.With(ctx, f.plan), nil
}

// failpointLease is LEASE; without it the lease stays as it is.
func failpointLease() (time.Duration, error) {
	text := os.Getenv("LEASE")
	if text == "" {
		return 0, nil
	}
	return time.ParseDuration(text)
}

type failpoints struct {
	mu     sync.Mutex
	passed int
	killAt int
	from   string // what comes before it is not numbered; empty once it was passed
	rules  []failpointRule
	trace  *os.File
}

type failpointRule struct {
	name        string
	pause       time.Duration // 0: die
	probability float64
}

func (f *failpoints) add(rule string) (err error) {
	if file, ok := strings.CutPrefix(rule, "trace="); ok {
		f.trace, err = os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		return err
	}
	if name, ok := strings.CutPrefix(rule, "from="); ok {
		f.from = name
		return nil
	}
	if n, ok := strings.CutPrefix(rule, "kill@"); ok {
		f.killAt, err = strconv.Atoi(n)
		return err
	}
	r, part := failpointRule{}, strings.Split(rule, ":")
	switch {
	case part[0] == "kill" && len(part) == 3:
	case part[0] == "sleep" && len(part) == 4:
		if r.pause, err = time.ParseDuration(part[2]); err != nil {
			return err
		}
	default:
		return errors.New("no such rule")
	}
	r.name = part[1]
	r.probability, err = strconv.ParseFloat(part[len(part)-1], 64)
	f.rules = append(f.rules, r)
	return err
}

// plan is one point passed. The points are numbered and written down one by one, so that the last line
// of the trace is the point at which the process died.
func (f *failpoints) plan(ctx context.Context, point string) error {
	pause := f.pass(point)
	if pause == 0 {
		return nil
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *failpoints) pass(point string) (pause time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.from == point {
		f.from = ""
	}
	if f.from == "" {
		f.number(point)
	}
	for _, r := range f.rules {
		if r.name != point || rand.Float64() >= r.probability {
			continue
		}
		if r.pause == 0 {
			die()
		}
		pause += r.pause
	}
	return pause
}

// number counts a point.
func (f *failpoints) number(point string) {
	f.passed++
	if f.trace != nil {
		fmt.Fprintln(f.trace, point)
	}
	if f.passed == f.killAt {
		die()
	}
}

// die ends the process as kill -9 does: nothing is flushed, closed or given back.
func die() {
	if me, err := os.FindProcess(os.Getpid()); err == nil {
		_ = me.Kill() // fails only when there is nobody to kill
	}
	select {} // the signal is on its way
}
