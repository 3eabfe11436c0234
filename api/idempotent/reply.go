package idempotent

import (
	"time"

	"example.com/eenmaal/domain"
)

// Reply is a final answer together with how it came about.
type Reply struct {
	Answer   domain.Answer
	Replayed bool      // an earlier request made it; this one had no effect
	Expires  time.Time // until when it is replayed
	from     string    // where a replay was found; empty when it had to wait in this process
	waited   bool      // the earlier request was still running when this one came
}

// Where a replayed answer was found.
const (
	fromMemory   = "memory"
	fromCopy     = "redis" // Config.Answers
	fromDatabase = "database"
)
