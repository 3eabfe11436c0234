package domain

// Listing asks for one page of a list for the staff, newest first.
type Listing struct {
	State  string // only what is in this state; everything when empty
	Text   string // only what this finds; everything when empty
	Before string // the page begins after the row with this id; with the newest when empty
	Limit  int    // rows on a page
}

// Listed is one page of a list. Older asks for the next page as Listing.Before; it is empty when there
// is none.
type Listed[T any] struct {
	Rows  []T
	Older string
}

// DeskCounts is how much waits for a person. A count stops at MaxDeskCount, which then stands for that
// many or more.
type DeskCounts struct {
	Attention, Unanswered, DeadMails, DeadDeliveries, PoisonEvents int
}

// MaxDeskCount is where counting for the staff stops.
const MaxDeskCount = 1000
