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
)

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
}
