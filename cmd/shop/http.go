package main

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/api/openapi"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
)

// newServer sets the limits without which one slow or greedy client could hold everybody up. The
// write timeout outlives a run's own deadline.
func newServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 20 * time.Second, IdleTimeout: 60 * time.Second, MaxHeaderBytes: 16 << 10,
	}
}

// handler is everything this process answers.
func (a *app) handler() http.Handler {
	return secureHeaders(strings.HasPrefix(a.cfg.BaseURL, "https://"), straight(a.routes()))
}

func (a *app) routes() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	if err := engine.SetTrustedProxies(a.cfg.TrustedProxies); err != nil {
		a.log.Error("trusted proxies", "error", err) // checked by the configuration
	}
	engine.Use(a.observe, gin.CustomRecoveryWithWriter(nil, a.recover), closeAfterChunks, a.sameOriginForms(), a.limitPages)
	engine.GET("/healthz", func(c *gin.Context) { c.String(http.StatusOK, "alive\n") })
	engine.GET("/readyz", a.readiness)
	engine.GET("/metrics", gin.WrapH(promhttp.HandlerFor(a.metrics, promhttp.HandlerOpts{})))
	if a.provider != nil {
		engine.Any("/psp/v1/*path", gin.WrapH(a.provider.Server))
		engine.Any("/testbank/*path", gin.WrapH(a.provider.Server))
	}
	a.api.Routes(engine)
	openapi.Routes(engine, a.contract())
	a.web.Routes(engine)
	a.consoleRoutes(engine)
	engine.NoRoute(func(c *gin.Context) {
		a.problem(c, domain.Errorf(domain.NotFound, "not_found", "There is nothing at this address."))
	})
	engine.NoMethod(func(c *gin.Context) {
		c.Data(http.StatusMethodNotAllowed, "text/plain; charset=utf-8", []byte("This address does not take "+c.Request.Method+".\n"))
	})
	return engine
}

// contract is what the API's contract says of this shop.
func (a *app) contract() openapi.Settings {
	s := openapi.Settings{TTLContact: a.cfg.TTLContact, TTLOrders: a.cfg.TTLOrders, TTLPayments: a.cfg.TTLPayments,
		RetryWindow: a.cfg.RetryWindow}
	if a.cfg.demo() {
		s.DemoKey = "demo-alpha"
	}
	return s
}

// sameOriginForms refuses what another site sends to change something, and the request's log line says so.
// Calls with a bearer key carry no cookie to abuse and come from programs, which send no Origin.
func (a *app) sameOriginForms() gin.HandlerFunc {
	protection := http.NewCrossOriginProtection()
	return func(c *gin.Context) {
		if protection.Check(c.Request) == nil {
			return
		}
		err := domain.Errorf(domain.Forbidden, "foreign_form", "Another site sent this request, so nothing was done.")
		idempotent.TraceOf(c.Request.Context()).Outcome = err.Code
		a.problem(c, err)
		c.Abort()
	}
}

// straight keeps the router from redirecting a request that changes something, for a slash too many: a
// 307 has the client send it again, key and body, to wherever something in between points.
func straight(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !site.Reads(r) && len(r.URL.Path) > 1 && strings.HasSuffix(r.URL.Path, "/") {
			http.Error(w, "There is nothing at this address.", http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// closeAfterChunks ends the connection after a request whose body came in chunks. Such a request may
// have had a Content-Length too, which net/http drops; something in between may have gone by it, and
// then what follows on the connection would be taken for a request of its own.
func closeAfterChunks(c *gin.Context) {
	if len(c.Request.TransferEncoding) > 0 {
		c.Header("Connection", "close")
	}
}

// observe gives every request an id, tells the operations what the transport knows, and writes one
// log line. Paths are logged by their pattern, since the concrete ones hold tokens, and keys by their
// first characters.
func (a *app) observe(c *gin.Context) {
	begin := time.Now()
	id := uuid.Must(uuid.NewV7()).String()
	c.Header("X-Request-Id", id)
	var trace idempotent.Trace
	hints := idempotent.Hints{RequestID: id, Retry: c.GetHeader("Retry-Attempt") != "", Trace: &trace}
	if !strings.HasPrefix(c.Request.URL.Path, "/v1/") {
		hints.Patience = webPatience
	}
	c.Request = c.Request.WithContext(idempotent.WithHints(c.Request.Context(), hints))
	c.Next()
	level := slog.LevelInfo
	if c.Writer.Status() >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	a.log.Log(context.Background(), level, "request", "request", id, "method", c.Request.Method, "route", c.FullPath(),
		"status", c.Writer.Status(), "consumer", trace.Consumer, "key", trace.Key,
		"outcome", cmp.Or(trace.Outcome, c.Writer.Header().Get("Idempotency-Status")),
		"ms", float64(time.Since(begin).Microseconds())/1000)
}

// webPatience is how long a second click waits for the first one's answer: people see no error for
// having clicked twice.
const webPatience = 15 * time.Second

// secureHeaders are for everything, replays and refusals included: what the API sends is data, to be shown
// and run by nobody. The pages have a policy of their own.
func secureHeaders(https bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		if https {
			h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
		}
		next.ServeHTTP(w, r)
	})
}

// recover answers after a panic outside an operation.
func (a *app) recover(c *gin.Context, p any) {
	a.log.Error("panic", "route", c.FullPath(), "panic", p)
	a.problem(c, domain.Errorf(domain.Unavailable, "retry_same_key", "%s", domain.Sentence("retry_same_key")))
}

// problem answers a program with a problem document and a person with a page.
func (a *app) problem(c *gin.Context, err error) {
	if strings.HasPrefix(c.Request.URL.Path, "/v1/") {
		idempotent.WriteProblem(c, err)
		return
	}
	a.web.Problem(c, err)
}

// readiness is what a load balancer asks. Redis may be missing: the shop is slower then, not wrong.
func (a *app) readiness(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), time.Second)
	defer cancel()
	switch {
	case !a.ready.Load():
		c.String(http.StatusServiceUnavailable, "stopping\n")
	case a.db.Ping(ctx) != nil:
		c.String(http.StatusServiceUnavailable, "database: no answer\n")
	case a.answers != nil && a.answers.Ping(ctx) != nil:
		c.String(http.StatusOK, "ready, without redis\n")
	default:
		c.String(http.StatusOK, "ready\n")
	}
}
