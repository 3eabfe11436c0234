package admin

import (
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// refusals say why something was not done. Their keys are the operations' codes.
var refusals = map[string]ui.Text{
	"payment_not_refundable":    both("There is nothing to refund: no money of this payment is here.", "Er valt niets terug te betalen: van deze betaling is hier geen geld."),
	"payment_not_capturable":    both("There is nothing to capture: no money is reserved.", "Er valt niets te innen: er is geen geld gereserveerd."),
	"payment_not_voidable":      both("There is nothing to void: no money is reserved.", "Er valt niets te laten vervallen: er is geen geld gereserveerd."),
	"refund_exceeds_rest":       both("That is more than is left to refund.", "Dat is meer dan er nog terug te betalen is."),
	"capture_exceeds_rest":      both("That is more than is left to capture.", "Dat is meer dan er nog te innen is."),
	"void_exceeds_rest":         both("There is nothing left to void.", "Er is niets meer dat kan vervallen."),
	"refund_refused":            both("The payment provider refused.", "De betaaldienst weigerde."),
	"capture_refused":           both("The payment provider refused.", "De betaaldienst weigerde."),
	"void_refused":              both("The payment provider refused.", "De betaaldienst weigerde."),
	"order_not_capturable":      both("The order is cancelled: nothing more is captured for it.", "De bestelling is geannuleerd: er wordt niets meer voor geïnd."),
	"payment_in_progress":       both("A payment of this order is under way. Press again in a moment.", "Een betaling van deze bestelling loopt nog. Druk zo nog eens."),
	"order_not_cancellable":     both("The order is cancelled already.", "De bestelling is al geannuleerd."),
	"idempotency_key_expired":   both("This form is too old.", "Dit formulier is te oud."),
	"webhook_endpoint_disabled": both("The receiver said that it is gone.", "De ontvanger zei dat hij er niet meer is."),
}

// reason says why something was refused. A code that has no sentence here is shown as it is: it is the
// provider's.
func reason(lang ui.Lang, e *domain.Error) string {
	if t, ok := refusals[e.Code]; ok {
		return t.In(lang)
	}
	return e.Message + " (" + e.Code + ")"
}
