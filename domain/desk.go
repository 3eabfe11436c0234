package domain

// Listing asks for one part of a list for the staff, newest first.
type Listing struct {
	State string // only what is in this state; everything when empty
	Text  string // only what this finds; everything when empty
	Cursor
	Limit int
}

// DeskCounts is how much waits for a person. A count stops at MaxDeskCount, which then stands for that
// many or more.
type DeskCounts struct {
	Attention, Unanswered, DeadMails, DeadDeliveries, PoisonEvents int
}

// MaxDeskCount is where counting for the staff stops.
const MaxDeskCount = 1000
