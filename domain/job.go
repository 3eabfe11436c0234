package domain

import "time"

// JobCounts are the jobs that are not done.
type JobCounts struct {
	Waiting int // for a worker, their time or the next try
	Running int
	Dead    int // given up; a person has to look

	Oldest map[string]time.Duration // age of the oldest one that is not done, of every kind
}

// DeadJob is a job that was given up.
type DeadJob struct {
	ID      int64
	Kind    string
	About   string // the id of the row that it was to work on
	Tries   int
	Error   string // of the last try
	EndedAt time.Time
}
