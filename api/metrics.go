package api

import "github.com/prometheus/client_golang/prometheus"

// metrics of what comes in and goes out beside the keyed requests.
type metrics struct {
	events *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer) metrics {
	m := metrics{events: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "webhook_events_total", Help: "Events of payment providers by what came of them."}, []string{"provider", "outcome"})}
	if registerer != nil {
		registerer.MustRegister(m.events)
	}
	return m
}
