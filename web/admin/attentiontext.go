package admin

import (
	"strconv"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// Sentences about what needs a person.
var (
	tAttention     = both("Attention", "Aandacht")
	tAttentionLead = both("What the program could not settle by itself.", "Wat het programma niet zelf kon oplossen.")
	tNoFlags       = both("Nothing needs a person now.", "Er is nu niets waar een mens voor nodig is.")
	tFlagOpen      = both("Open", "Open")
	tFlagSettled   = both("Settled", "Afgehandeld")
	tFlagKind      = both("What is wrong", "Wat er is")
	tFlagNote      = both("Note", "Notitie")
	tFlagAbout     = both("About", "Gaat over")
	tFlagAge       = both("Since", "Sinds")
	tFlagRaised    = both("Raised", "Gemeld")
	tFlagSettledBy = both("Settled by", "Afgehandeld door")
	tFlagSettledAt = both("Settled at", "Afgehandeld op")
	tFlagWhatToDo  = both("What settles it", "Wat het oplost")
	tSettle        = both("Mark as settled", "Markeer als afgehandeld")

	tNotCharged     = both("It was not charged", "Er is niet afgeschreven")
	tNotChargedLead = both("Look the order number up at the provider first. After this the payment has failed, and the customer can pay anew.",
		"Zoek eerst het bestelnummer op bij de betaalprovider. Hierna is de betaling mislukt en kan de klant opnieuw betalen.")
	tNotChargedDo = both("The provider has no charge: settle it", "De provider kent geen afschrijving: handel af")
)

// flagWords are the name of a kind of flag, and in Dutch what settles it: the English is the domain's.
type flagWords struct {
	name ui.Text
	doNl string
}

var flagKinds = map[string]flagWords{
	domain.NeedsAttention: {both("A key without a final answer", "Een sleutel zonder eindantwoord"),
		"Zoek in het log waarom de uitvoering mislukt en herstel dat. Er wordt elk uur opnieuw geprobeerd; de melding verdwijnt als het lukt."},
	domain.PaymentInDoubt: {both("A payment in doubt", "Een onzekere betaling"),
		"Zoek het bestelnummer op bij de betaalprovider. Is er niets afgeschreven, leg dat dan vast. Is er wel afgeschreven, laat de provider het bericht dan opnieuw sturen: de melding verdwijnt daarmee."},
	"payment_wrong_charge": {both("A charge that differs", "Een afwijkende afschrijving"),
		"Vraag de betaalprovider waarom de afschrijving afwijkt van wat is gevraagd. Er is niets door als betaald gemarkeerd."},
	"payment_pending": {both("A payment that stays pending", "Een betaling die blijft wachten"),
		"Vraag de betaalprovider waar nog op wordt gewacht, en de klant of er is betaald."},
	"reconcile_unknown_charge": {both("A charge that belongs to nothing", "Een afschrijving die nergens bij hoort"),
		"Zoek uit van wie de afschrijving is. Is ze van niemand, geef het geld dan terug bij de betaalprovider."},
	"reconcile_missing_charge": {both("A payment without a charge", "Een betaling zonder afschrijving"),
		"Vraag de betaalprovider naar de afschrijving. De betaling noemt geld dat niet in zijn boeken staat."},
	"reconcile_amount": {both("Amounts that differ", "Bedragen die verschillen"),
		"Vraag de betaalprovider waarom de afschrijving afwijkt van wat is gevraagd, en corrigeer het verschil daar."},
	"reconcile_state": {both("Books that differ", "Boeken die verschillen"),
		"Vergelijk de betaling met de afschrijving van de betaalprovider en corrigeer de verkeerde van de twee."},
	domain.DeadDelivery: {both("A webhook that was not taken", "Een webhook die niet is aangenomen"),
		"Vraag de eigenaar van het webhook-adres of het weer werkt. Daarna kan het bericht opnieuw worden verstuurd."},
	"capture_failed": {both("A capture that failed", "Een inning die mislukte"),
		"Vraag de betaalprovider waarom, en de winkelier of er minder geïnd of niets meer geïnd moet worden."},
	"void_failed": {both("A void that failed", "Een vrijgave die mislukte"),
		"Vraag de betaalprovider waarom. De reservering eindigt vanzelf als haar tijd om is."},
	"refund_failed": {both("A refund that failed", "Een terugbetaling die mislukte"),
		"Geef het geld op een andere manier terug en vertel het de klant."},
	"paid_in_vain": {both("Paid twice, or after cancelling", "Dubbel betaald, of na annuleren"),
		"Controleer of de terugbetaling aankomt; meer is er niet te doen."},
	"event_unreadable": {both("An event that cannot be read", "Een onleesbaar bericht"),
		"Vergelijk het bericht met de documentatie van de betaalprovider en laat het opnieuw sturen als het gelezen kan worden."},
	domain.AlteredEvent: {both("An event that changed", "Een bericht dat veranderde"),
		"Vraag de betaalprovider welke van de twee versies klopt. De eerste is verwerkt."},
	domain.PoisonEvent: {both("An event that cannot be applied", "Een bericht dat niet verwerkt kan worden"),
		"Vergelijk het bericht met de boeken van de betaalprovider en corrigeer met de hand wat het meldt."},
	domain.MailDead: {both("A mail that nobody accepted", "Een mail die niemand aannam"),
		"Kijk of het adres bestaat en of de mailserver werkt. Daarna kan de mail opnieuw worden verstuurd."},
}

// flagName is what a kind of flag is called. One that is not known is called by its own name.
func flagName(kind string) ui.Text {
	if words, known := flagKinds[kind]; known {
		return words.name
	}
	return ui.Text{En: kind, Nl: kind}
}

// flagAction tells what settles a flag; nothing for a kind that is not known.
func flagAction(a domain.Attention) ui.Text {
	return ui.Text{En: a.Action(), Nl: flagKinds[a.Kind].doNl}
}

// ageOf writes how long ago something was, in its largest unit.
func ageOf(d time.Duration) ui.Text {
	switch {
	case d < time.Minute:
		return both("just now", "zojuist")
	case d < time.Hour:
		return ago(int(d/time.Minute), "min", "min")
	case d < 48*time.Hour:
		return ago(int(d/time.Hour), "h", "uur")
	default:
		return ago(int(d/(24*time.Hour)), "days", "dagen")
	}
}

func ago(n int, en, nl string) ui.Text {
	return ui.Text{En: strconv.Itoa(n) + " " + en, Nl: strconv.Itoa(n) + " " + nl}
}
