package simulated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"example.com/eenmaal/domain"
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

	PublicURL  string        // where customers reach /testbank/; without it no way to pay that needs a page is supported
	ReturnBase string        // the shop's address: when set, a customer is sent back to no other
	PageTTL    time.Duration // how long a customer may take; default 30 min

	WebhookURL    string // where events go; without it they are kept and not sent
	WebhookSecret string // signs them: whsec_ and base64 of at least 24 bytes
}

// Server is the provider's side: an http.Handler for /psp/v1/ and for the hosted pages /testbank/.
//
// It makes at most one charge per key for as long as it remembers the key, whatever overlaps,
// repeats or crashes. After KeyTTL a key is new again, as with real providers: who retries later
// than that must look the charge up first.
type Server struct {
	ledger *ledger
	keys   keyLocks
	faults faults
	log    *slog.Logger
	now    func() time.Time
	slow   time.Duration
	routes *http.ServeMux

	public     atomic.Value // PublicURL
	returnBase *url.URL     // nil: any
	pageTTL    time.Duration

	webhook atomic.Value // WebhookURL
	signer  *standardwebhooks.Webhook
	http    *http.Client
	wake    chan struct{}

	open     sync.RWMutex // held for reading by every request, so that Close can wait for them
	closed   bool
	stopping context.Context // ends when Close begins, to wake up those who wait on purpose
	stop     context.CancelFunc
	sender   sync.WaitGroup
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
	s := &Server{
		log: cfg.Log, now: cfg.Now, slow: cmp.Or(cfg.Slow, 8*time.Second), pageTTL: cmp.Or(cfg.PageTTL, 30*time.Minute),
		http: httpClient(nil), wake: make(chan struct{}, 1),
	}
	var err error
	if s.returnBase, err = readReturnBase(cfg.ReturnBase); err != nil {
		return nil, fmt.Errorf("simulated provider: ReturnBase: %w", err)
	}
	if cfg.WebhookURL != "" || cfg.WebhookSecret != "" {
		if s.signer, err = newSigner(cfg.WebhookSecret); err != nil {
			return nil, fmt.Errorf("simulated provider: WebhookSecret: %w", err)
		}
	}
	if s.ledger, err = openLedger(cfg.Path, cmp.Or(cfg.KeyTTL, 24*time.Hour), cfg.Now); err != nil {
		return nil, fmt.Errorf("open the provider's ledger %s: %w", cfg.Path, err)
	}
	s.SetPublicURL(cfg.PublicURL)
	s.SetWebhookURL(cfg.WebhookURL)
	s.routes = s.router()
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.sender.Go(func() { s.sendEvents(s.stopping) })
	return s, nil
}

func (s *Server) router() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+chargesPath, s.postCharge)
	mux.HandleFunc("GET "+chargesPath, s.getCharges)
	mux.HandleFunc("GET "+chargesPath+"/{id}", s.getCharge)
	mux.HandleFunc("POST "+chargesPath+"/{id}/captures", s.postModification(domain.Capture))
	mux.HandleFunc("POST "+chargesPath+"/{id}/voids", s.postModification(domain.Void))
	mux.HandleFunc("POST "+chargesPath+"/{id}/refunds", s.postModification(domain.Refund))
	mux.HandleFunc("GET "+modificationsPath, s.getModifications)
	mux.HandleFunc("POST "+faultsPath, s.postFault)
	mux.HandleFunc("GET "+pagesPath+"{id}", s.getPage)
	mux.HandleFunc("POST "+pagesPath+"{id}", s.postPage)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(http.StatusNotFound, "not_found", "There is nothing at this address.").writeTo(w)
	})
	return mux
}

// SetPublicURL changes ServerConfig.PublicURL for the charges to come.
func (s *Server) SetPublicURL(address string) { s.public.Store(strings.TrimRight(address, "/")) }

// SetWebhookURL changes ServerConfig.WebhookURL. Events that were kept are sent there. There must be
// a WebhookSecret.
func (s *Server) SetWebhookURL(address string) {
	s.webhook.Store(address)
	s.wakeSender()
}

func (s *Server) publicURL() string  { return s.public.Load().(string) }
func (s *Server) webhookURL() string { return s.webhook.Load().(string) }

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
// that was still waiting is not made, and events that were not delivered are sent after a restart.
func (s *Server) Close() error {
	s.stop()
	s.sender.Wait()
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
