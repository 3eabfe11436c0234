package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// jobsMetric tells how many jobs there are, read from the database whenever it is asked.
type jobsMetric struct {
	app           *app
	count, oldest *prometheus.Desc
}

func (a *app) measureJobs() {
	a.metrics.MustRegister(jobsMetric{a,
		prometheus.NewDesc("jobs", "Jobs that are not done, by state: waiting, running, dead.", []string{"state"}, nil),
		prometheus.NewDesc("jobs_oldest_seconds", "Age of the oldest job of a kind that is not done: of send_mail the lag of the outbox, of apply_event that of the inbox.", []string{"kind"}, nil)})
}

func (m jobsMetric) Describe(out chan<- *prometheus.Desc) {
	out <- m.count
	out <- m.oldest
}

func (m jobsMetric) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	n, err := m.app.jobs.Counts(ctx)
	if err != nil {
		return // a gap on the dashboard
	}
	for state, count := range map[string]int{"waiting": n.Waiting, "running": n.Running, "dead": n.Dead} {
		out <- prometheus.MustNewConstMetric(m.count, prometheus.GaugeValue, float64(count), state)
	}
	for kind, age := range n.Oldest {
		out <- prometheus.MustNewConstMetric(m.oldest, prometheus.GaugeValue, age.Seconds(), kind)
	}
}
