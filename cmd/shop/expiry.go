package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/eenmaal/api"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
)

// expiry makes the records of keys and of events end, and measures it. The counters are those of the
// process that sweeps; the lag is read from the database, so that any process tells when nobody does.
func (a *app) expiry() jobs.Expiry {
	swept := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "idem_swept_total", Help: "Records whose time was over, by what was done: of keys, of their journals, of events and of deliveries."}, []string{"kind"})
	rules := func() []store.SweepRule { return api.SweepRules(a.registry) }
	a.metrics.MustRegister(swept, databaseGauge("idem_sweep_lag_seconds", "How far the sweep of the key table is behind.",
		func(ctx context.Context) (float64, error) {
			lag, err := a.db.SweepLag(ctx, rules())
			return lag.Seconds(), err
		}))
	count := func(s store.Swept) {
		swept.WithLabelValues("wiped").Add(float64(s.Wiped))
		swept.WithLabelValues("tombstone_deleted").Add(float64(s.TombstonesDeleted))
		swept.WithLabelValues("partition_dropped").Add(float64(s.DaysDropped))
		swept.WithLabelValues("delivery_deleted").Add(float64(s.DeliveriesDeleted))
		swept.WithLabelValues("event_deleted").Add(float64(s.EventsDeleted))
		swept.WithLabelValues("inbox_deleted").Add(float64(s.InboxDeleted))
		swept.WithLabelValues("key_event_deleted").Add(float64(s.KeyEventsDeleted))
	}
	count(store.Swept{}) // so that all of them are there from the start
	return jobs.Expiry{Rules: rules, Swept: count}
}
