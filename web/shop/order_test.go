package shop

import (
	"slices"
	"testing"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

func paid(status domain.PaymentStatus, captured, refunded int64) domain.Payment {
	return domain.Payment{ID: "p", Status: status, Amount: domain.EUR(4195), Captured: domain.EUR(captured), Refunded: domain.EUR(refunded)}
}

func TestAnOrderTellsWhereItsMoneyIs(t *testing.T) {
	t.Parallel()
	const takes = " Depending on your bank it takes a few days to arrive."
	for _, tt := range []struct {
		name     string
		order    domain.OrderStatus
		payments []domain.Payment
		coming   int64 // of what was captured and not refunded
		title    ui.Text
		status   ui.Text
		sent     bool
		waits    bool
		refunds  []string
	}{
		{"nothing paid", domain.OrderAwaitingPayment, nil, 0, ui.TOrderPending, ui.TAwaiting, false, false, nil},
		{"at the bank", domain.OrderAwaitingPayment, []domain.Payment{paid(domain.PaymentPending, 0, 0)}, 0,
			ui.TBankTitle, ui.TAwaiting, false, true, nil},
		{"unknown", domain.OrderAwaitingPayment, []domain.Payment{paid(domain.PaymentUnknown, 0, 0)}, 0,
			ui.TOrderChecking, ui.TAwaiting, false, true, nil},
		{"unknown, then declined", domain.OrderAwaitingPayment, []domain.Payment{paid(domain.PaymentUnknown, 0, 0), paid(domain.PaymentDeclined, 0, 0)}, 0,
			ui.TOrderChecking, ui.TAwaiting, false, true, nil},
		{"reserved", domain.OrderAwaitingPayment, []domain.Payment{paid(domain.PaymentAuthorized, 0, 0)}, 0,
			ui.TReturnReserved, ui.TAwaiting, false, false, nil},
		{"reserved, another unknown", domain.OrderAwaitingPayment, []domain.Payment{paid(domain.PaymentUnknown, 0, 0), paid(domain.PaymentAuthorized, 0, 0)}, 0,
			ui.TOrderChecking, ui.TAwaiting, false, true, nil},
		{"declined", domain.OrderAwaitingPayment, []domain.Payment{paid(domain.PaymentDeclined, 0, 0)}, 0,
			ui.TOrderPending, ui.TAwaiting, false, false, nil},
		{"paid", domain.OrderPaid, []domain.Payment{paid(domain.PaymentPaid, 4195, 0)}, 0, ui.TThanks, ui.TPaid, true, false, nil},
		{"partly refunded", domain.OrderPaid, []domain.Payment{paid(domain.PaymentPaid, 4195, 1000)}, 0,
			ui.TThanks, ui.TPartRefunded, true, false, []string{"€10.00 was given back to you." + takes}},
		{"refunded", domain.OrderPaid, []domain.Payment{paid(domain.PaymentRefunded, 4195, 4195)}, 0,
			ui.TOrderBack, ui.TRefunded, false, false, []string{"€41.95 was given back to you." + takes}},
		{"paid twice", domain.OrderPaid, []domain.Payment{paid(domain.PaymentDuplicate, 4195, 0), paid(domain.PaymentPaid, 4195, 0)}, 4195,
			ui.TThanks, ui.TPaid, true, false, []string{"You paid twice. We keep one payment; €41.95 is on its way back to you."}},
		{"paid twice, given back", domain.OrderPaid, []domain.Payment{paid(domain.PaymentRefunded, 4195, 4195), paid(domain.PaymentPaid, 4195, 0)}, 0,
			ui.TThanks, ui.TPaid, true, false, []string{"You paid twice. We kept one payment and gave €41.95 back."}},
		{"cancelled, never paid", domain.OrderCancelled, []domain.Payment{paid(domain.PaymentDeclined, 0, 0)}, 0,
			ui.TOrderCancel, ui.TCancelled, false, false, nil},
		{"cancelled, refund under way", domain.OrderCancelled, []domain.Payment{paid(domain.PaymentPaid, 4195, 0)}, 4195,
			ui.TOrderCancel, ui.TCancelled, false, false, []string{"€41.95 is on its way back to you. You need not do anything."}},
		{"cancelled and refunded", domain.OrderCancelled, []domain.Payment{paid(domain.PaymentRefunded, 4195, 4195)}, 0,
			ui.TOrderCancel, ui.TCancelled, false, false, []string{"€41.95 was given back to you." + takes}},
		{"paid after it was cancelled", domain.OrderCancelled, []domain.Payment{paid(domain.PaymentDuplicate, 4195, 0)}, 4195,
			ui.TOrderCancel, ui.TCancelled, false, false, []string{"€41.95 is on its way back to you. You need not do anything."}},
		{"cancelled, refund refused", domain.OrderCancelled, []domain.Payment{paid(domain.PaymentPaid, 4195, 0)}, 0,
			ui.TOrderCancel, ui.TCancelled, false, false, []string{"We could not give €41.95 back yet. Somebody looks into it; you need not do anything."}},
		{"cancelled, refunded in part, the rest refused", domain.OrderCancelled, []domain.Payment{paid(domain.PaymentPaid, 4195, 1000)}, 3000,
			ui.TOrderCancel, ui.TCancelled, false, false, []string{"€10.00 was given back to you." + takes,
				"€30.00 is on its way back to you. You need not do anything.",
				"We could not give €1.95 back yet. Somebody looks into it; you need not do anything."}},
	} {
		order := domain.Order{Status: tt.order, Total: domain.EUR(4195)}
		back := refundsOf(order, tt.payments, map[string]int64{"p": tt.coming})
		got := told(order, tt.payments, back)
		if got.Title != tt.title || got.Status != tt.status || got.Sent != tt.sent || got.Waits != tt.waits {
			t.Errorf("%s: %q, %q, sent %v, waits %v", tt.name, got.Title.En, got.Status.En, got.Sent, got.Waits)
		}
		if said := back.sentences(ui.Page{Lang: ui.English}); !slices.Equal(said, tt.refunds) {
			t.Errorf("%s: %q, want %q", tt.name, said, tt.refunds)
		}
	}
}

// TestAnOrderThatEndedUnpaidSaysSo, and that nothing was charged only when that is certain.
func TestAnOrderThatEndedUnpaidSaysSo(t *testing.T) {
	t.Parallel()
	order := domain.Order{Total: domain.EUR(4195)}.Cancelled(domain.CancelExpired)
	for want, payments := range map[ui.Text][]domain.Payment{
		ui.TOrderExpiryTo: {paid(domain.PaymentDeclined, 0, 0), paid(domain.PaymentFailed, 0, 0)},
		ui.TOrderCancelTo: {paid(domain.PaymentRefunded, 4195, 4195), paid(domain.PaymentFailed, 0, 0)},
	} {
		got := told(order, payments, refundsOf(order, payments, nil))
		if got.Title != ui.TOrderExpired || got.Text != want || got.Status != ui.TCancelled || got.Sent || got.Waits {
			t.Errorf("got %+v, want %q", got, want.En)
		}
	}
	if got := told(order, nil, refunds{}); got.Text != ui.TOrderExpiryTo {
		t.Errorf("without a payment: %q", got.Text.En)
	}
}

// TestOnlyACheckoutHasAPageToPayAt: an order that came by way of the API was made on none.
func TestOnlyACheckoutHasAPageToPayAt(t *testing.T) {
	t.Parallel()
	for consumer, want := range map[int64]ui.Text{-5: ui.TOrderPendTo, 5: ui.TOrderPendAPI} {
		if got := told(domain.Order{Status: domain.OrderAwaitingPayment, Consumer: consumer}, nil, refunds{}); got.Text != want {
			t.Errorf("consumer %d: %q, want %q", consumer, got.Text.En, want.En)
		}
	}
}
