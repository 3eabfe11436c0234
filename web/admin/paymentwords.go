package admin

import (
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// word is a state in one word, and how it looks.
type word struct {
	text ui.Text
	tone ui.Tone
}

var paymentWords = map[domain.PaymentStatus]word{
	domain.PaymentProcessing: {tStateProcessing, ui.Info},
	domain.PaymentUnknown:    {tStateUnknown, ui.Danger},
	domain.PaymentPending:    {tStatePending, ui.Info},
	domain.PaymentAuthorized: {tStateAuthorized, ui.Info},
	domain.PaymentDeclined:   {tStateDeclined, ui.Warn},
	domain.PaymentFailed:     {tStateFailed, ui.Warn},
	domain.PaymentVoided:     {tStateVoided, ui.Warn},
	domain.PaymentPaid:       {tPaid, ui.OK},
	domain.PaymentDuplicate:  {tStateDuplicate, ui.Warn},
	domain.PaymentRefunded:   {tRefunded, ui.Info},
}

var changeWords = map[domain.ModificationStatus]word{
	domain.ModificationPending:   {tStatePendingChange, ui.Info},
	domain.ModificationSucceeded: {tStateSucceeded, ui.OK},
	domain.ModificationFailed:    {tStateRefused, ui.Danger},
}

var kindWords = map[domain.ModificationKind]ui.Text{
	domain.Refund: tKindRefund, domain.Capture: tKindCapture, domain.Void: tKindVoid,
}

// reasonWords say why a change was made.
var reasonWords = map[string]ui.Text{
	"requested": tWhyRequested, "order_cancelled": tWhyCancelled, "duplicate": tWhyDuplicate,
}
