package domain

import "time"

// MismatchExplained is the state of the mismatches that somebody has explained, in a Listing. Without it
// those that nobody has are meant.
const MismatchExplained = "explained"

// KeyMismatch records that a key was used for another request than its first: a fault of a client, kept
// until somebody has explained it. It names fields and holds no values.
type KeyMismatch struct {
	ID           int64
	Scope        Scope
	Consumer     string // name of an API client; empty for a flow in a browser
	Endpoint     string // pattern
	Key          string // the part that may be shown
	Sum          [32]byte
	Fields       []string  // in which the requests differ; none when that is not known
	FirstRequest string    // id of the request that the key belongs to
	FirstSeen    time.Time // when that one came
	Request      string    // id of the last request that differed
	FirstAt      time.Time // when the first and the last one came that differed in this way
	LastAt       time.Time
	Times        int64
	ExplainedBy  string // a member of the staff; empty while nobody has
	ExplainedAt  time.Time
	Note         string
}

// Age is how old the key's first request was when the first one came that differed.
func (m KeyMismatch) Age() time.Duration { return m.FirstAt.Sub(m.FirstSeen) }
