// Command shop is the whole product: the shop's pages, its API, the background jobs and, in the demo,
// the payment provider. Without arguments it runs all of them in one process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"example.com/eenmaal/store"
)

type commands struct {
	All         allCmd         `cmd:"" default:"1" hidden:"" help:"Shop, API and background jobs in one process (the default)."`
	Serve       serveCmd       `cmd:"" help:"Shop and API, without background jobs."`
	Worker      workerCmd      `cmd:"" help:"Background jobs only."`
	PSP         pspCmd         `cmd:"" name:"psp" help:"The simulated payment provider only."`
	Migrate     migrateCmd     `cmd:"" help:"Bring the database up to date and exit."`
	Healthcheck healthcheckCmd `cmd:"" help:"Ask a running shop whether it is ready; exit 1 if not."`
	Password    passwordCmd    `cmd:"" help:"Read a password and print its hash, for ADMIN_PASSWORD_HASH."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
}

type (
	allCmd         struct{}
	serveCmd       struct{}
	workerCmd      struct{}
	pspCmd         struct{}
	migrateCmd     struct{}
	healthcheckCmd struct{}
	versionCmd     struct{}
)

const about = "Eenmaal: order and pay once. Without a command: shop, API and background jobs in one process. " +
	"All settings are environment variables; README.md has their table."

func main() {
	chosen := kong.Parse(&commands{}, kong.Name("shop"), kong.Description(about), kong.UsageOnError())
	if err := chosen.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		if _, bad := errors.AsType[*ConfigError](err); bad {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// start reads the configuration and gives a context that ends with Ctrl-C or SIGTERM. A second
// Ctrl-C ends the program at once.
func start() (context.Context, Config, *slog.Logger, error) {
	cfg, err := LoadConfig(nil)
	if err != nil {
		return nil, cfg, nil, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, cfg, newLog(os.Stderr, cfg.LogFormat), nil
}

func newLog(w io.Writer, format string) *slog.Logger {
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// Run is the whole product in one process.
func (allCmd) Run() error { return run(parts{http: true, jobs: true}) }

// Run serves without working on jobs.
func (serveCmd) Run() error { return run(parts{http: true}) }

// Run works on jobs without serving.
func (workerCmd) Run() error { return run(parts{jobs: true}) }

func run(p parts) error {
	ctx, cfg, log, err := start()
	if err != nil {
		return err
	}
	app, err := newApp(ctx, cfg, log)
	if err != nil {
		return err
	}
	return app.run(ctx, p, os.Stdout)
}

// Run serves the simulated provider on ADDR, with its ledger in DATA_DIR.
func (pspCmd) Run() error {
	ctx, cfg, log, err := start()
	if err != nil {
		return err
	}
	shop := os.Getenv("BASE_URL") // without it the configuration makes one of ADDR, which is the provider's here
	provider, err := openProvider(cfg, log, shop, shop)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/psp/v1/", provider)
	mux.Handle("/testbank/", provider)
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ready\n") })
	listener, err := listen(ctx, cfg.Addr)
	if err != nil {
		return errors.Join(err, provider.Close())
	}
	server := newServer(mux)
	fmt.Println("simulated payment provider on", listener.Addr())
	go func() {
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.ShutdownTimeout)
		defer cancel()
		_ = server.Shutdown(stop) // what still runs is cut off; the ledger is durable
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(err, provider.Close())
	}
	return provider.Close()
}

// Run migrates, and in the demo seeds.
func (migrateCmd) Run() error {
	ctx, cfg, log, err := start()
	if err != nil {
		return err
	}
	db, err := openStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // nothing is pending
	fmt.Println(db, "is up to date")
	return nil
}

// Run asks /readyz of the shop that has the same configuration.
func (healthcheckCmd) Run() error {
	cfg, err := LoadConfig(nil)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return err
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", resp.Status)
	}
	return nil
}

// Run prints the version.
func (versionCmd) Run() error {
	fmt.Println("eenmaal", version())
	return nil
}

// version is the commit the binary was built from, where that is known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return strings.Trim(info.Main.Version, "()")
}

func openStore(ctx context.Context, cfg Config, log *slog.Logger) (*store.DB, error) {
	db, err := store.Open(ctx, store.Config{URL: cfg.DatabaseURL, Dir: cfg.DataDir, Pool: poolOf(cfg), Log: log})
	if err != nil {
		return nil, err
	}
	if err := seed(ctx, cfg, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// poolOf leaves SQLite, which has one writer whatever one asks for, its own size.
func poolOf(cfg Config) int {
	if cfg.DatabaseURL == "" {
		return 0
	}
	return cfg.DatabasePool
}
