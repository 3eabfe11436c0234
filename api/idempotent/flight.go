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
	waiters     int
	landed      chan struct{} // closed when reply and err are set
	reply       Reply
	err         error
}

// join gives the key's flight. lead is true for the one who must do the work and land it.
func (f *flights) join(s domain.Scope, print domain.Fingerprint, maxWaiters int) (fl *flight, lead bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := idOf(s)
	if fl, ok := f.open[id]; ok {
		if fl.fingerprint.Sum != print.Sum {
			return fl, false, errMismatch
		}
		if fl.waiters >= maxWaiters {
			return fl, false, busy()
		}
		fl.waiters++
		return fl, false, nil
	}
	fl = &flight{fingerprint: print, landed: make(chan struct{})}
	if f.open == nil {
		f.open = map[flightID]*flight{}
	}
	f.open[id] = fl
	return fl, true, nil
}

// land publishes the outcome and lets later requests start anew.
func (f *flights) land(s domain.Scope, fl *flight, reply Reply, err error) {
	fl.reply, fl.err = reply, err
	f.mu.Lock()
	delete(f.open, idOf(s))
	f.mu.Unlock()
	close(fl.landed)
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
