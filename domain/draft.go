package domain

import "time"

// Draft is a checkout being filled in. It is not an effect: nothing is ordered, reserved or charged
// by it, and saving it twice is saving it once.
//
// Its id is in the page's address and owns the keys (see FlowConsumer). OrderKey is made once, when
// the checkout starts. PaymentKey is made then too, and again only when the customer chooses to try
// another payment after one ended.
type Draft struct {
	ID         string
	OrderKey   string
	PaymentKey string
	Language   string
	Items      []Item
	Email      string
	Name       string
	Address    Address
	Method     PaymentMethod
	CreatedAt  time.Time
}
