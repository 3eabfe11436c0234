package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"example.com/eenmaal/api"
	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/api/openapi"
	"example.com/eenmaal/api/outbound"
	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/api/smtp"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/jobs"
	"example.com/eenmaal/web"
)

// app is one process of the shop, opened but not yet running.
type app struct {
	cfg      Config
	log      *slog.Logger
	db       *store.DB
	answers  *store.Answers // nil without Redis
	journal  *store.Journal // nil when it is switched off
	registry *idempotent.Registry
	limits   limits
	presses  presses
	jobs     *jobs.Queue
	api      *api.API
	web      *web.Web
	metrics  *prometheus.Registry
	provider *localProvider // nil when the provider runs elsewhere
	ready    atomic.Bool

	closing context.Context // ends when the app is closed
	end     context.CancelFunc
}

// parts are what a process does.
type parts struct{ http, jobs bool }

func newApp(ctx context.Context, cfg Config, log *slog.Logger) (a *app, err error) {
	a = &app{cfg: cfg, log: log, metrics: prometheus.NewRegistry()}
	a.closing, a.end = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	a.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if a.db, err = openStore(ctx, cfg, log); err != nil {
		return nil, err
	}
	a.metrics.MustRegister(collectors.NewDBStatsCollector(a.db.SQL(), "shop"))
	registry := idempotent.Config{DB: a.db, Log: log, Metrics: a.metrics, RetryWindow: cfg.RetryWindow}
	if registry.Lease, err = failpointLease(); err != nil {
		return nil, err
	}
	if cfg.RedisURL != "" {
		if a.answers, err = store.OpenAnswers(cfg.RedisURL, a.db.Instance(), log); err != nil {
			return nil, err
		}
		registry.Answers = a.answers
	}
	a.openJournal(&registry)
	a.measureRedis()
	a.limits, a.presses = a.newLimits(), a.newPresses()
	registry.Admit = a.limits.admit
	if a.registry, err = idempotent.NewRegistry(registry); err != nil {
		return nil, err
	}
	provider, err := a.openProvider(ctx)
	if err != nil {
		return nil, err
	}
	mailer, err := newMailer(cfg)
	if err != nil {
		return nil, err
	}
	if a.jobs, err = jobs.New(ctx, jobs.Config{DB: a.db, ListenURL: cfg.DatabaseURL, Mailer: mailer, Log: quiet(log), Expiry: a.expiry()}); err != nil {
		return nil, err
	}
	a.measureJobs()
	a.measureUnfinished()
	events, err := simulated.NewEventReader(cfg.WebhookSecret, a.db.Now)
	if err != nil {
		return nil, err
	}
	a.api, err = api.New(ctx, api.Config{
		DB: a.db, Registry: a.registry, Provider: provider, Events: map[string]domain.EventReader{"simulated": events},
		Jobs: a.jobs, BaseURL: cfg.BaseURL, Log: log, Metrics: a.metrics,
		Outbound: outbound.New(outbound.Config{Demo: cfg.demo()}), RetryWindow: cfg.RetryWindow,
		TTL: api.TTLs{Contact: cfg.TTLContact, Orders: cfg.TTLOrders, Payments: cfg.TTLPayments}, OrderExpiry: cfg.OrderExpiry,
		Limits: a.limits.api(),
	})
	if err != nil {
		return nil, err
	}
	a.api.ScheduleReconciliation()
	pages := web.Config{
		Ops:    web.Ops{PlaceOrder: a.api.PlaceOrder, PayOrder: a.api.PayOrder, SubmitContact: a.api.SubmitContact},
		Reader: a.db, Drafts: a.db, BaseURL: cfg.BaseURL, PaymentPages: cfg.PSPPublicURL, Demo: cfg.demo(), SessionSecret: []byte(cfg.SessionSecret),
		CheckoutTTL: cfg.TTLOrders, Now: a.db.Now, Log: log, Version: version(), Desk: a.desk(),
	}
	if a.journal != nil {
		pages.Timelines = a.journal
	}
	a.web, err = web.New(pages)
	return a, err
}

// openProvider gives the payment provider, which is always called over HTTP. One that lives in this
// process has a listener of its own, so that it still answers while the shop's own is draining.
func (a *app) openProvider(ctx context.Context) (domain.PaymentProvider, error) {
	address := a.cfg.PSPURL
	if address == "" {
		var err error
		if a.provider, err = startLocalProvider(ctx, a.cfg, a.log); err != nil {
			return nil, err
		}
		address = a.provider.url
	}
	return simulated.NewClient(simulated.ClientConfig{BaseURL: address, Log: a.log})
}

// newMailer gives nil when no server is configured: mails are then kept and shown.
func newMailer(cfg Config) (domain.Mailer, error) {
	if cfg.SMTPURL == "" {
		return nil, nil
	}
	return smtp.New(cfg.SMTPURL, cfg.MailFrom)
}

// quiet leaves out the job queue's chatter.
func quiet(log *slog.Logger) *slog.Logger { return slog.New(levelHandler{log.Handler()}) }

type levelHandler struct{ slog.Handler }

func (h levelHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }
func (h levelHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return levelHandler{h.Handler.WithAttrs(a)}
}
func (h levelHandler) WithGroup(name string) slog.Handler {
	return levelHandler{h.Handler.WithGroup(name)}
}

