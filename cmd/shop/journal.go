package main

import (
	"fmt"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/store"
)

// openJournal starts the journal of keys, and counts its lines: a dropped one is in no journal, and nothing
// else is missing for it.
func (a *app) openJournal(engine *idempotent.Config) {
	if !a.cfg.KeyJournal {
		return
	}
	a.journal = store.OpenJournal(a.db, processName(), a.log)
	engine.Journal = a.journal
	for what, count := range map[string]func() int64{"written": a.journal.Written, "dropped": a.journal.Dropped} {
		a.metrics.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "key_journal_lines_total",
			Help: "Lines of the keys' journals, by what became of them.", ConstLabels: prometheus.Labels{"what": what}},
			func() float64 { return float64(count()) }))
	}
}

// processName tells this process from the others that share the database.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}
