package api

import (
	"github.com/prometheus/client_golang/prometheus"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// metrics of what comes in and goes out beside the keyed requests.
type metrics struct {
	events      *prometheus.CounterVec
	deliveries  *prometheus.CounterVec
	deliveryLag prometheus.Histogram
	unpaid      prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer, providers map[string]domain.EventReader, db *store.DB) metrics {
	m := metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "webhook_events_total", Help: "Events of payment providers by what came of them."}, []string{"provider", "outcome"}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "webhook_deliveries_total", Help: "Tries to deliver one of our events by what came of them."}, []string{"outcome"}),
		deliveryLag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "webhook_delivery_lag_seconds", Help: "Time from an event to its delivery.",
			Buckets: []float64{.1, .5, 1, 5, 15, 60, 300, 1800, 7200, 21600, 86400}}),
		unpaid: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "orders_expired_total", Help: "Orders that were cancelled because nobody paid them in time."}),
	}
	if registerer != nil {
		registerer.MustRegister(m.events, m.deliveries, m.deliveryLag, m.unpaid, newBooksMetric(db))
	}
	m.start(providers)
	return m
}

// measure adds what is asked of the provider's breaker at the moment of reading.
func (m metrics) measure(registerer prometheus.Registerer, provider *guarded) {
	if registerer == nil {
		return
	}
	registerer.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "provider_breaker_state", Help: "Whether the payment provider is left alone: 0 no, 1 about to be asked again, 2 yes."}, provider.state))
}

// start makes the numbers begin at 0, so that the first event is an increase.
func (m metrics) start(providers map[string]domain.EventReader) {
	for provider := range providers {
		for _, outcome := range []domain.InboxState{domain.EventReceived, domain.EventParked, domain.EventApplied,
			domain.EventSuperseded, domain.EventPoison, "duplicate", "rejected", "failed"} {
			m.events.WithLabelValues(provider, string(outcome))
		}
	}
	for _, outcome := range []string{string(domain.DeliveryDelivered), string(domain.DeliveryDead), "retried", domain.EndpointClosed, domain.ReceiverGone} {
		m.deliveries.WithLabelValues(outcome)
	}
}
