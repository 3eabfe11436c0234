package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/eenmaal/api"
	"example.com/eenmaal/api/limit"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
)

// limits are what this process holds its callers to.
type limits struct {
	runs      *limit.Rate // new runs of a consumer
	keys      *limit.Keys // kept keys of a consumer
	requests  *limit.Rate // all requests of a consumer
	strangers *limit.Rate // of an address: changes on pages, and look-ups of API keys
	contact   *limit.Rate // of an address: new messages on the contact page
	forgeries *limit.Rate // of an address: events with a wrong signature
}

// requestsPerRun is how many replays and reads a consumer gets for each new run that he may make.
const requestsPerRun = 20

func (a *app) newLimits() limits {
	refusals := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "limit_refusals_total", Help: "Requests refused for having had enough, by the limit."}, []string{"limit"})
	a.metrics.MustRegister(refusals)
	var shared limit.Shared // no typed nil: without Redis there is none
	if a.answers != nil {
		shared = a.answers.Buckets()
	}
	rate := func(name string, perMinute int, shared limit.Shared) *limit.Rate {
		return limit.NewRate(limit.Options{Name: name, PerMinute: perMinute, Shared: shared, Refused: refusals.WithLabelValues(name).Inc})
	}
	return limits{
		runs:      rate("runs", a.cfg.RateLimit, shared),
		keys:      limit.NewKeys(limit.KeysOptions{Max: a.cfg.MaxLiveKeys, Count: a.db.LiveKeys, Refused: refusals.WithLabelValues("keys").Inc, Log: a.log}),
		requests:  rate("requests", a.cfg.RateLimit*requestsPerRun, nil), // too many to ask Redis for each
		strangers: rate("strangers", a.cfg.RateLimitAddress, shared),
		contact:   rate("contact", a.cfg.RateLimitContact, shared),
		forgeries: rate("forgeries", a.cfg.RateLimitAddress, nil), // checking a signature is all they cost
	}
}

func (l limits) api() api.Limits {
	return api.Limits{Strangers: l.strangers, Requests: l.requests, Forgeries: l.forgeries}
}

// admit is asked by the engine before a new run. A page's flow has a consumer of its own, so there it
// is the visitor's address that counts.
func (l limits) admit(ctx context.Context, consumer domain.Consumer, endpoint string) error {
	if consumer.ID > 0 {
		if err := l.keys.Take(ctx, consumer); err != nil {
			return err
		}
		return l.runs.Take(ctx, limit.Consumer(consumer))
	}
	if endpoint == "POST /v1/contact-messages" {
		return l.contact.Take(ctx, limit.AddressOf(ctx))
	}
	return nil // limitPages has counted it
}

// limitPages holds an address to its limit on the pages. Reading is free. The API's callers are held
// to theirs when they are known, and the simulated provider is another company.
func (a *app) limitPages(c *gin.Context) {
	c.Request = c.Request.WithContext(limit.WithAddress(c.Request.Context(), c.ClientIP()))
	if !changesAPage(c.Request) {
		return
	}
	if err := a.limits.strangers.Take(c.Request.Context(), limit.Address(c.ClientIP())); err != nil {
		a.problem(c, err)
		c.Abort()
	}
}

func changesAPage(r *http.Request) bool {
	if site.Reads(r) {
		return false
	}
	for _, others := range []string{"/v1/", "/psp/", "/testbank/"} {
		if strings.HasPrefix(r.URL.Path, others) {
			return false
		}
	}
	return true
}
