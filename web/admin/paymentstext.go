package admin

// Sentences about payments and their changes.
var (
	tStateProcessing    = both("Being made", "Wordt gedaan")
	tStateUnknown       = both("In doubt", "Onzeker")
	tStatePending       = both("At the bank", "Bij de bank")
	tStateAuthorized    = both("Reserved", "Gereserveerd")
	tStateDeclined      = both("Declined", "Geweigerd")
	tStateFailed        = both("Failed", "Mislukt")
	tStateVoided        = both("Voided", "Vervallen")
	tStateDuplicate     = both("Paid twice", "Dubbel betaald")
	tStatePendingChange = both("Under way", "Onderweg")
	tStateSucceeded     = both("Done", "Gedaan")
	tStateRefused       = both("Refused", "Geweigerd")

	tKindRefund  = both("Refund", "Terugbetaling")
	tKindCapture = both("Capture", "Inning")
	tKindVoid    = both("Void", "Verval")

	tWhyRequested = both("asked for", "gevraagd")
	tWhyCancelled = both("the order was cancelled", "de bestelling is geannuleerd")
	tWhyDuplicate = both("the order was paid already", "de bestelling was al betaald")
)
