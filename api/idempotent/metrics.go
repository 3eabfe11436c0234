package idempotent

import (
	"github.com/prometheus/client_golang/prometheus"

	"example.com/eenmaal/domain"
)

// metrics count requests by endpoint and outcome; the key is never a label. The duplicate rate of an
// endpoint is (replayed + in_progress) / all.
type metrics struct {
	requests  *prometheus.CounterVec
	takeovers *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer) metrics {
	m := metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "idem_requests_total", Help: "Keyed requests by endpoint and outcome."}, []string{"endpoint", "outcome"}),
		takeovers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "idem_takeovers_total", Help: "Unfinished runs that a retry went on with."}, []string{"endpoint"}),
	}
	if registerer != nil {
		registerer.MustRegister(m.requests, m.takeovers)
	}
	return m
}

// outcome is the word for what came of a request, in metrics, logs and the Idempotency-Status header.
func outcome(reply Reply, err error) string {
	if err == nil {
		if reply.Replayed {
			return "replayed"
		}
		return "executed"
	}
	switch domain.KindOf(err) {
	case domain.Conflict:
		return "mismatch"
	case domain.Busy:
		return "in_progress"
	case domain.Expired:
		return "expired"
	case domain.Malformed, domain.Invalid, domain.NotFound, domain.TooLarge:
		return "rejected"
	default:
		return "retryable"
	}
}
