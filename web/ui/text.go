package ui

// Every sentence of the pages. A line that is a format keeps the same placeholders in both languages.
var (
	// Everywhere.
	TErrorPrefix  = Text{"Error: ", "Fout: "}
	TSkip         = Text{"Skip to content", "Naar de inhoud"}
	TDemoBar      = Text{"Demo shop. Nothing is sold and no money moves.", "Demowinkel. Er wordt niets verkocht en er gaat geen geld om."}
	TCollection   = Text{"Collection", "Collectie"}
	TBasket       = Text{"Basket", "Mandje"}
	TBasketCount  = Text{"Basket, %d items", "Mandje, %d artikelen"}
	TBasketOne    = Text{"Basket, 1 item", "Mandje, 1 artikel"}
	TContact      = Text{"Contact", "Contact"}
	TMenu         = Text{"Main", "Hoofdmenu"}
	THelp         = Text{"Help and contact", "Hulp en contact"}
	TMailbox      = Text{"Mailbox", "Mailbox"}
	TOtherLang    = Text{"Nederlands", "English"}
	TTheme        = Text{"Light or dark", "Licht of donker"}
	TFooterLine   = Text{"Press as often as you like. You order once.", "Druk zo vaak als je wilt. Je bestelt één keer."}
	TFooterMenu   = Text{"Help and settings", "Hulp en instellingen"}
	TProblem      = Text{"There is a problem", "Er is een probleem"}
	TIncludingVAT = Text{"including VAT", "inclusief btw"}
	TOptional     = Text{"(optional)", "(niet verplicht)"}
	TErrorWord    = Text{"Error:", "Fout:"}
	TBackToShop   = Text{"Back to the shop", "Terug naar de winkel"}
	TChange       = Text{"Change", "Wijzigen"}

	// What the script says.
	TWorking     = Text{"Working on it", "We zijn bezig"}
	TWorkingLong = Text{"Working on it. You can wait here.", "We zijn bezig. Je kunt hier wachten."}
	TChecking    = Text{"We are checking your payment", "We controleren je betaling"}
	TSeconds     = Text{"{n} seconds", "{n} seconden"}
	TSecond      = Text{"1 second", "1 seconde"}
	TLongWait    = Text{"This takes longer than it should. Trying again does not charge you twice.", "Dit duurt langer dan het hoort. Opnieuw proberen kan: je betaalt niet dubbel."}
	TLongOrder   = Text{"Order {number} is placed. You can leave: your order is kept.", "Bestelling {number} is geplaatst. Je kunt weggaan: je bestelling blijft bewaard."}
	TOffline     = Text{"You are offline. Nothing was sent. Your form is kept.", "Je bent offline. Er is niets verstuurd. Je formulier blijft staan."}
	TUnknownSend = Text{"We do not know yet if this arrived. Trying again is safe: it counts once.",
		"We weten nog niet of dit is aangekomen. Opnieuw proberen kan: het telt één keer."}

	// Home.
	THomeTitle  = Text{"Things you only need to buy once", "Dingen die je maar één keer koopt"}
	THomeLead   = Text{"Eight quiet objects for the table, made to stay. And a shop that takes your order once, however often you press.", "Acht rustige voorwerpen voor op tafel, gemaakt om te blijven. En een winkel die je bestelling één keer aanneemt, hoe vaak je ook drukt."}
	THomeButton = Text{"See the collection", "Bekijk de collectie"}
	THomeHow    = Text{"How once works", "Zo werkt één keer"}
	TNoProducts = Text{"No products yet.", "Nog geen producten."}
	THowTitle   = Text{"Pressed twice, ordered once", "Twee keer gedrukt, één keer besteld"}
	THowLead    = Text{"Every checkout carries one name for one order. Whatever happens on the way, the shop recognises it.", "Elke bestelling draagt één naam. Wat er onderweg ook gebeurt, de winkel herkent hem."}
	THow1       = Text{"Press twice", "Druk twee keer"}
	THow1Text   = Text{"A double click, a second tab, the Back button: they all lead to the same order.", "Een dubbele klik, een tweede tabblad, de knop Terug: ze leiden allemaal naar dezelfde bestelling."}
	THow2       = Text{"Lose the connection", "Raak de verbinding kwijt"}
	THow2Text   = Text{"The answer was lost, the order was not. Try again and you get the answer, not a second charge.", "Het antwoord ging verloren, de bestelling niet. Probeer opnieuw en je krijgt het antwoord, geen tweede afschrijving."}
	THow3       = Text{"Wait for the bank", "Wacht op de bank"}
	THow3Text   = Text{"When the bank is silent we say that we do not know yet, and find out. We never guess.", "Als de bank zwijgt, zeggen we dat we het nog niet weten en zoeken we het uit. We gokken nooit."}

	// Product.
	TAdd         = Text{"Add to basket", "In mijn mandje"}
	TQuantity    = Text{"Quantity", "Aantal"}
	TInBasket    = Text{"In your basket: %d", "In je mandje: %d"}
	TSeeBasket   = Text{"See your basket", "Bekijk je mandje"}
	TSoldOut     = Text{"Sold out", "Uitverkocht"}
	TFewLeft     = Text{"Only %d left", "Nog maar %d over"}
	TDetails     = Text{"Details", "Details"}
	TDelivery    = Text{"Delivery", "Bezorging"}
	TDeliveryFee = Text{"%s per order, in one to three working days.", "%s per bestelling, in één tot drie werkdagen."}
	TMore        = Text{"More from the collection", "Meer uit de collectie"}

	// Basket.
	TBasketTitle    = Text{"Your basket", "Je mandje"}
	TBasketEmpty    = Text{"Your basket is empty", "Je mandje is leeg"}
	TBasketEmptyTo  = Text{"Nothing is in it yet. What you add stays here for a month.", "Er zit nog niets in. Wat je erin legt, blijft een maand bewaard."}
	TUpdate         = Text{"Update", "Bijwerken"}
	TRemove         = Text{"Remove", "Verwijderen"}
	TRemoveThis     = Text{"Remove %s", "%s verwijderen"}
	TLess           = Text{"One %s less", "Eén %s minder"}
	TMoreOf         = Text{"One %s more", "Eén %s meer"}
	TQuantityOf     = Text{"Quantity of %s", "Aantal van %s"}
	TEach           = Text{"%s each", "%s per stuk"}
	TItems          = Text{"Items", "Artikelen"}
	TTotal          = Text{"Total", "Totaal"}
	TVATPart        = Text{"Of which VAT (21%)", "Waarvan btw (21%)"}
	TToCheckout     = Text{"Go to checkout", "Naar de kassa"}
	TBasketQuantity = Text{"Enter a whole number from 0 to 99", "Vul een heel getal in van 0 tot 99"}

	// Checkout, details.
	TCheckoutSteps      = Text{"Steps of the checkout", "Stappen van het bestellen"}
	TStepDetails        = Text{"Details", "Gegevens"}
	TStepReview         = Text{"Review and pay", "Controleren en betalen"}
	TStepDone           = Text{"Done", "Klaar"}
	TStepPassed         = Text{"(done)", "(klaar)"}
	TDetailsTitle       = Text{"Your details", "Je gegevens"}
	TYourOrder          = Text{"Your order", "Je bestelling"}
	TEmail              = Text{"Email address", "E-mailadres"}
	TEmailHint          = Text{"We send the confirmation here", "Hier sturen we de bevestiging naartoe"}
	TFullName           = Text{"Full name", "Voor- en achternaam"}
	TLine1              = Text{"Street and house number", "Straat en huisnummer"}
	TPostalCode         = Text{"Postcode", "Postcode"}
	TCity               = Text{"City", "Plaats"}
	TCountry            = Text{"Country", "Land"}
	THowToPay           = Text{"How do you want to pay?", "Hoe wil je betalen?"}
	THowToPayHint       = Text{"These are for testing. You never type a card number here.", "Deze zijn om te testen. Je typt hier nooit een kaartnummer."}
	TTrouble            = Text{"For trying out trouble", "Om problemen uit te proberen"}
	TToReview           = Text{"Continue to review", "Verder naar de controle"}
	TOrderIsKept        = Text{"Order %s is kept for you. Its contents are fixed; only the payment is open.", "Bestelling %s is voor je bewaard. De inhoud staat vast; alleen de betaling is nog open."}
	TMethodOther        = Text{"Another way to pay", "Een andere betaalwijze"}
	TErrEmail           = Text{"Enter your email address", "Vul je e-mailadres in"}
	TErrEmailForm       = Text{"Enter an email address such as name@example.nl", "Vul een e-mailadres in zoals naam@example.nl"}
	TErrName            = Text{"Enter your full name", "Vul je voor- en achternaam in"}
	TErrLine1           = Text{"Enter your street and house number", "Vul je straat en huisnummer in"}
	TErrPostal          = Text{"Enter your postcode", "Vul je postcode in"}
	TErrPostalForm      = Text{"Enter a postcode such as 1012 AB", "Vul een postcode in zoals 1012 AB"}
	TErrCity            = Text{"Enter your city", "Vul je plaats in"}
	TErrCountry         = Text{"Choose a country", "Kies een land"}
	TErrMethod          = Text{"Choose how you want to pay", "Kies hoe je wilt betalen"}
	TErrTooLong         = Text{"%s: use fewer characters", "%s: gebruik minder tekens"}
	TErrCharacters      = Text{"%s: remove the characters that cannot be printed", "%s: haal de tekens weg die niet afgedrukt kunnen worden"}
	TDeclinedTitle      = Text{"Your bank declined this card", "Je bank weigerde deze kaart"}
	TDeclined           = Text{"Your bank declined this card. Nothing was charged. Choose another way to pay.", "Je bank weigerde deze kaart. Er is niets afgeschreven. Kies een andere betaalwijze."}
	TFailedTitle        = Text{"The payment did not go through", "De betaling is niet gelukt"}
	TFailedPay          = Text{"The payment did not go through. Nothing was charged. Choose how to pay and try again.", "De betaling is niet gelukt. Er is niets afgeschreven. Kies hoe je wilt betalen en probeer het opnieuw."}
	TPayAgainTitle      = Text{"Choose another way to pay", "Kies een andere betaalwijze"}
	TDeclinedOther      = Text{"Your bank declined this payment. Nothing was charged. Choose another way to pay.", "Je bank weigerde deze betaling. Er is niets afgeschreven. Kies een andere betaalwijze."}
	TDeclinedOtherAgain = Text{"Your bank declined this payment. Choose another way to pay.", "Je bank weigerde deze betaling. Kies een andere betaalwijze."}
	TDeclinedAgain      = Text{"Your bank declined this card. Choose another way to pay.", "Je bank weigerde deze kaart. Kies een andere betaalwijze."}
	TFailedAgain        = Text{"The payment did not go through. Choose how to pay and try again.", "De betaling is niet gelukt. Kies hoe je wilt betalen en probeer het opnieuw."}
	TLeftBankTitle      = Text{"The payment was not finished", "De betaling is niet afgemaakt"}
	TLeftBank           = Text{"You cancelled at the bank, or the time there ran out. Nothing was charged. Choose how to pay and try again.", "Je hebt bij de bank geannuleerd, of de tijd daar was op. Er is niets afgeschreven. Kies hoe je wilt betalen en probeer het opnieuw."}
	TStillAtBank        = Text{"A payment of this order is still open at the bank. If you finish that one too, what you paid twice comes back to you by itself.", "Een betaling van deze bestelling staat nog open bij de bank. Maak je die ook af, dan krijg je vanzelf terug wat je dubbel betaalde."}
	TLastTried          = Text{"Last tried: %s", "Laatst geprobeerd: %s"}
	TCheckoutGone       = Text{"This checkout does not exist", "Deze bestelling bestaat niet"}
	TCheckoutGoneHow    = Text{"The address may be incomplete. Your basket is kept.", "Het adres is misschien niet volledig. Je mandje is bewaard."}

	// Checkout, review.
	TReviewTitle    = Text{"Check your order", "Controleer je bestelling"}
	TPayment        = Text{"Payment", "Betaling"}
	TOrderAndPay    = Text{"Order and pay %s", "Bestellen en betalen, %s"}
	TOnceNote       = Text{"You can press this more than once. You order and pay once.", "Je mag hier meer dan één keer op drukken. Je bestelt en betaalt één keer."}
	TPriceChanged   = Text{"The price changed", "De prijs is veranderd"}
	TPriceChangedTo = Text{"The total was %s and is now %s. Check the order and press again if you agree.", "Het totaal was %s en is nu %s. Controleer de bestelling en druk nog een keer als je akkoord gaat."}
	TBasketChanged  = Text{"Your basket changed", "Je mandje is veranderd"}
	TBasketChangeTo = Text{"Your basket now holds something else than this checkout. Press the button to order what is shown here, or go on with your new basket.", "In je mandje zit nu iets anders dan in deze bestelling. Druk op de knop om te bestellen wat hier staat, of ga verder met je nieuwe mandje."}
	TInThisOrder    = Text{"This checkout", "Deze bestelling"}
	TInBasketNow    = Text{"Your basket now", "Je mandje nu"}
	TUseNewBasket   = Text{"Go on with the new basket", "Verder met het nieuwe mandje"}
	TItemSoldOut    = Text{"%s is sold out", "%s is uitverkocht"}
	TItemFewLeft    = Text{"Of %s only %d are left", "Van %s zijn er nog maar %d"}
	TSomeSoldOut    = Text{"One of the items is sold out", "Een van de artikelen is uitverkocht"}
	TSoldOutNothing = Text{"Nothing was ordered or charged.", "Er is niets besteld of afgeschreven."}
	TSoldOutRest    = Text{"You can go on with what is left; your details are kept.", "Je kunt verder met wat er nog is; je gegevens zijn bewaard."}
	TOrderRest      = Text{"Go on with what is left", "Verder met wat er nog is"}
	TSameOrder      = Text{"You ordered this a moment ago", "Dit heb je net besteld"}
	TSameOrderTo    = Text{"Order %s has the same items and address. Is this a second order?", "Bestelling %s heeft dezelfde artikelen en hetzelfde adres. Is dit een tweede bestelling?"}
	TSeeOrder       = Text{"See order %s", "Bekijk bestelling %s"}

	// Checkout, status and endings.
	TStatusTitle    = Text{"We are checking your payment", "We controleren je betaling"}
	TUnknown        = Text{"We do not know yet if your payment went through. Trying again will not charge you twice.", "We weten nog niet of je betaling is gelukt. Opnieuw proberen kan: je betaalt niet dubbel."}
	TUnknownOrder   = Text{"We do not know yet if your order arrived. Trying again will not order twice.", "We weten nog niet of je bestelling is aangekomen. Opnieuw proberen kan: je bestelt niet dubbel."}
	TUnpaidYet      = Text{"Your order is placed. We do not know yet if your payment has begun. Trying again will not charge you twice.", "Je bestelling is geplaatst. We weten nog niet of je betaling is begonnen. Opnieuw proberen kan: je betaalt niet dubbel."}
	TFormKept       = Text{"What you filled in is kept.", "Wat je invulde is bewaard."}
	TCanLeave       = Text{"You can leave this page: your order is kept.", "Je kunt deze pagina verlaten: je bestelling blijft bewaard."}
	TOrderTitle     = Text{"We are checking your order", "We controleren je bestelling"}
	TWaitingForWord = Text{"Waiting for an answer,", "Wachten op antwoord,"}
	TWaitingFor     = Text{"Waiting for the bank,", "Wachten op de bank,"}
	TTwiceQuestion  = Text{"Charged twice if I try again?", "Twee keer betalen als ik opnieuw probeer?"}
	TNo             = Text{"No", "Nee"}
	TCheckNow       = Text{"Check now", "Nu controleren"}
	TPressOn        = Text{"Does it take long? Press Check now. A payment that never reached the bank is then sent, and you pay once either way.", "Duurt het lang? Druk op Nu controleren. Een betaling die de bank nooit bereikte gaat dan alsnog, en je betaalt hoe dan ook één keer."}
	TOrder          = Text{"Order", "Bestelling"}
	TAmount         = Text{"Amount", "Bedrag"}
	TAlreadyPaid    = Text{"This order is already paid", "Deze bestelling is al betaald"}
	TAlreadyPaidTo  = Text{"You came back to a checkout that is finished. Nothing happens by being here.", "Je bent terug bij een bestelling die klaar is. Door hier te zijn gebeurt er niets."}
	TNewOrder       = Text{"Start a new order", "Begin een nieuwe bestelling"}
	TExpiredTitle   = Text{"This checkout expired", "Deze bestelling is verlopen"}
	TExpired        = Text{"This checkout expired. Your basket and your details are kept.", "Deze bestelling is verlopen. Je mandje en gegevens zijn bewaard."}
	TExpiredPlaced  = Text{"Order %s was placed with it. On its page you see how it stands.", "Hiermee is bestelling %s geplaatst. Op de pagina ervan zie je hoe het ervoor staat."}
	TExpiredButton  = Text{"Go on with a new checkout", "Verder met een nieuwe bestelling"}
	TUsedTitle      = Text{"This form was already used", "Dit formulier is al gebruikt"}
	TUsedForOrder   = Text{"This form was already used for order %s. Start a new order to change it.", "Met dit formulier is al bestelling %s gedaan. Begin een nieuwe bestelling om iets te wijzigen."}
	TUsedForAnother = Text{"This form was already used for another order. Start a new order to change it.", "Met dit formulier is al een andere bestelling gedaan. Begin een nieuwe bestelling om iets te wijzigen."}
	TNotPlaced      = Text{"Your order was not placed and nothing was charged.", "Je bestelling is niet geplaatst en er is niets afgeschreven."}
	TTryAgain       = Text{"Try again: order and pay", "Probeer opnieuw: bestellen en betalen"}
	TTryAgainSafe   = Text{"Everything you filled in is kept. Trying again is safe.", "Alles wat je invulde is bewaard. Opnieuw proberen kan."}

	// Checkout, at the bank.
	TBankTitle   = Text{"Waiting for your bank", "Wachten op je bank"}
	TBankSilent  = Text{"The bank has not told us yet whether you paid.", "De bank heeft ons nog niet verteld of je hebt betaald."}
	TBankWait    = Text{"Did you approve the payment there? Then wait here: this page goes on by itself. You can also leave it: your order is kept.", "Heb je daar goedgekeurd? Wacht dan hier: deze pagina gaat vanzelf verder. Weggaan kan ook: je bestelling blijft bewaard."}
	TBankLong    = Text{"This takes longer than it should. If you did not finish at the bank, go back there or choose another way to pay.", "Dit duurt langer dan het hoort. Was je bij de bank niet klaar, ga dan terug of kies een andere betaalwijze."}
	TBankWaiting = Text{"Waiting for the bank", "Wachten op de bank"}
	TBankTwice   = Text{"Paid in two ways?", "Op twee manieren betaald?"}
	TBankTwiceNo = Text{"What you paid twice comes back to you by itself.", "Wat je dubbel betaalde, krijg je vanzelf terug."}
	TToBank      = Text{"Go to the bank", "Naar de bank"}

	// Back from the bank, for a payment that was begun elsewhere.
	TReturnChecking    = Text{"The bank has not told us yet how this payment ended. This page goes on by itself.", "De bank heeft ons nog niet verteld hoe deze betaling is afgelopen. Deze pagina gaat vanzelf verder."}
	TReturnPaid        = Text{"The payment went through", "De betaling is gelukt"}
	TReturnPaidTo      = Text{"We received this payment once.", "We hebben deze betaling één keer ontvangen."}
	TReturnReserved    = Text{"The payment is approved", "De betaling is goedgekeurd"}
	TReturnReservedTo  = Text{"The amount is reserved and is taken later.", "Het bedrag is gereserveerd en wordt later afgeschreven."}
	TReturnDeclined    = Text{"The bank declined this payment", "De bank weigerde deze betaling"}
	TReturnDeclinedTo  = Text{"Nothing was charged. You can choose another way to pay.", "Er is niets afgeschreven. Je kunt een andere betaalwijze kiezen."}
	TReturnCancelled   = Text{"The payment was not finished", "De betaling is niet afgemaakt"}
	TReturnCancelledTo = Text{"The payment was cancelled, or the time ran out. Nothing was charged.", "De betaling is geannuleerd, of de tijd was op. Er is niets afgeschreven."}
	TReturnInVain      = Text{"You get this payment back", "Je krijgt deze betaling terug"}
	TReturnInVainTo    = Text{"The order did not need this payment any more. The money comes back to you by itself.", "De bestelling had deze betaling niet meer nodig. Je krijgt het geld vanzelf terug."}
	TReturnRefunded    = Text{"This payment was given back", "Deze betaling is terugbetaald"}
	TReturnRefundedTo  = Text{"Depending on your bank it takes a few days to arrive.", "Afhankelijk van je bank duurt het een paar dagen."}
	TReturnWhere       = Text{"You can close this page and go back to where you ordered.", "Je kunt deze pagina sluiten en teruggaan naar waar je bestelde."}

	// Order.
	TThanks        = Text{"Thank you, your order is paid", "Bedankt, je bestelling is betaald"}
	TOrderPending  = Text{"Your order is kept, the payment is open", "Je bestelling is bewaard, de betaling is nog open"}
	TOrderPendTo   = Text{"We have not received a payment for this order. You can pay in the browser in which you ordered.", "We hebben nog geen betaling voor deze bestelling. Je kunt betalen in de browser waarin je bestelde."}
	TToPay         = Text{"Pay this order", "Betaal deze bestelling"}
	TOrderPendAPI  = Text{"We have not received a payment for this order.", "We hebben nog geen betaling voor deze bestelling."}
	TOrderBankTo   = Text{"The bank has not told us yet whether you paid. This page goes on by itself.", "De bank heeft ons nog niet verteld of je hebt betaald. Deze pagina gaat vanzelf verder."}
	TOrderCheckTo  = Text{"We do not know yet if your payment went through. This page goes on by itself.", "We weten nog niet of je betaling is gelukt. Deze pagina gaat vanzelf verder."}
	TOrderBack     = Text{"Your money was given back", "Je hebt je geld terug"}
	TOrderBackTo   = Text{"You paid for this order and got everything back.", "Je hebt voor deze bestelling betaald en alles teruggekregen."}
	TOrderChecking = Text{"We are checking your payment", "We controleren je betaling"}
	TOrderCancel   = Text{"This order is cancelled", "Deze bestelling is geannuleerd"}
	TOrderExpired  = Text{"This order has expired", "Deze bestelling is verlopen"}
	TOrderExpiryTo = Text{"It was not paid in time. Nothing was charged, and you can order its articles anew.", "Er is niet op tijd betaald. Er is niets afgeschreven, en je kunt de artikelen opnieuw bestellen."}
	TOrderCancelTo = Text{"Nothing will be sent for this order.", "Voor deze bestelling wordt niets verstuurd."}
	TOrderNumber   = Text{"Order number", "Bestelnummer"}
	TPlacedAt      = Text{"Placed", "Geplaatst"}
	TStatus        = Text{"Status", "Status"}
	TPaid          = Text{"Paid", "Betaald"}
	TAwaiting      = Text{"Waiting for payment", "Wacht op betaling"}
	TRefunded      = Text{"Refunded", "Terugbetaald"}
	TPartRefunded  = Text{"Paid, partly refunded", "Betaald, deels terugbetaald"}
	TMoneyBack     = Text{"Refund", "Terugbetaling"}
	TBackDone      = Text{"%s was given back to you. Depending on your bank it takes a few days to arrive.", "%s is aan je terugbetaald. Afhankelijk van je bank duurt het een paar dagen."}
	TBackComing    = Text{"%s is on its way back to you. You need not do anything.", "%s is naar je onderweg. Je hoeft niets te doen."}
	TBackFailed    = Text{"We could not give %s back yet. Somebody looks into it; you need not do anything.", "We konden %s nog niet terugbetalen. Iemand kijkt ernaar; je hoeft niets te doen."}
	TTwiceDone     = Text{"You paid twice. We kept one payment and gave %s back.", "Je hebt dubbel betaald. We hielden één betaling en betaalden %s terug."}
	TTwiceComing   = Text{"You paid twice. We keep one payment; %s is on its way back to you.", "Je hebt dubbel betaald. We houden één betaling; %s is naar je onderweg."}
	TCancelled     = Text{"Cancelled", "Geannuleerd"}
	TConfirmation  = Text{"Confirmation", "Bevestiging"}
	TMailSent      = Text{"One mail sent to %s", "Eén mail gestuurd naar %s"}
	TMailKept      = Text{"One mail to %s, in the mailbox", "Eén mail aan %s, in de mailbox"}
	TMailDead      = Text{"The mail to %s could not be sent. This page is your confirmation.", "De mail aan %s kon niet worden verstuurd. Deze pagina is je bevestiging."}
	TMailComing    = Text{"On its way to %s", "Onderweg naar %s"}
	TNext          = Text{"What happens next", "Hoe het verdergaat"}
	TNext1         = Text{"We pack your order on the day you pay, or on the next working day.", "We pakken je bestelling in op de dag dat je betaalt, of op de werkdag erna."}
	TNext2         = Text{"It arrives in one to three working days.", "Hij komt binnen één tot drie werkdagen aan."}
	TNext3         = Text{"This page stays. Keep its address or print it.", "Deze pagina blijft bestaan. Bewaar het adres of print hem."}
	TDeliveredTo   = Text{"Delivery address", "Bezorgadres"}

	// Contact.
	TContactTitle     = Text{"Write to us", "Schrijf ons"}
	TContactLead      = Text{"A person reads every message and answers within one working day.", "Een mens leest elk bericht en antwoordt binnen één werkdag."}
	TYourName         = Text{"Your name", "Je naam"}
	TMessage          = Text{"Your message", "Je bericht"}
	TAnswerHint       = Text{"We answer to this address", "We antwoorden op dit adres"}
	TSend             = Text{"Send message", "Verstuur bericht"}
	TSendNew          = Text{"Send a new message", "Stuur een nieuw bericht"}
	TErrMessage       = Text{"Enter your message", "Vul je bericht in"}
	TErrMessageLong   = Text{"Use at most 5000 characters for your message", "Gebruik voor je bericht hoogstens 5000 tekens"}
	TReceivedTitle    = Text{"We received your message once", "We hebben je bericht één keer ontvangen"}
	TReceived         = Text{"We answer within one working day.", "Je krijgt binnen één werkdag antwoord."}
	TReference        = Text{"Reference", "Nummer"}
	TAlreadySent      = Text{"You already sent a message with this form", "Je hebt met dit formulier al een bericht verstuurd"}
	TAlreadySentTo    = Text{"That message is safe with us. What you typed now is not sent yet: send it as a new message, or leave it.", "Dat bericht is bij ons aangekomen. Wat je nu typte is nog niet verstuurd: stuur het als nieuw bericht, of laat het zo."}
	TSeeEarlier       = Text{"See the message you sent", "Bekijk het bericht dat je stuurde"}
	TContactOld       = Text{"This form is too old to send", "Dit formulier is te oud om te versturen"}
	TContactOldTo     = Text{"What you typed is kept below. Send it as a new message.", "Wat je typte staat hieronder. Stuur het als nieuw bericht."}
	TContactProblem   = Text{"Your message was not sent yet", "Je bericht is nog niet verstuurd"}
	TContactRetry     = Text{"Something failed on our side. What you typed is kept: send it again, it counts once.", "Er ging bij ons iets mis. Wat je typte is bewaard: verstuur het opnieuw, het telt één keer."}
	TContactBusy      = Text{"We are still taking in your message", "We nemen je bericht nog aan"}
	TContactBusyTo    = Text{"You pressed before, and that is not finished. Wait a moment and send it again: it counts once.", "Je drukte al eerder, en dat is nog niet klaar. Wacht even en verstuur het opnieuw: het telt één keer."}
	TContactUnknown   = Text{"We do not know yet if your message arrived", "We weten nog niet of je bericht is aangekomen"}
	TContactUnknownTo = Text{"Something failed on our side at the wrong moment. What you typed is kept: send it again, and it counts once, also if it did arrive.", "Er ging bij ons op het verkeerde moment iets mis. Wat je typte is bewaard: verstuur het opnieuw. Het telt één keer, ook als het al was aangekomen."}
	TSendAgain        = Text{"Send it again", "Verstuur het opnieuw"}

	// Mailbox.
	TMailboxTitle = Text{"Mailbox", "Mailbox"}
	TMailboxLead  = Text{"The last mails of this demo shop, newest first.", "De laatste mails van deze demowinkel, de nieuwste eerst."}
	TMailboxEmpty = Text{"No mail yet. Pay an order and one appears here.", "Nog geen mail. Betaal een bestelling en er verschijnt er een."}
	TMailTo       = Text{"To", "Aan"}

	// Problems.
	TNotFound      = Text{"This page does not exist", "Deze pagina bestaat niet"}
	TNotFoundTo    = Text{"The address may be mistyped or incomplete. Nothing you did is lost.", "Het adres is misschien verkeerd getypt of niet volledig. Er is niets verloren gegaan."}
	TBadRequest    = Text{"We could not read this request", "We konden dit verzoek niet lezen"}
	TBadRequestTo  = Text{"Nothing was changed by it. Go back, load the page again and try once more.", "Er is niets door veranderd. Ga terug, laad de pagina opnieuw en probeer het nog eens."}
	TTooLarge      = Text{"This is more than we can take at once", "Dit is meer dan we in één keer aankunnen"}
	TTooMany       = Text{"That was a lot at once", "Dat was veel ineens"}
	TTooManyTo     = Text{"Wait a moment and try again. Trying again is safe: nothing happens twice.", "Wacht even en probeer het dan weer. Opnieuw proberen kan: niets gebeurt dubbel."}
	TUnavailable   = Text{"Something failed on our side", "Er ging bij ons iets mis"}
	TUnavailableTo = Text{"Try again in a moment. Trying again is safe: nothing happens twice.", "Probeer het zo weer. Opnieuw proberen kan: niets gebeurt dubbel."}
	TTooLargeTo    = Text{"Nothing was changed by it. Go back and send less.", "Er is niets door veranderd. Ga terug en stuur minder."}
	TGone          = Text{"This page is no longer valid", "Deze pagina is niet meer geldig"}
	TForeign       = Text{"Another site sent this", "Een andere site stuurde dit"}
	TForeignTo     = Text{"Nothing was changed by it. If you did want this, open the page here and press the button there.", "Er is niets door veranderd. Wilde je dit toch, open de pagina dan hier en druk daar op de knop."}
	TGoneTo        = Text{"It was open for too long, so nothing was done with it now. What was done before stays.", "Ze stond te lang open, dus er is nu niets mee gedaan. Wat eerder is gedaan, blijft."}
	TRefused       = Text{"This is not possible", "Dit kan niet"}
	TRefusedTo     = Text{"The shop cannot do this as things stand now. Go back and load the page again to see how they stand.", "De winkel kan dit nu niet doen. Ga terug en laad de pagina opnieuw om te zien hoe het ervoor staat."}
)
