package domain

import "time"

// DeskConsumer is the consumer of what the shop's staff does. Flows of its kind cannot be made from
// outside: their kinds are the program's own words. It may change the orders of every consumer.
var DeskConsumer = Consumer{ID: FlowConsumer("desk", "desk").ID, Name: "desk"}

// StaffSession is one sign-in of a member of staff. Its token is known to the browser alone.
type StaffSession struct {
	Staff     string
	CreatedAt time.Time
	SeenAt    time.Time // to the minute
	ExpiresAt time.Time
}

// StaffAction says who of the staff asked for what. It is kept before the thing is done, under the key
// that it is done with, so that nothing is done by nobody.
type StaffAction struct {
	Staff  string
	Action string // "refund", "capture", ...
	About  string // the id of what it is about
	Key    Key
	At     time.Time
}

// KeyUse is a key under which something was made.
type KeyUse struct {
	What     string // "order", "payment", "refund", ...
	ID       string // of what was made
	Endpoint string // its pattern
	Consumer int64
	Key      Key
	At       time.Time
}
