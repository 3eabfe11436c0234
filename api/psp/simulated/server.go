package simulated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// silence is how long an unanswered client is kept waiting when it does not give up by itself.
const silence = 30 * time.Second

// ServerConfig configures a Server. Only Path is required.
type ServerConfig struct {
	Path   string           // the ledger's own SQLite file; its folder must exist
	Log    *slog.Logger     // default: discard
	Now    func() time.Time // default: time.Now
	Slow   time.Duration    // how long tok_slow takes; default 8 s
	KeyTTL time.Duration    // how long a key is remembered; default 24 h
}

// Server is the provider's side: an http.Handler for /psp/v1/.
//
// It makes at most one charge per key for as long as it remembers the key, whatever overlaps,
// repeats or crashes. After KeyTTL a key is new again, as with real providers: who retries later
// than that must look the charge up first.
type Server struct {
	ledger *ledger
	keys   keyLocks
	log    *slog.Logger
	now    func() time.Time
	slow   time.Duration
	routes *http.ServeMux

	open     sync.RWMutex // held for reading by every request, so that Close can wait for them
	closed   bool
	stopping context.Context // ends when Close begins, to wake up those who wait on purpose
	stop     context.CancelFunc
}

// NewServer opens the ledger, making it when there is none, and gives a server that is ready.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.Path == "" {
		return nil, errors.New("simulated provider: Path is missing")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	ledger, err := openLedger(cfg.Path, cmp.Or(cfg.KeyTTL, 24*time.Hour), cfg.Now)
	if err != nil {
		return nil, fmt.Errorf("open the provider's ledger %s: %w", cfg.Path, err)
	}
	s := &Server{
		ledger: ledger, log: cfg.Log, now: cfg.Now,
		slow: cmp.Or(cfg.Slow, 8*time.Second), routes: http.NewServeMux(),
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.routes.HandleFunc("POST "+chargesPath, s.postCharge)
	s.routes.HandleFunc("GET "+chargesPath, s.getCharges)
	s.routes.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(http.StatusNotFound, "not_found", "There is nothing at this address.").writeTo(w)
	})
	return s, nil
}

// ServeHTTP answers one request. A charge that has begun is finished even when its client hangs up.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.open.RLock()
	defer s.open.RUnlock()
	if s.closed {
		refuse(http.StatusServiceUnavailable, "closed", "The provider is shutting down.").writeTo(w)
		return
	}
	s.routes.ServeHTTP(w, r)
}

// Close ends deliberate waits, lets running requests finish and closes the ledger. A slow charge
// that was still waiting is not made.
func (s *Server) Close() error {
	s.stop()
	s.open.Lock()
	defer s.open.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.ledger.close()
}

// fail logs an error of the ledger and gives an answer that promises nothing about the charge.
func (s *Server) fail(err error) reply {
	s.log.Error("provider's ledger failed", "error", err)
	return refuse(http.StatusInternalServerError, "internal", "The provider failed.")
}
