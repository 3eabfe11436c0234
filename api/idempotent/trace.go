package idempotent

import "context"

// Trace is what the log line of a request tells of it beside its route: filled while the request is
// handled, read when it has ended. It belongs to one request.
type Trace struct {
	Consumer string // name; never a secret
	Key      string // the part that may be logged
	Outcome  string // executed, replayed, mismatch, ...
}

// TraceOf gives the trace that came with WithHints, or one that nobody reads.
func TraceOf(ctx context.Context) *Trace {
	if t := hintsOf(ctx).Trace; t != nil {
		return t
	}
	return &Trace{}
}
