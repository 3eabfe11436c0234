package domain

import "time"

// KeyEventKind says what happened with a key. The kinds that a request ends with are the words of the
// metrics: replayed, waited, in_progress, mismatch and so on.
type KeyEventKind string

// What an attempt does with its key on the way to the answer.
const (
	KeyClaimed   KeyEventKind = "claimed"    // it is bound to its request; Step was in the same commit
	KeyStepped   KeyEventKind = "stepped"    // Step is done
	KeyCalling   KeyEventKind = "calling"    // somebody outside is asked: Step says for what
	KeyCalled    KeyEventKind = "called"     // and has answered, or has not: Detail says so
	KeyFinished  KeyEventKind = "finished"   // the answer is final; Detail is its status
	KeyStopped   KeyEventKind = "stopped"    // the attempt ended without a final answer; Detail says why
	KeyTakenOver KeyEventKind = "taken_over" // a retry goes on where the last attempt stopped
	KeyResumed   KeyEventKind = "resumed"    // the shop does, without its client
	KeyWaits     KeyEventKind = "waits"      // a request waits for the one that runs
	KeyHeard     KeyEventKind = "heard"      // the provider told of the key's payment: Step says how, Detail what
)

// How a request with a key ends.
const (
	KeyExecuted   KeyEventKind = "executed"
	KeyReplayed   KeyEventKind = "replayed" // Detail says from where: memory, redis, database
	KeyWaited     KeyEventKind = "waited"
	KeyInProgress KeyEventKind = "in_progress"
	KeyMismatched KeyEventKind = "mismatch"
)

// KeyEvent is one line of a key's journal. It is told for people who want to know what happened; nothing
// is decided by it, and it may be missing.
type KeyEvent struct {
	Scope    Scope
	Endpoint string // pattern; known when the event was read
	At       time.Time
	Kind     KeyEventKind
	Attempt  int64  // number of the attempt on its key; 0 when there was none
	Step     string // name of the step or call
	Request  string // id of the request; without a client, that of the one that claimed the key
	Detail   string // one word: a status, a code, a place. Never what a client wrote
	Process  string // which process it happened in
	Times    int64  // how many events of this kind the line stands for; At and Request are the last one's
}

// Ends reports whether a request ended with this event. Every request has one such event and no other
// has any, so that they can be counted.
func (e KeyEvent) Ends() bool {
	switch e.Kind {
	case KeyClaimed, KeyStepped, KeyCalling, KeyCalled, KeyFinished, KeyStopped, KeyTakenOver, KeyResumed, KeyWaits, KeyHeard:
		return false
	default:
		return true
	}
}

// KeyTimeline is the journal of one key, or of all keys with which one order was made and paid.
type KeyTimeline struct {
	Events   []KeyEvent // oldest first
	Earlier  bool       // there are older ones than these
	Requests int64      // how often the request came; for an order, the one that placed it
}

// KeyCount is how many requests ended in one way, in the hour that begins at Hour.
type KeyCount struct {
	Hour     time.Time
	Endpoint string // pattern
	Outcome  KeyEventKind
	Requests int64
}
