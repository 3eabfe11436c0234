package admin

// Sentences about what was given up, and about jobs.
var (
	tDeadLetters = both("Dead letters", "Opgegeven")
	tDeadLead    = both("What is not tried again by itself: mails, webhooks in and out, and jobs. Open one to try it again. Two kinds cannot be: an event that nobody can read, and a webhook to a receiver that is gone.",
		"Wat niet vanzelf opnieuw wordt geprobeerd: mails, webhooks in en uit, en taken. Open er een om hem opnieuw te proberen. Twee soorten kunnen dat niet: een onleesbaar bericht, en een webhook aan een ontvanger die weg is.")
	tNothingDead = both("Nothing was given up.", "Er is niets opgegeven.")

	tJobs        = both("Jobs", "Taken")
	tJobsLead    = both("What is done after the answer was given.", "Wat gebeurt nadat het antwoord is gegeven.")
	tJobsWaiting = both("Waiting", "Wachtend")
	tJobsRunning = both("Running", "Bezig")
	tJobsDead    = both("Given up", "Opgegeven")
	tNoDeadJobs  = both("No job was given up.", "Er is geen taak opgegeven.")
	tJobKind     = both("Kind", "Soort")
	tJobAbout    = both("About", "Gaat over")
	tJobError    = both("Last error", "Laatste fout")
	tJobEnded    = both("Given up", "Opgegeven")
	tConsoleHint = both("The River UI shows every job and can try one again. It needs scripts, and is in English.", "De River UI toont elke taak en kan er een opnieuw proberen. Hij heeft scripts nodig en is in het Engels.")
)
