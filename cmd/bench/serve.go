package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/psp/simulated"
)

// served is what one child serves, and how it ends.
type served struct {
	handler http.Handler
	close   func()
}

// serveConfig is what the parent tells a child.
type serveConfig struct {
	role, database, dir, redis, provider string
	cache                                int
	journal                              bool
	slow                                 time.Duration
}

// serve is the child's side: it listens, tells its address, and ends when its input ends.
func serve(args []string) error {
	var cfg serveConfig
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.StringVar(&cfg.role, "role", "", "shop, provider, bare or textbook")
	flags.StringVar(&cfg.database, "database", "", "Postgres; empty for SQLite in -dir")
	flags.StringVar(&cfg.dir, "dir", "", "where files go")
	flags.StringVar(&cfg.redis, "redis", "", "Redis; empty for none")
	flags.StringVar(&cfg.provider, "provider", "", "the payment provider")
	flags.IntVar(&cfg.cache, "cache", 0, "bytes of memory for finished answers; negative for none")
	flags.BoolVar(&cfg.journal, "journal", false, "keep a journal of keys")
	flags.DurationVar(&cfg.slow, "slow", time.Second, "how long a slow payment takes")
	profile := flags.String("profile", "", "leave a CPU profile here")
	if err := flags.Parse(args); err != nil {
		return err
	}
	gin.SetMode(gin.ReleaseMode)
	stop, err := startProfile(*profile)
	if err != nil {
		return err
	}
	defer stop()
	s, err := build(context.Background(), cfg)
	if err != nil {
		return err
	}
	defer s.close()
	return serveUntilEOF(s.handler)
}

func build(ctx context.Context, cfg serveConfig) (served, error) {
	switch cfg.role {
	case "shop":
		return newShop(ctx, cfg)
	case "bare":
		return newBare(cfg)
	case "textbook":
		return newTextbook(cfg)
	case "provider":
		psp, err := simulated.NewServer(simulated.ServerConfig{Path: filepath.Join(cfg.dir, "provider.db"), Slow: cfg.slow})
		return served{psp, func() { _ = psp.Close() }}, err
	default:
		return served{}, fmt.Errorf("no such role: %s", cfg.role)
	}
}

func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = file.Close() }, nil
}

func serveUntilEOF(handler http.Handler) error {
	listener, err := listen()
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent
		_ = server.Close()                   // nothing is under way: the parent waits for its answers
	}()
	fmt.Println(listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// listen takes a free port that the kernel gives to no client: from 32768 on, a connection of the
// load could have it.
func listen() (net.Listener, error) {
	var err error
	for range 100 {
		var l net.Listener
		//nolint:noctx // binding a loopback port does not wait
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 12000+rand.IntN(20000))); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no free port: %w", err)
}
