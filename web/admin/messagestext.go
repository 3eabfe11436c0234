package admin

// Sentences about the contact inbox.
var (
	tMessages        = both("Messages", "Berichten")
	tMessage         = both("Message %s", "Bericht %s")
	tNoMessages      = both("Nobody has written yet.", "Er heeft nog niemand geschreven.")
	tSearchMessages  = both("Reference, email address or words", "Referentie, e-mailadres of woorden")
	tReference       = both("Reference", "Referentie")
	tFrom            = both("From", "Van")
	tMessageText     = both("Message", "Bericht")
	tMessageOpen     = both("To answer", "Te beantwoorden")
	tMessageAnswered = both("Answered", "Beantwoord")
	tAnsweredBy      = both("Answered by", "Beantwoord door")
	tAnsweredAt      = both("Answered at", "Beantwoord op")
	tMarkAnswered    = both("Mark as answered", "Markeer als beantwoord")
)
