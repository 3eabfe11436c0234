package ui

// Sentences about what happened with a key: on an order's page, its timeline and the staff's pages.
var (
	// The panel of an order.
	TSentTitle    = Text{"What your browser did", "Wat je browser deed"}
	TSentTitleAPI = Text{"What the client did", "Wat de client deed"}
	TSentTimes    = Text{"Times sent", "Keer verstuurd"}
	TSentOrders   = Text{"Orders", "Bestellingen"}
	TSentCharges  = Text{"Charges", "Betalingen"}
	TSentMails    = Text{"Mails", "Mails"}
	TSentUnknown  = Text{"not known yet", "nog niet bekend"}
	TSentMore     = Text{"See it step by step", "Bekijk het stap voor stap"}

	// The timeline.
	TTimeline        = Text{"What happened with order %s", "Wat er gebeurde met bestelling %s"}
	TTimelineLead    = Text{"Every request that came, and what the shop did with it. The order is the same however often it is sent.", "Elk verzoek dat binnenkwam, en wat de winkel ermee deed. De bestelling blijft dezelfde, hoe vaak hij ook wordt verstuurd."}
	TTimelineNone    = Text{"Nothing is known. These lines are kept for seven days, and some may be lost.", "Er is niets bekend. Deze regels blijven zeven dagen bewaard, en er kunnen er ontbreken."}
	TTimelineEarlier = Text{"There are earlier lines, which are not shown.", "Er zijn eerdere regels, die hier niet staan."}
	TTimelineKept    = Text{"These lines are for reading. They are kept for seven days, and the shop decides nothing by them.", "Deze regels zijn om te lezen. Ze blijven zeven dagen bewaard, en de winkel beslist er niets mee."}
	TTimelineLive    = Text{"Still going on", "Nog bezig"}
	TTimelineBack    = Text{"Back to the order", "Terug naar de bestelling"}
	TLaneClient      = Text{"Client", "Client"}
	TLaneYou         = Text{"You", "Jij"}
	TLaneShop        = Text{"Shop", "Winkel"}
	TLaneProvider    = Text{"Bank", "Bank"}
	TLaneFromTo      = Text{"%s to %s", "%s naar %s"}
	TTry             = Text{"attempt %d", "poging %d"}
	TRequestShort    = Text{"request %s", "verzoek %s"}
	TTimes           = Text{"%d times", "%d keer"}

	// Its lines.
	TEvClaimed    = Text{"A request came. The key is bound to it, and this is done:", "Er kwam een verzoek. De sleutel hoort er nu bij, en dit is gedaan:"}
	TEvStepped    = Text{"This step is done:", "Deze stap is gedaan:"}
	TEvCalling    = Text{"The shop asks the bank:", "De winkel vraagt de bank:"}
	TEvCalled     = Text{"The bank answered:", "De bank antwoordde:"}
	TEvNotCalled  = Text{"The bank said no, or gave no clear answer:", "De bank zei nee, of gaf geen duidelijk antwoord:"}
	TEvFinished   = Text{"The answer is final and kept:", "Het antwoord staat vast en is bewaard:"}
	TEvOnce       = Text{"A request came and was done in one step. The answer is final and kept:", "Er kwam een verzoek en dat is in één stap gedaan. Het antwoord staat vast en is bewaard:"}
	TEvStopped    = Text{"This attempt stopped without a final answer. What is done stays done. Why:", "Deze poging stopte zonder vast antwoord. Wat gedaan is, blijft gedaan. Waarom:"}
	TEvTakenOver  = Text{"Sent again. The shop goes on where the last attempt stopped.", "Opnieuw verstuurd. De winkel gaat verder waar de vorige poging stopte."}
	TEvResumed    = Text{"Nobody asked again. The shop goes on by itself.", "Niemand vroeg er nog om. De winkel gaat vanzelf verder."}
	TEvWaits      = Text{"Sent again while the first one ran: it waits for its answer.", "Opnieuw verstuurd terwijl de eerste nog liep: hij wacht op het antwoord."}
	TEvWaited     = Text{"It got the answer of the first one. Nothing was done twice.", "Hij kreeg het antwoord van de eerste. Niets is dubbel gedaan."}
	TEvReplayed   = Text{"Sent again: the same answer. Nothing was done twice. Found in:", "Opnieuw verstuurd: hetzelfde antwoord. Niets is dubbel gedaan. Gevonden in:"}
	TEvInProgress = Text{"It waited long enough and was told to come back later with the same key.", "Hij wachtte lang genoeg en hoorde: kom later terug met dezelfde sleutel."}
	TEvMismatch   = Text{"Another request came with this key, and was refused.", "Er kwam een ander verzoek met deze sleutel, en dat is geweigerd."}
	TEvHeard      = Text{"The bank told how the payment stands:", "De bank vertelde hoe het met de betaling staat:"}
	TEvTurnedAway = Text{"A request came and was turned away. It may be sent again. Why:", "Er kwam een verzoek en dat is afgewezen. Het mag opnieuw. Waarom:"}
	TInMemory     = Text{"memory", "het geheugen"}
	TInRedis      = Text{"Redis", "Redis"}
	TInDatabase   = Text{"the database", "de database"}
)
