package simulated

import "example.com/eenmaal/domain"

// The card tokens. Every other token is unsupported, and certainly not charged.
const (
	TokenOK                 = "tok_ok"
	TokenDeclined           = "tok_declined"
	TokenSlow               = "tok_slow"
	TokenChargedThenTimeout = "tok_charged_then_timeout"
	TokenChargedThen500     = "tok_charged_then_500"
	TokenUnavailable        = "tok_unavailable"
	Token3DS                = "tok_3ds" // the customer must approve on a hosted page
)

const methodIDEAL = "ideal"

// card is what happens to the first request of a key that pays with it. A repeat of the key finds
// the recorded charge and is simply answered.
type card struct {
	outcome    domain.ChargeStatus
	refuseOnce bool    // the first request gets a 503 and charges nothing; the next one charges
	slow       bool    // wait before charging
	telling    telling // how the client hears of the charge, once it is in the ledger
}

// telling is how the request that made a charge is answered. It never changes what is recorded.
type telling int

const (
	tellTruth   telling = iota
	tellNothing         // silence until the client gives up
	tellFailure         // 500, as if it had failed
)

var cards = map[string]card{
	TokenOK:                 {outcome: domain.ChargeSucceeded},
	TokenDeclined:           {outcome: domain.ChargeDeclined},
	TokenSlow:               {outcome: domain.ChargeSucceeded, slow: true},
	TokenChargedThenTimeout: {outcome: domain.ChargeSucceeded, telling: tellNothing},
	TokenChargedThen500:     {outcome: domain.ChargeSucceeded, telling: tellFailure},
	TokenUnavailable:        {outcome: domain.ChargeSucceeded, refuseOnce: true},
	Token3DS:                {outcome: domain.ChargePending},
}

// card gives the behaviour that the request asks for. ok is false for a token nobody knows.
func (r chargeRequest) card() (c card, ok bool) {
	if r.Method == methodIDEAL {
		return card{outcome: domain.ChargePending}, true
	}
	c, ok = cards[r.Token]
	return c, ok
}
