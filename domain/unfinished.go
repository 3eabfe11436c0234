package domain

import "time"

// Unfinished is a key whose run stopped without a final answer, with all that is needed to go on
// without its client.
type Unfinished struct {
	Scope Scope
	Claim Claim
	Input []byte // the command, as the engine packed it
}

// LookAfterLease is how long after the end of its lease an unfinished key is looked at for the first
// time: the client, who knows whether he still wants it, comes first.
const LookAfterLease = 5 * time.Second

// MaxLooks is how often an unfinished key is looked at in vain before a person is called.
const MaxLooks = 12

// MaxLookPause is the longest time between two looks at an unfinished key.
const MaxLookPause = time.Hour

// LookPause is the time to the next look at a key that has been looked at in vain so often.
func LookPause(looks int) time.Duration {
	pauses := []time.Duration{LookAfterLease, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute}
	switch {
	case looks < len(pauses):
		return pauses[looks]
	case looks < MaxLooks:
		return 15 * time.Minute
	default:
		return MaxLookPause
	}
}
