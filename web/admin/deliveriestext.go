package admin

// Sentences about the events that the shop sends.
var (
	tDeliveries        = both("Webhooks out", "Webhooks uit")
	tDeliveriesLead    = both("What the shop told others, one line for each receiver.", "Wat de winkel aan anderen meldde, één regel per ontvanger.")
	tNoDeliveries      = both("Nothing was sent yet.", "Er is nog niets verstuurd.")
	tSearchDeliveries  = both("Id of the event or endpoint, or order number", "Id van het bericht of adres, of bestelnummer")
	tDelivery          = both("Event on its way", "Bericht onderweg")
	tDeliveryPending   = both("On its way", "Onderweg")
	tDeliveryDelivered = both("Delivered", "Afgeleverd")
	tDeliveryDead      = both("Given up", "Opgegeven")
	tLastAnswer        = both("Last answer", "Laatste antwoord")
	tNextTry           = both("Next try", "Volgende poging")
	tEventData         = both("What it tells", "Wat het meldt")

	tSendEventAgain     = both("Send again", "Opnieuw versturen")
	tSendEventAgainLead = both("The receiver gets the event once more, under the same id.", "De ontvanger krijgt het bericht nog eens, met hetzelfde id.")

	tEndpoints        = both("Receivers of webhooks", "Ontvangers van webhooks")
	tEndpointsLead    = both("Where consumers of the API want to be told.", "Waar gebruikers van de API het willen horen.")
	tNoEndpoints      = both("Nobody has registered an address yet.", "Er heeft nog niemand een adres opgegeven.")
	tAddress          = both("Address", "Adres")
	tConsumer         = both("Consumer", "Gebruiker")
	tWanted           = both("Wants", "Wil")
	tAllEvents        = both("all events", "alle berichten")
	tRegistered       = both("Registered", "Opgegeven op")
	tEndpointOpen     = both("Open", "Open")
	tEndpointDisabled = both("Said it is gone", "Zei dat het weg is")
	tEndpointDeleted  = both("Deleted", "Verwijderd")
)
