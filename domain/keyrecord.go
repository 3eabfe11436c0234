package domain

import "time"

// KeyRecord is what the staff sees of a key: everything about it but what its client sent and was answered.
type KeyRecord struct {
	Scope     Scope
	Consumer  string // name of an API client; empty for a flow in a browser
	Endpoint  string // pattern
	State     State
	Attempt   int64
	Status    int    // of the answer; 0 while there is none
	Resource  string // path of what was made
	Request   string // id of the request that claimed the key, or finished it
	Print     string // the beginning of the request's fingerprint
	FirstSeen time.Time
	DoneAt    time.Time     // zero while it is not done
	LeaseLeft time.Duration // of the running attempt
	LookAt    time.Time     // when the shop looks at it by itself; zero for never
	Looks     int           // how often it did, in vain
	Steps     []string      // that are done, while the key is unfinished
}

// Unfinished reports whether the key has no final answer.
func (r KeyRecord) Unfinished() bool { return r.State == Running || r.State == Released }

// KeySearch chooses keys. Its zero value chooses all whose own time is known.
type KeySearch struct {
	Text  string // a key or its beginning, the pattern of an endpoint, the name of a consumer
	State KeySearchState
}

// KeySearchState chooses keys by what became of them.
type KeySearchState string

const (
	KeysUnfinished KeySearchState = "unfinished"
	KeysFinished   KeySearchState = "finished"
	KeysExpired    KeySearchState = "expired"
	KeysUntimed    KeySearchState = "untimed" // keys that carry no time; their order is none
)
