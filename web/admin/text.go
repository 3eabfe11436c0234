package admin

import "example.com/eenmaal/web/ui"

// both is one sentence of the desk in both languages.
func both(en, nl string) ui.Text { return ui.Text{En: en, Nl: nl} }

// Sentences of the frame. Each subject has a file of its own, named after it: orderstext.go.
var (
	tDesk     = both("Desk", "Balie")
	tDeskMenu = both("Desk", "Balie")
	tToShop   = both("To the shop", "Naar de winkel")
	tSignedIn = both("Signed in as %s", "Aangemeld als %s")
	tSignOut  = both("Sign out", "Afmelden")

	tSignIn        = both("Sign in", "Aanmelden")
	tSignInLead    = both("The desk is for the shop's staff.", "De balie is voor medewerkers van de winkel.")
	tSignInAsStaff = both("Sign in as staff", "Aanmelden als medewerker")
	tOneClick      = both("In the demo anybody may look behind the counter.", "In de demo mag iedereen achter de toonbank kijken.")
	tUser          = both("User name", "Gebruikersnaam")
	tPassword      = both("Password", "Wachtwoord")
	tWrongPassword = both("This user name and password do not belong together.", "Deze gebruikersnaam en dit wachtwoord horen niet bij elkaar.")
	tLocked        = both("There were too many attempts.", "Er waren te veel pogingen.")
	tLockedTo      = both("Wait %s minutes and try again.", "Wacht %s minuten en probeer het opnieuw.")
	tSignInFirst   = both("You are not signed in. Nothing was done.", "Je bent niet aangemeld. Er is niets gedaan.")

	tSearch     = both("Search", "Zoeken")
	tAll        = both("All", "Alle")
	tOlder      = both("Older", "Ouder")
	tNewer      = both("Newer", "Nieuwer")
	tPages      = both("Pages", "Pagina's")
	tFilters    = both("Show", "Toon")
	tNoMatch    = both("Nothing matches.", "Niets gevonden.")
	tNoMatchYet = both("Nothing matches among the newest. Older ones have not been looked at yet.", "Niets gevonden bij de nieuwste. Oudere zijn nog niet bekeken.")
	tNothingYet = both("There is nothing here yet.", "Hier is nog niets.")
	tClear      = both("Show everything", "Toon alles")
	tGoTo       = both("Go to: %s", "Ga naar: %s")
	tBack       = both("Back", "Terug")
	tNotDone    = both("This was not done", "Dit is niet gedaan")
	tUnsure     = both("We do not know yet if this was done. Press again: it counts once.", "We weten nog niet of dit is gedaan. Druk nog eens: het telt één keer.")
	tOtherUse   = both("This form was used for something else already. Nothing was changed by this press.", "Dit formulier is al voor iets anders gebruikt. Deze druk op de knop heeft niets veranderd.")
	tStartAgain = both("Open a new form", "Open een nieuw formulier")
)
