package simulated

import (
	"context"
	"sync"
)

// keyLocks gives each key to one request at a time. The zero value is ready. It is kept in memory
// only: after a crash nothing runs, and what was done is in the ledger.
type keyLocks struct {
	mu   sync.Mutex
	held map[string]*keyLock
}

type keyLock struct {
	turn  chan struct{} // holds one element while somebody has the key
	users int           // those who hold or await it; at zero the entry is dropped
}

// take waits for the key's turn. release must be called once; err is ctx's, when that ended first.
func (l *keyLocks) take(ctx context.Context, key string) (release func(), err error) {
	lock := l.join(key)
	select {
	case lock.turn <- struct{}{}:
		return func() { <-lock.turn; l.leave(key, lock) }, nil
	case <-ctx.Done():
		l.leave(key, lock)
		return nil, ctx.Err()
	}
}

func (l *keyLocks) join(key string) *keyLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[string]*keyLock{}
	}
	lock := l.held[key]
	if lock == nil {
		lock = &keyLock{turn: make(chan struct{}, 1)}
		l.held[key] = lock
	}
	lock.users++
	return lock
}

func (l *keyLocks) leave(key string, lock *keyLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lock.users--; lock.users == 0 {
		delete(l.held, key)
	}
}
