package domain

import "time"

// Attention is something that the program could not settle and a person has to look at. There is one
// of a kind about one thing.
type Attention struct {
	ID        string
	Kind      string // "delivery_dead"
	About     string // the id of what it is about
	Note      string // for the person; no personal data and no secrets
	CreatedAt time.Time
}