// run serves until ctx ends, then drains: not ready, no new connections, running requests end, then
// the jobs, then the provider, then the database.
func (a *app) run(ctx context.Context, p parts, out io.Writer) error {
	defer a.close()
	work, err := withFailpoints(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	var listener net.Listener
	if p.http { // before the jobs: whose port is taken stops before it works
		if listener, err = listen(ctx, a.cfg.Addr); err != nil {
			return err
		}
		defer func() { _ = listener.Close() }() // when the jobs do not start; else Shutdown has closed it
	}
	if p.jobs {
		if err := a.jobs.Start(work); err != nil {
			return fmt.Errorf("start jobs: %w", err)
		}
	}
	failed := make(chan error, 1)
	var server *http.Server
	if p.http {
		server = newServer(a.handler())
		server.BaseContext = func(net.Listener) context.Context { return work }
		a.ready.Store(true)
		a.banner(out, p)
		go func() { failed <- server.Serve(listener) }()
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return a.drain(server, p)
}

// listen opens ADDR. An error names the setting, because the remedy is another value for it.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("ADDR=%s: %w", addr, err)
	}
	return listener, nil
}

func (a *app) drain(server *http.Server, p parts) error {
	a.ready.Store(false)
	a.log.Info("stopping: finishing what runs")
	time.Sleep(a.cfg.DrainDelay)
	ctx, cancel := context.WithTimeout(context.Background(), a.cfg.ShutdownTimeout)
	defer cancel()
	var errs []error
	if server != nil {
		errs = append(errs, server.Shutdown(ctx), a.registry.Drain(ctx))
	}
	if p.jobs {
		errs = append(errs, a.jobs.Stop(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stopped before everything had ended; a retry finishes it: %w", err)
	}
	a.log.Info("stopped")
	return nil
}

// close frees what newApp opened, in reverse.
func (a *app) close() {
	a.end()
	if a.jobs != nil {
		a.jobs.Close()
	}
	if a.provider != nil {
		a.provider.close()
	}
	if a.journal != nil {
		a.journal.Close()
	}
	var errs []error
	if a.answers != nil {
		errs = append(errs, a.answers.Close())
	}
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	if err := errors.Join(errs...); err != nil {
		a.log.Warn("closing", "error", err)
	}
}

// banner tells what runs and where to look.
func (a *app) banner(w io.Writer, p parts) {
	database := a.db.String()
	if !a.db.Postgres() {
		database += " (" + filepath.Join(a.cfg.DataDir, "eenmaal.db") + ")"
	}
	redis, provider, jobsHere := "none", "in this process", "in this process"
	if a.answers != nil {
		redis = "a copy of finished answers"
	}
	if a.cfg.PSPURL != "" {
		provider = "at " + a.cfg.PSPURL
	}
	listens := ""
	if !a.cfg.baseUnset { // the links below then do not tell it
		listens = "\n  listens    " + a.cfg.Addr
	}
	if !p.jobs {
		jobsHere = "elsewhere (shop worker)"
	}
	fmt.Fprintf(w, `Eenmaal %s, mode %s%s
  database   %s
  redis      %s
  provider   simulated, %s
  jobs       %s
  answers    kept for %s (contact), %s (orders), %s (payments); clients retry for at most %s

  Shop       %s/
`, version(), a.cfg.Mode, listens, database, redis, provider, jobsHere,
		openapi.Short(a.cfg.TTLContact), openapi.Short(a.cfg.TTLOrders), openapi.Short(a.cfg.TTLPayments), openapi.Short(a.cfg.RetryWindow), a.cfg.BaseURL)
	if a.cfg.demo() {
		fmt.Fprintf(w, "  Mailbox    %s/mailbox\n", a.cfg.BaseURL)
	}
	if a.desk() != nil {
		fmt.Fprintf(w, "  Desk       %s/admin\n", a.cfg.BaseURL)
	}
	fmt.Fprintf(w, "  API docs   %s/docs\n\n", a.cfg.BaseURL)
}

// localProvider is the simulated provider inside this process, on a socket of its own.
type localProvider struct {
	*simulated.Server
	server *http.Server
	url    string
}

// openProvider opens the simulated provider. shop is the shop's address as customers know it, and
// webhooks where its events go when no setting says otherwise; both may be unknown.
func openProvider(cfg Config, log *slog.Logger, shop, webhooks string) (*simulated.Server, error) {
	if err := os.MkdirAll(cfg.DataDir, 0o750); err != nil {
		return nil, err
	}
	if webhooks != "" {
		webhooks += "/v1/webhooks/simulated"
	}
	return simulated.NewServer(simulated.ServerConfig{
		Path: filepath.Join(cfg.DataDir, "provider.db"), Log: log, PublicURL: cfg.PSPPublicURL, ReturnBase: shop,
		WebhookURL: cmp.Or(cfg.PSPWebhookURL, webhooks), WebhookSecret: cfg.WebhookSecret[0],
	})
}

// ownAddress is where this process reaches itself.
func ownAddress(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" || net.ParseIP(host).IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

func startLocalProvider(ctx context.Context, cfg Config, log *slog.Logger) (*localProvider, error) {
	provider, err := openProvider(cfg, log, cfg.BaseURL, ownAddress(cfg.Addr))
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, provider.Close())
	}
	p := &localProvider{Server: provider, server: newServer(provider), url: "http://" + listener.Addr().String()}
	go func() { _ = p.server.Serve(listener) }() // ends with close
	return p, nil
}

func (p *localProvider) close() {
	_ = p.server.Close() // the shop has no more questions
	_ = p.Server.Close() // its ledger is durable at every moment
}
