package domain

import "time"

// Reconciliation is one comparison of our books with the provider's: of the charges that were made or
// changed from From on and before To.
type Reconciliation struct {
	Run         string // "recent" or "day"
	From, To    time.Time
	Compared    int // charges
	Repaired    int // our books were behind, and have heard the charge now
	Differences int // are still there, and nobody has settled them yet
	EndedAt     time.Time
}

const (
	reconcileBack = 2 * time.Hour
	// reconcileYoung is how long news may be under way: what is younger is left to it.
	reconcileYoung = 10 * time.Minute
)

// RecentReconciliation looks back from a moment.
func RecentReconciliation(at time.Time) Reconciliation {
	return Reconciliation{Run: "recent", From: at.Add(-reconcileBack), To: at.Add(-reconcileYoung)}
}

// DayReconciliation looks at a whole day, and leaves out its end while that is young.
func DayReconciliation(day, now time.Time) Reconciliation {
	end, old := day.AddDate(0, 0, 1), now.Add(-reconcileYoung)
	if old.Before(end) {
		end = old
	}
	return Reconciliation{Run: "day", From: day, To: end}
}
