package checkout

import (
	"slices"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// State is where a checkout stands. It is read from the draft, the order and the payments each time a
// page is asked for, and is written nowhere.
type State string

const (
	Open      State = "open"      // being filled in
	Ready     State = "ready"     // filled in; nothing is ordered
	Expired   State = "expired"   // nothing was ordered in time
	Placed    State = "placed"    // ordered; no payment was begun
	Paying    State = "paying"    // a payment was begun and its end is not known
	AtBank    State = "at-bank"   // the last payment waits for the customer at the bank's page
	Switching State = "switching" // the same, and the customer chose to pay in another way
	Ended     State = "ended"     // the last payment ended with nothing charged; the customer chooses again
	Paid      State = "paid"      // done
	Cancelled State = "cancelled" // the order was cancelled
)

// States lists them all.
var States = []State{Open, Ready, Expired, Placed, Paying, AtBank, Switching, Ended, Paid, Cancelled}

// way is what becomes of a request in a state.
type way int

const (
	unset     way = iota
	here          // this page serves it
	toDetails     // 303 to the details page, and so on
	toReview
	toStatus
	toOrder
	showPaid    // "this order is already paid" in place of the page
	showExpired // "this checkout expired" in place of the page
	showUsed    // "this form was already used" when it says something new, and else to the details page
)

// row says for one state what each page does. Pages that answer a POST are save, pay and choose.
type row struct{ details, save, review, pay, status, choose way }

// table is the whole of it: which page accepts which state, and where else to go.
//
// pay serves Placed and all after it but Cancelled too: the same keys only ever find what they did before.
var table = map[State]row{
	Open:      {details: here, save: here, review: toDetails, pay: toDetails, status: toDetails, choose: toDetails},
	Ready:     {details: here, save: here, review: here, pay: here, status: here, choose: toReview},
	Expired:   {details: showExpired, save: showExpired, review: showExpired, pay: showExpired, status: showExpired, choose: showExpired},
	Placed:    {details: toReview, save: showUsed, review: here, pay: here, status: here, choose: toReview},
	Paying:    {details: toStatus, save: showUsed, review: toStatus, pay: here, status: here, choose: toStatus},
	AtBank:    {details: here, save: showUsed, review: toStatus, pay: here, status: here, choose: here},
	Switching: {details: here, save: showUsed, review: here, pay: here, status: here, choose: here},
	Ended:     {details: here, save: showUsed, review: here, pay: here, status: toDetails, choose: here},
	Paid:      {details: showPaid, save: showUsed, review: showPaid, pay: here, status: toOrder, choose: toOrder},
	Cancelled: {details: toOrder, save: showUsed, review: toOrder, pay: toOrder, status: toOrder, choose: toOrder},
}

// visit is a checkout as a request finds it.
type visit struct {
	domain.Draft
	Order    domain.Order // when Placed
	Placed   bool
	Payments []domain.Payment // of the order, oldest first
	State    State
}

// stateOf reads the state. An order decides before the clock does: a checkout that ordered in time
// never expires.
func stateOf(v visit, demo bool, now time.Time, ttl time.Duration) State {
	switch {
	case !v.Placed && tooOld(v.Draft, now, ttl):
		return Expired
	case !v.Placed && filledIn(v.Draft, demo):
		return Ready
	case !v.Placed:
		return Open
	case v.Order.Status == domain.OrderCancelled:
		return Cancelled
	case v.Order.Status == domain.OrderPaid || anyPaid(v.Payments):
		return Paid
	case len(v.Payments) == 0:
		return Placed
	case anyOpen(v.Payments):
		return Paying
	default:
		return stateOfLast(v)
	}
}

// stateOfLast looks at the last payment alone. Earlier ones may wait at a bank that the customer left:
// they hold nobody up, and money that they still bring is given back.
func stateOfLast(v visit) State {
	last, _ := v.last()
	switch {
	case last.Status != domain.PaymentPending:
		return Ended
	case v.unused():
		return Switching
	default:
		return AtBank
	}
}

func tooOld(d domain.Draft, now time.Time, ttl time.Duration) bool {
	made := d.CreatedAt
	if key, err := domain.ParseKey(d.OrderKey); err == nil {
		if t, ok := key.Time(); ok {
			made = t
		}
	}
	return now.Sub(made) > ttl
}

func filledIn(d domain.Draft, demo bool) bool {
	return wanted(d).Validate() == nil && ui.Offers(demo, d.Method)
}

// wanted is the order that a draft asks for.
func wanted(d domain.Draft) domain.OrderDraft {
	return domain.OrderDraft{Email: d.Email, Name: d.Name, Address: d.Address, Language: d.Language, Items: d.Items}
}

func anyPaid(payments []domain.Payment) bool {
	for _, p := range payments {
		if p.Status == domain.PaymentPaid {
			return true
		}
	}
	return false
}

// anyOpen reports whether a payment's end has to be waited for. A status that is not known here may mean
// anything.
func anyOpen(payments []domain.Payment) bool {
	for _, p := range payments {
		if p.Status != domain.PaymentPending && !p.Status.NothingCharged() {
			return true
		}
	}
	return false
}

// nothingCharged reports whether it is certain that no payment moved money. No page says so otherwise.
func nothingCharged(payments []domain.Payment) bool {
	for _, p := range payments {
		if !p.Status.NothingCharged() {
			return false
		}
	}
	return true
}

// waiting is the newest payment that waits for the customer at a bank.
func (v visit) waiting() (domain.Payment, bool) {
	for _, p := range slices.Backward(v.Payments) {
		if p.Status == domain.PaymentPending {
			return p, true
		}
	}
	return domain.Payment{}, false
}

// last is the newest payment.
func (v visit) last() (domain.Payment, bool) {
	if len(v.Payments) == 0 {
		return domain.Payment{}, false
	}
	return v.Payments[len(v.Payments)-1], true
}
