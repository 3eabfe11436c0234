package api

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/eenmaal/store"
)

// booksMetric tells how our books compare with the provider's. It reads the database whenever it is
// asked, so that every process says the same, whichever did the comparing.
type booksMetric struct {
	db                  *store.DB
	difference, lastRun *prometheus.Desc
}

func newBooksMetric(db *store.DB) booksMetric {
	return booksMetric{db,
		prometheus.NewDesc("reconcile_difference", "Differences between our books and the provider's that the last run left for a person: must be 0.", []string{"run"}, nil),
		prometheus.NewDesc("reconcile_last_run_seconds", "Time since the last run that compared everything.", []string{"run"}, nil)}
}

// Describe implements prometheus.Collector.
func (m booksMetric) Describe(out chan<- *prometheus.Desc) {
	out <- m.difference
	out <- m.lastRun
}

// Collect implements prometheus.Collector. A run that never was is infinitely long ago.
func (m booksMetric) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	list, err := m.db.Reconciliations(ctx)
	if err != nil {
		return // a gap on the dashboard
	}
	ago := map[string]float64{"recent": math.Inf(1), "day": math.Inf(1)}
	for _, r := range list {
		out <- prometheus.MustNewConstMetric(m.difference, prometheus.GaugeValue, float64(r.Differences), r.Run)
		ago[r.Run] = m.db.Now().Sub(r.EndedAt).Seconds()
	}
	for run, seconds := range ago {
		out <- prometheus.MustNewConstMetric(m.lastRun, prometheus.GaugeValue, seconds, run)
	}
}
