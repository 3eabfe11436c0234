package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// jobsMetric tells how many jobs there are, read from the database whenever it is asked.
type jobsMetric struct {
	app  *app
	desc *prometheus.Desc
}

func (a *app) measureJobs() {
	a.metrics.MustRegister(jobsMetric{a, prometheus.NewDesc("jobs", "Jobs that are not done, by state: waiting, running, dead.", []string{"state"}, nil)})
}

func (m jobsMetric) Describe(out chan<- *prometheus.Desc) { out <- m.desc }

func (m jobsMetric) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	n, err := m.app.jobs.Counts(ctx)
	if err != nil {
		return // a gap on the dashboard
	}
	for state, count := range map[string]int{"waiting": n.Waiting, "running": n.Running, "dead": n.Dead} {
		out <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(count), state)
	}
}
