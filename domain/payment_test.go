package domain_test

import (
	"errors"
	"testing"

	"example.com/eenmaal/domain"
)

var everyStatus = []domain.PaymentStatus{domain.PaymentProcessing, domain.PaymentUnknown, domain.PaymentPending, domain.PaymentAuthorized,
	domain.PaymentDeclined, domain.PaymentFailed, domain.PaymentVoided, domain.PaymentPaid, domain.PaymentDuplicate, domain.PaymentRefunded}

// TestNewsNeverLeadsBackwards tells every payment every thing a provider can say, at an older and at a
// newer version: a payment that moved money never becomes one that did not.
func TestNewsNeverLeadsBackwards(t *testing.T) {
	t.Parallel()
	for _, status := range everyStatus {
		for _, word := range []domain.ChargeStatus{domain.ChargePending, domain.ChargeAuthorized, domain.ChargeSucceeded, domain.ChargeDeclined,
			domain.ChargeCanceled, domain.ChargeVoided} {
			for version := range int64(5) {
				p := domain.Payment{Status: status, Amount: domain.EUR(100), Captured: domain.EUR(0), Refunded: domain.EUR(0), Version: 2}
				c := domain.Charge{Status: word, Amount: domain.EUR(100), Captured: domain.EUR(0), Refunded: domain.EUR(0), Version: version}
				if word == domain.ChargeSucceeded {
					c.Captured = domain.EUR(100)
				}
				next, changed, err := p.Heard(c)
				if err != nil {
					t.Fatal(err)
				}
				if version < 2 && (changed || next != p) {
					t.Errorf("%s at version 2 heard %s of version %d and became %s", status, word, version, next.Status)
				}
				moved := status == domain.PaymentPaid || status == domain.PaymentDuplicate || status == domain.PaymentRefunded
				if moved && next.Status.NothingCharged() {
					t.Errorf("%s heard %s and became %s", status, word, next.Status)
				}
				if again, twice, _ := next.Heard(c); twice || again != next {
					t.Errorf("%s heard %s twice and changed twice", status, word)
				}
			}
		}
	}
}

func TestNewsOfAnotherAmountIsNotBelieved(t *testing.T) {
	t.Parallel()
	p := domain.Payment{Status: domain.PaymentProcessing, Amount: domain.EUR(100), Captured: domain.EUR(0), Refunded: domain.EUR(0)}
	good := domain.Charge{Status: domain.ChargeSucceeded, Amount: domain.EUR(100), Captured: domain.EUR(100), Refunded: domain.EUR(0)}
	for name, change := range map[string]func(c *domain.Charge){
		"another amount":    func(c *domain.Charge) { c.Amount = domain.EUR(99) },
		"another currency":  func(c *domain.Charge) { c.Amount.Currency = "USD" },
		"captured too much": func(c *domain.Charge) { c.Captured = domain.EUR(101) },
		"refunded too much": func(c *domain.Charge) { c.Refunded = domain.EUR(101) },
	} {
		c := good
		change(&c)
		if _, changed, err := p.Heard(c); changed || !errors.Is(err, domain.ErrWrongCharge) {
			t.Errorf("%s: changed %v, %v", name, changed, err)
		}
	}
}

// TestWhatIsPendingIsNotCountedTwice: the provider may have told of a capture that is not settled here.
func TestWhatIsPendingIsNotCountedTwice(t *testing.T) {
	t.Parallel()
	p := domain.Payment{Status: domain.PaymentPaid, Manual: true, Amount: domain.EUR(4195), Captured: domain.EUR(3000), Refunded: domain.EUR(0)}
	capture := func(status domain.ModificationStatus) domain.Modification {
		return domain.Modification{Kind: domain.Capture, Status: status, Amount: domain.EUR(1000)}
	}
	others := []domain.Modification{capture(domain.ModificationSucceeded), capture(domain.ModificationSucceeded), capture(domain.ModificationPending),
		capture(domain.ModificationFailed), {Kind: domain.Refund, Status: domain.ModificationPending, Amount: domain.EUR(500)}}
	if m, err := p.Modify(domain.Capture, 0, others); err != nil || m.Amount != domain.EUR(1195) {
		t.Errorf("got %+v %v, want the remaining 1195", m, err)
	}
	if _, err := p.Modify(domain.Capture, 196, append(others, capture(domain.ModificationPending))); domain.KindOf(err) != domain.Refused {
		t.Errorf("more than is left: got %v", err)
	}
	if m, err := p.Modify(domain.Refund, 0, others); err != nil || m.Amount != domain.EUR(2500) {
		t.Errorf("got %+v %v, want a refund of 2500", m, err)
	}
	voided := append(others, domain.Modification{Kind: domain.Void, Status: domain.ModificationSucceeded, Amount: domain.EUR(1195)})
	if _, err := p.Modify(domain.Capture, 0, voided); domain.KindOf(err) != domain.Refused {
		t.Errorf("after the rest was voided: got %v", err)
	}
}

// TestTheRestOfAReservationCanBeVoidedWhateverBecameOfWhatWasCaptured, and not captured after a refund.
func TestTheRestOfAReservationCanBeVoidedWhateverBecameOfWhatWasCaptured(t *testing.T) {
	t.Parallel()
	p := domain.Payment{Status: domain.PaymentRefunded, Manual: true, Amount: domain.EUR(4195), Captured: domain.EUR(1000), Refunded: domain.EUR(1000)}
	if m, err := p.Modify(domain.Void, 0, nil); err != nil || m.Amount != domain.EUR(3195) {
		t.Errorf("got %+v %v, want a void of 3195", m, err)
	}
	if _, err := p.Modify(domain.Capture, 0, nil); domain.KindOf(err) != domain.Refused {
		t.Errorf("a capture: got %v", err)
	}
}

func TestAChangeNeedsAPaymentThatCanBear(t *testing.T) {
	t.Parallel()
	for _, status := range everyStatus {
		p := domain.Payment{Status: status, Amount: domain.EUR(100), Captured: domain.EUR(50), Refunded: domain.EUR(0)}
		for kind, want := range map[domain.ModificationKind]bool{
			domain.Capture: status == domain.PaymentAuthorized, domain.Void: status == domain.PaymentAuthorized,
			domain.Refund: status == domain.PaymentPaid || status == domain.PaymentDuplicate,
		} {
			if _, err := p.Modify(kind, 0, nil); (err == nil) != want {
				t.Errorf("%s of a payment that is %s: %v", kind, status, err)
			}
		}
	}
}
