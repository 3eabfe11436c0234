package domain_test

import (
	"testing"
	"time"

	"example.com/eenmaal/domain"
)

func TestADayIsReconciledToItsEndOnceThatIsOldEnough(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ now, to time.Time }{
		{day.Add(24*time.Hour + 4*time.Minute), day.Add(24*time.Hour - 6*time.Minute)},
		{day.Add(24*time.Hour + 10*time.Minute), day.Add(24 * time.Hour)},
		{day.Add(30 * time.Hour), day.Add(24 * time.Hour)},
	} {
		if got := domain.DayReconciliation(day, c.now); got.Run != "day" || got.From != day || got.To != c.to {
			t.Errorf("at %s: %+v, want it to end at %s", c.now, got, c.to)
		}
	}
	if got := domain.RecentReconciliation(day); got.Run != "recent" || got.From != day.Add(-2*time.Hour) || got.To != day.Add(-10*time.Minute) {
		t.Errorf("%+v", got)
	}
}

// TestAPaymentAgreesWithItsChargeAlone: that the money was not wanted is no difference.
func TestAPaymentAgreesWithItsChargeAlone(t *testing.T) {
	t.Parallel()
	eur := domain.EUR
	charge := domain.Charge{ID: "ch_1", Amount: eur(500), Captured: eur(500), Refunded: eur(0), Status: domain.ChargeSucceeded}
	pay := domain.Payment{ChargeID: "ch_1", Status: domain.PaymentPaid, Amount: eur(500), Captured: eur(500), Refunded: eur(0)}
	for name, c := range map[string]struct {
		change func(*domain.Payment)
		want   bool
	}{
		"as it is":        {func(*domain.Payment) {}, true},
		"not wanted":      {func(p *domain.Payment) { p.Status = domain.PaymentDuplicate }, true},
		"another charge":  {func(p *domain.Payment) { p.ChargeID = "ch_2" }, false},
		"another status":  {func(p *domain.Payment) { p.Status = domain.PaymentPending }, false},
		"another amount":  {func(p *domain.Payment) { p.Amount = eur(501) }, false},
		"captured less":   {func(p *domain.Payment) { p.Captured = eur(499) }, false},
		"refunded before": {func(p *domain.Payment) { p.Refunded = eur(1) }, false},
	} {
		other := pay
		if c.change(&other); other.Agrees(charge) != c.want {
			t.Errorf("%s: got %t", name, !c.want)
		}
	}
}
