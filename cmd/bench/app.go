package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"example.com/eenmaal/api"
	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
)

// newShop wires the shop as it runs for real: API, engine, job queue, a log line and metrics
// per request. The queue takes jobs in and does not work on them, and there is no journal of keys unless
// its cost is asked for, so that every commit that is counted belongs to a request.
func newShop(ctx context.Context, cfg serveConfig) (served, error) {
	log, err := discardingLog()
	if err != nil {
		return served{}, err
	}
	db, err := store.Open(ctx, store.Config{URL: cfg.database, Dir: cfg.dir, Log: log})
	if err != nil {
		return served{}, err
	}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewDBStatsCollector(db.SQL(), "shop"))
	registry, closeAnswers, err := newRegistry(cfg, db, log, metrics)
	if err != nil {
		return served{}, err
	}
	provider, err1 := simulated.NewClient(simulated.ClientConfig{BaseURL: cfg.provider, Log: log})
	queue, err2 := jobs.New(ctx, jobs.Config{DB: db, ListenURL: cfg.database, Log: log})
	if err := errors.Join(err1, err2); err != nil {
		return served{}, err
	}
	shop, err := api.New(ctx, api.Config{DB: db, Registry: registry, Provider: provider, Jobs: queue, BaseURL: "http://127.0.0.1",
		TTL: api.TTLs{Contact: 48 * time.Hour, Orders: 72 * time.Hour, Payments: 168 * time.Hour}, Log: log})
	engine := gin.New()
	engine.Use(observe(log), gin.CustomRecoveryWithWriter(nil, func(c *gin.Context, _ any) { c.AbortWithStatus(http.StatusInternalServerError) }))
	shop.Routes(engine)
	return served{http.NewCrossOriginProtection().Handler(engine), func() { queue.Close(); closeAnswers(); _ = db.Close() }}, err
}

func newRegistry(cfg serveConfig, db *store.DB, log *slog.Logger, metrics prometheus.Registerer) (*idempotent.Registry, func(), error) {
	engine := idempotent.Config{DB: db, Log: log, Metrics: metrics, CacheBytes: cfg.cache}
	end := func() {}
	if cfg.journal {
		journal := store.OpenJournal(db, "bench", log)
		engine.Journal, end = journal, journal.Close
	}
	if cfg.redis == "" {
		registry, err := idempotent.NewRegistry(engine)
		return registry, end, err
	}
	answers, err := store.OpenAnswers(cfg.redis, db.Instance(), log)
	if err != nil {
		return nil, nil, err
	}
	engine.Answers = answers
	registry, err := idempotent.NewRegistry(engine)
	return registry, func() { end(); _ = answers.Close() }, err
}

// discardingLog formats every line and makes the system call that writes it, but keeps it off the
// disk whose commits are measured.
func discardingLog() (*slog.Logger, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	return slog.New(slog.NewJSONHandler(null, nil)), nil
}

// observe does for a request what the shop's program does: an id, the hints of its headers, headers
// against abuse, and one log line.
func observe(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		began, id := time.Now(), newKey()
		header := c.Writer.Header()
		header.Set("X-Request-Id", id)
		header.Set("Content-Security-Policy", "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		hints := idempotent.Hints{RequestID: id, Retry: c.GetHeader("Retry-Attempt") != ""}
		c.Request = c.Request.WithContext(idempotent.WithHints(c.Request.Context(), hints))
		c.Next()
		log.Log(context.Background(), slog.LevelInfo, "request", "request", id, "method", c.Request.Method, "route", c.FullPath(),
			"status", c.Writer.Status(), "outcome", header.Get("Idempotency-Status"), "ms", float64(time.Since(began).Microseconds())/1000)
	}
}
