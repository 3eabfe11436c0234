package chaos

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// report is what a run has seen. It is also written as JSON, for those who keep it.
type report struct {
	Seed        uint64         `json:"seed"`
	Seconds     float64        `json:"seconds_of_trouble"`
	Safe        bool           `json:"fsync"`
	Keys        int            `json:"keys"`
	Finals      int            `json:"final_answers"`
	Operations  int            `json:"operations"`
	Unknowns    int            `json:"unknown_outcomes"`
	Replays     int            `json:"replays"`
	Mismatches  int            `json:"mismatches"`
	Takeovers   int            `json:"takeovers"`
	Deaths      int            `json:"replica_deaths"`
	Crashes     int            `json:"postgres_crashes"`
	Full        int            `json:"writes_refused_by_full_disk"`
	Redis       int            `json:"redis_faults"`
	Orders      int            `json:"orders"`
	Paid        int            `json:"orders_paid"`
	Mails       int            `json:"mails"`
	MailCopies  int            `json:"mail_copies"`
	Events      int            `json:"events"`
	EventCopies int            `json:"event_copies"`
	Recovery    time.Duration  `json:"slowest_recovery_ns"`
	Answer      time.Duration  `json:"slowest_answer_ns"`
	Nemeses     map[string]int `json:"nemeses"`
	Violations  []violation    `json:"violations"`
	Void        []string       `json:"void,omitempty"`
}

func (w *world) report(seed uint64, took time.Duration) (report, error) {
	r := report{Seed: seed, Seconds: took.Seconds(), Safe: *fsync, Nemeses: w.firings()}
	w.mu.Lock()
	r.Recovery, r.Answer, r.Violations = w.recovered, w.slowest, append([]violation{}, w.violations...)
	w.mu.Unlock()
	keys := map[string]bool{}
	for _, a := range w.history.attempts() {
		if a.Print == "" {
			continue
		}
		r.Operations++
		keys[a.scope()] = true
		switch {
		case a.Outcome == unknown:
			r.Unknowns++
		case a.Outcome == reused:
			r.Mismatches++
		case a.Replayed:
			r.Replays++
		}
	}
	r.Keys, r.Finals = len(keys), len(w.history.finals())
	for _, one := range w.replicas {
		one.mu.Lock()
		r.Deaths += one.deaths
		one.mu.Unlock()
	}
	r.Crashes = r.Nemeses["crash Postgres"]
	r.Full = r.Nemeses["disk of Postgres full"] + r.Nemeses["crash Postgres on a full disk"] + r.Nemeses["disk full"] + r.Nemeses["kill on a full disk"]
	r.Redis = r.Nemeses["kill Redis"] + r.Nemeses["freeze Redis"] + r.Nemeses["flush Redis"]
	var mails, events map[string]string
	mails, r.MailCopies = w.mails.all(func(string, string, string) {})
	events, r.EventCopies = w.events.all(func(string, string, string) {})
	r.Mails, r.Events = len(mails), len(events)
	for query, into := range map[string]*int{
		"SELECT count(*) FROM orders":                             &r.Orders,
		"SELECT count(*) FROM orders WHERE status = 'paid'":       &r.Paid,
		"SELECT count(*) FROM idempotency_keys WHERE attempt > 1": &r.Takeovers,
	} {
		if err := w.sql.QueryRow(query).Scan(into); err != nil {
			return r, err
		}
	}
	r.Void = r.void(w.unfired())
	return r, nil
}

// The least work under which a verdict says something, per second of trouble, so that a long run has to
// show more. Two processors that are busy with other things as well do three times as much, of each.
const (
	keysPerSecond   = 5
	scenesPerSecond = 0.1 // of each kind of thing that the shop must get right, and one at least
)

// void tells why a run proves nothing, however quiet it was.
func (r report) void(unfired []string) (why []string) {
	for what, n := range map[string]int{"unknown outcomes": r.Unknowns, "replays": r.Replays, "takeovers": r.Takeovers, "mismatches": r.Mismatches} {
		if least := max(1, int(scenesPerSecond*r.Seconds)); n < least {
			why = append(why, fmt.Sprintf("there were %d %s, fewer than %d", n, what, least))
		}
	}
	if least := int(keysPerSecond * r.Seconds); r.Keys < least {
		why = append(why, fmt.Sprintf("there were %d keys, fewer than %d", r.Keys, least))
	}
	for _, name := range unfired {
		why = append(why, "nothing met the nemesis "+name)
	}
	slices.Sort(why)
	return why
}

func (r report) String() string {
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "  %-24s %v\n", name, value) }
	line("seed", r.Seed)
	line("trouble", time.Duration(r.Seconds*float64(time.Second)).Round(time.Second))
	line("fsync", r.Safe)
	line("keys", fmt.Sprintf("%d, %d with a final answer", r.Keys, r.Finals))
	line("operations", r.Operations)
	line("unknown outcomes", r.Unknowns)
	line("replays", r.Replays)
	line("mismatches", r.Mismatches)
	line("takeovers", r.Takeovers)
	line("replica deaths", r.Deaths)
	line("Postgres crashes", r.Crashes)
	line("writes on a full disk", r.Full)
	line("Redis faults", r.Redis)
	line("orders", fmt.Sprintf("%d, %d of them paid", r.Orders, r.Paid))
	line("mails", fmt.Sprintf("%d, in %d copies", r.Mails, r.MailCopies))
	line("events", fmt.Sprintf("%d, in %d copies", r.Events, r.EventCopies))
	line("slowest recovery", r.Recovery.Round(10*time.Millisecond))
	line("slowest answer", r.Answer.Round(10*time.Millisecond))
	for _, name := range slices.Sorted(maps.Keys(r.Nemeses)) {
		line("  "+name, r.Nemeses[name])
	}
	line("violations", len(r.Violations))
	return b.String()
}

// write keeps the report as JSON.
func (r report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
