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
	copied   bool      // it came from Config.Answers
	waited   bool      // the earlier request was still running when this one came
}
