package admin

// Sentences about mails.
var (
	tMail        = both("Mail", "Mail")
	tNoMails     = both("No mail was made yet.", "Er is nog geen mail gemaakt.")
	tSearchMails = both("Email address or order number", "E-mailadres of bestelnummer")
	tMailTo      = both("To", "Aan")
	tMailMade    = both("Written", "Geschreven")
	tMailWaiting = both("Not sent yet", "Nog niet verstuurd")
	tMailSent    = both("Sent", "Verstuurd")
	tMailDead    = both("Given up", "Opgegeven")
	tSendAgain   = both("Send again", "Opnieuw versturen")
)
