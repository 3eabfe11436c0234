package admin

import "example.com/eenmaal/web/ui"

// deed is something that the staff can do, by the code that is kept of it.
type deed string

// deedWords are what people read for the codes. It holds every deed: there is no other way to make one.
var deedWords = map[string]ui.Text{}

func newDeed(code string, word ui.Text) deed {
	deedWords[code] = word
	return deed(code)
}

var (
	deedCancel     = newDeed("cancel", both("Cancellation", "Annulering"))
	deedRefund     = newDeed("refund", tKindRefund)
	deedCapture    = newDeed("capture", tKindCapture)
	deedVoid       = newDeed("void", tKindVoid)
	deedSettle     = newDeed("settle", both("Dealt with", "Afgehandeld"))
	deedNotCharged = newDeed("not_charged", both("Found not charged", "Niet afgeschreven bevonden"))
	deedAnswered   = newDeed("answered", both("Answered", "Beantwoord"))
	deedSendAgain  = newDeed("send_again", both("Mail sent again", "Mail opnieuw verstuurd"))
	deedTryAgain   = newDeed("try_again", both("Event tried again", "Bericht opnieuw geprobeerd"))
	deedRedeliver  = newDeed("redeliver", both("Webhook sent again", "Webhook opnieuw verstuurd"))
	deedExplain    = newDeed("explain", both("Explanation", "Verklaring"))
)

// deedWord is what people read for the code of a deed. One that an older version kept is its own word.
func deedWord(code string) ui.Text {
	if word, ok := deedWords[code]; ok {
		return word
	}
	return ui.Text{En: code, Nl: code}
}
