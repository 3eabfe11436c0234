package chaos

import (
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// ofSQLite hurt the file, which has no process of its own to hurt.
func ofSQLite() []nemesis {
	return []nemesis{
		{"disk full", func(w *world, _ *replica, d time.Duration) int { return fullFile(w, d, func() {}) }},
		{"kill on a full disk", func(w *world, _ *replica, d time.Duration) int {
			return fullFile(w, d, func() { w.replicas[0].kill(""); time.Sleep(2 * restartPause) })
		}},
	}
}

// fullFile leaves the file no room to grow, does something at the worst moment, and gives the room back.
func fullFile(w *world, d time.Duration, worst func()) int {
	met := w.disk.full(d, watch(w.replicas[0].log, "disk is full"))
	worst()
	w.disk.empty()
	return met
}

// forSQLite are the queries of the checks in the other database's words.
var forSQLite = strings.NewReplacer("::text", "", "chr(31)", "char(31)", "string_agg(", "group_concat(",
	"convert_from(k.body, 'UTF8')", "CAST(k.body AS text)", "convert_from(body, 'UTF8')", "CAST(body AS text)",
	"now() + interval '5 seconds'", "strftime('%Y-%m-%d %H:%M:%f', 'now', '+5 seconds')", "now()", "strftime('%Y-%m-%d %H:%M:%f', 'now')")
