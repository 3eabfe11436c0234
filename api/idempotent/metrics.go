package idempotent

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// metrics count what becomes of keys. A key is never a label, nor is anything that a client chooses.
//
// The duplicate rate of an endpoint is
//
//	(replayed + waited + in_progress) / all
//
// over idem_requests_total. A few percent is what networks and double clicks make; more is a client
// that retries too eagerly.
type metrics struct {
	requests   *prometheus.CounterVec
	takeovers  *prometheus.CounterVec
	recoveries *prometheus.CounterVec
	completed  *prometheus.CounterVec
	late       *prometheus.CounterVec
	unknown    prometheus.Counter
	fenced     prometheus.Counter
	lost       prometheus.Counter
	reuse      prometheus.Counter
	wait       prometheus.Histogram
	store      *prometheus.HistogramVec
}

// outcomes are what can become of a keyed request.
var outcomes = []string{
	"executed",    // it ran, and has its final answer: a refusal too
	"replayed",    // it got the answer of an earlier one
	"waited",      // it came while the first one ran, and got its answer
	"in_progress", // the first one still ran when its patience ended
	"mismatch",    // its key belongs to another request
	"expired",     // its key is too old to be answered or run
	"missing",     // it had no key
	"malformed",   // its key or body could not be read
	"rejected",    // it breaks a rule; nothing was recorded
	"limited",     // its consumer has had enough runs for now; nothing was recorded
	"retryable",   // nothing final is known; the same key finds out
}

func newMetrics(registerer prometheus.Registerer) metrics {
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Name: name, Help: help}
	}
	m := metrics{
		requests:   prometheus.NewCounterVec(counter("idem_requests_total", "Keyed requests by endpoint and outcome."), []string{"endpoint", "outcome"}),
		takeovers:  prometheus.NewCounterVec(counter("idem_takeovers_total", "Unfinished runs that a later attempt went on with."), []string{"endpoint"}),
		recoveries: prometheus.NewCounterVec(counter("idem_recoveries_total", "Taken-over runs by the step at which they went on."), []string{"step"}),
		completed:  prometheus.NewCounterVec(counter("idem_completer_runs_total", "Runs that went on without their client, by what came of them."), []string{"outcome"}),
		late:       prometheus.NewCounterVec(counter("idem_late_retries_total", "Requests whose key was too old to be answered or run."), []string{"endpoint"}),
		unknown:    prometheus.NewCounter(counter("idem_unknown_outcomes", "Attempts that ended without knowing whether an outside call took effect.")),
		fenced:     prometheus.NewCounter(counter("idem_fenced_writes_total", "Writes refused because a later attempt has taken the key over.")),
		lost:       prometheus.NewCounter(counter("idem_unknown_commits_total", "Commits whose answer was lost: the key's row is read to find out.")),
		reuse:      prometheus.NewCounter(counter("idem_cross_endpoint_reuse_total", "Keys that one consumer used on a second endpoint: allowed, and often a mistake.")),
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "idem_wait_seconds",
			Help: "How long a duplicate waited for the first request.", Buckets: []float64{.01, .03, .1, .3, 1, 2, 4, 8, 15}}),
		store: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "idem_store_seconds",
			Help:    "Time of the database (claim: read a key, commit) and of Redis (get, put: a batch of answers).",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 3}}, []string{"store", "op"}),
	}
	if registerer != nil {
		registerer.MustRegister(m.requests, m.takeovers, m.recoveries, m.completed, m.late, m.unknown, m.fenced, m.lost, m.reuse, m.wait, m.store)
	}
	for _, o := range []string{runCompleted, runUnfinished, runOvertaken} {
		m.completed.WithLabelValues(o)
	}
	return m
}

// What can become of a run without its client.
const (
	runCompleted  = "completed"  // the key has its final answer
	runUnfinished = "unfinished" // it will be looked at again
	runOvertaken  = "overtaken"  // somebody else has gone on with it: another process, or its client
)

// start makes the numbers of an endpoint begin at 0, so that the first event is an increase.
func (m metrics) start(endpoint string) {
	for _, o := range outcomes {
		m.requests.WithLabelValues(endpoint, o)
	}
	m.takeovers.WithLabelValues(endpoint)
	m.late.WithLabelValues(endpoint)
}

func (m metrics) count(endpoint, outcome string) {
	m.requests.WithLabelValues(endpoint, outcome).Inc()
	if outcome == "expired" {
		m.late.WithLabelValues(endpoint).Inc()
	}
}

// failedCommit counts a write of a run that was fenced, or whose answer was lost.
func (m metrics) failedCommit(err error) {
	switch {
	case errors.Is(err, store.ErrLeaseLost):
		m.fenced.Inc()
	case errors.Is(err, store.ErrCommitUnknown):
		m.lost.Inc()
	}
}

// timed measures one use of a store: defer m.timed("database", "claim")().
func (m metrics) timed(which, op string) func() {
	begin := time.Now()
	return func() { m.store.WithLabelValues(which, op).Observe(time.Since(begin).Seconds()) }
}

// waiting measures a wait for the first request: defer m.waiting()().
func (m metrics) waiting() func() {
	begin := time.Now()
	return func() { m.wait.Observe(time.Since(begin).Seconds()) }
}

// outcome is the word for what came of a request, one of outcomes.
func outcome(reply Reply, err error) string {
	if err == nil {
		switch {
		case reply.waited:
			return "waited"
		case reply.Replayed:
			return "replayed"
		default:
			return "executed"
		}
	}
	switch domain.KindOf(err) {
	case domain.Conflict:
		return "mismatch"
	case domain.Busy:
		return "in_progress"
	case domain.Expired:
		return "expired"
	case domain.RateLimited:
		return "limited"
	case domain.Malformed:
		if known, _ := errors.AsType[*domain.Error](err); known.Code == "idempotency_key_missing" {
			return "missing"
		}
		return "malformed"
	case domain.Invalid, domain.NotFound, domain.TooLarge, domain.Forbidden:
		return "rejected"
	default:
		return "retryable"
	}
}

// statusHeader gives the Idempotency-Status of an outcome, whose words are fewer.
func statusHeader(outcome string) string {
	switch outcome {
	case "waited":
		return "replayed"
	case "missing", "malformed", "limited":
		return "rejected"
	default:
		return outcome
	}
}
