package idempotent

import (
	"context"
	"sync"
	"time"

	"example.com/eenmaal/domain"
)

// flights lets one request per key and process work, while its duplicates wait for that one's
// outcome. Waiting holds no connection, so a hammered key does not slow the others down.
type flights struct {
	mu   sync.Mutex
	open map[flightID]*flight
}

// flightID is a Scope without its text form, small enough to hash fast.
type flightID struct {
	key      [16]byte
	consumer int64
	endpoint int16
}

func idOf(s domain.Scope) flightID { return flightID{s.Key.ID(), s.Consumer, s.Endpoint} }

type flight struct {
	fingerprint domain.Fingerprint
	request     string // id of the first request
	started     time.Time
	waiters     int
	landed      chan struct{} // closed when reply and err are set
	reply       Reply
	err         error
}

// newFlight is what a request brings: the flight it would lead.
func newFlight(print domain.Fingerprint, request string, now time.Time) *flight {
	return &flight{fingerprint: print, request: request, started: now, landed: make(chan struct{})}
}

// join gives the key's flight, which is mine when there was none. lead is true for the one who must do
// the work and land it.
func (f *flights) join(s domain.Scope, mine *flight, maxWaiters int) (fl *flight, lead bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := idOf(s)
	if fl, ok := f.open[id]; ok {
		if fl.fingerprint.Sum != mine.fingerprint.Sum {
			return fl, false, errMismatch
		}
		if fl.waiters >= maxWaiters {
			return fl, false, busy()
		}
		fl.waiters++
		return fl, false, nil
	}
	if f.open == nil {
		f.open = map[flightID]*flight{}
	}
	f.open[id] = mine
	return mine, true, nil
}

// land publishes the outcome and lets later requests start anew.
func (f *flights) land(s domain.Scope, fl *flight, reply Reply, err error) {
	fl.reply, fl.err = reply, err
	f.mu.Lock()
	delete(f.open, idOf(s))
	f.mu.Unlock()
	close(fl.landed)
}

// claim is the flight in the words of the rule book.
func (fl *flight) claim() domain.Claim {
	return domain.Claim{State: domain.Running, Fingerprint: fl.fingerprint, Request: fl.request, FirstSeen: fl.started}
}

// wait gives the flight's outcome, or Busy when patience or the client ends first.
func (fl *flight) wait(ctx context.Context, patience time.Duration) (Reply, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-fl.landed:
		return fl.reply, fl.err
	case <-timer.C:
		return Reply{}, busy()
	case <-ctx.Done():
		return Reply{}, busy()
	}
}

func busy() error {
	return domain.Errorf(domain.Busy, "operation_in_progress",
		"The first request with this key still runs. Ask again with the same key.")
}
