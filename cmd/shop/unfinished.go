package main

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// measureUnfinished tells what waits for an end. Both are read from the database whenever they are
// asked, so that any process tells when nobody works on it.
func (a *app) measureUnfinished() {
	a.metrics.MustRegister(
		databaseGauge("idem_oldest_unfinished_seconds", "Age of the oldest key without a final answer for which no person has been called.",
			func(ctx context.Context) (float64, error) {
				age, err := a.db.OldestUnfinished(ctx)
				return age.Seconds(), err
			}),
		databaseGauge("needs_attention", "What the program could not settle and a person has to look at.",
			func(ctx context.Context) (float64, error) {
				n, err := a.db.AttentionCount(ctx)
				return float64(n), err
			}),
	)
}

// measureRedis tells whether Redis is left alone. Without one there is nothing to leave alone.
func (a *app) measureRedis() {
	a.metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "redis_breaker_state", Help: "Whether Redis is left alone: 0 no, 1 about to be asked again, 2 yes."}, func() float64 {
		if a.answers == nil {
			return 0
		}
		return a.answers.BreakerState()
	}))
}

// databaseGauge reads its value from the database whenever it is asked; a value that cannot be read is
// a gap on the dashboard.
func databaseGauge(name, help string, read func(context.Context) (float64, error)) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		value, err := read(ctx)
		if err != nil {
			return math.NaN()
		}
		return value
	})
}
