package idempotent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// Config of a Registry. Only DB must be given.
type Config struct {
	DB      *store.DB
	Answers Answers // a copy of finished answers that may vanish at any moment; nil for none
	Log     *slog.Logger
	Metrics prometheus.Registerer

	RetryWindow time.Duration // the longest time a client keeps retrying; every TTL must be longer

	Deadline   time.Duration // of one run, counted from its start whoever hangs up; 12 s
	Lease      time.Duration // of one attempt; longer than Deadline; 30 s
	Patience   time.Duration // how long a duplicate waits for the first answer; 8 s
	MaxWaiters int           // duplicates of one key that may wait in this process; 100
	CacheBytes int           // memory for finished answers; 32 MiB; negative for none

	// Admit says whether a consumer may have one more new run of an endpoint; nil for always. It is asked
	// before the claim; its error is the request's, unless the key turns out to have an answer.
	Admit func(ctx context.Context, consumer domain.Consumer, endpoint string) error

	Journal Journal // hears what happens with keys, for people to read; nil for none

	OperationPath string // where problems say that a key's state is shown; "/v1/operations/"
}

// Answers is a store of finished answers beside the database. An answer never changes once it is
// finished, so a copy is right or absent. Get gives false for every kind of trouble.
type Answers interface {
	Get(ctx context.Context, s domain.Scope) (f domain.Fingerprint, a domain.Answer, ok bool)
	Put(s domain.Scope, f domain.Fingerprint, a domain.Answer, ttl time.Duration)
}

// Registry holds all operations of a program and what they share.
type Registry struct {
	cfg        Config
	flights    flights
	cache      *answerCache
	metrics    metrics
	recent     recentKeys
	audit      audit
	operations []Described
	handlers   []func(caller func(*gin.Context) domain.Consumer) gin.HandlerFunc // of the operations
	completers map[int16]func(context.Context, domain.Unfinished)                // of the phased ones, by number
	running    sync.WaitGroup
}

// Drain waits until all runs have ended, also those whose clients have gone, and until the mismatches
// found are written down. Call it when no new requests can come.
func (r *Registry) Drain(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		r.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// NewRegistry makes an empty registry.
func NewRegistry(cfg Config) (*Registry, error) {
	if cfg.DB == nil {
		return nil, errors.New("idempotent: Config.DB is missing")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	defaultTo(&cfg.Deadline, 12*time.Second)
	defaultTo(&cfg.Lease, 30*time.Second)
	defaultTo(&cfg.Patience, 8*time.Second)
	defaultTo(&cfg.MaxWaiters, 100)
	defaultTo(&cfg.CacheBytes, 32<<20)
	defaultTo(&cfg.OperationPath, "/v1/operations/")
	if cfg.Lease > domain.MaxLease {
		return nil, fmt.Errorf("idempotent: a lease of %s is longer than %s, past which it counts as ended", cfg.Lease, domain.MaxLease)
	}
	r := &Registry{cfg: cfg, cache: newAnswerCache(cfg.CacheBytes), metrics: newMetrics(cfg.Metrics), recent: recentKeys{max: maxRecentKeys},
		completers: map[int16]func(context.Context, domain.Unfinished){}}
	if copies, ok := cfg.Answers.(interface {
		Observe(func(op string, took time.Duration))
	}); ok {
		copies.Observe(func(op string, took time.Duration) {
			r.metrics.store.WithLabelValues("redis", op).Observe(took.Seconds())
		})
	}
	return r, nil
}

func defaultTo[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// Described is what the registry tells of an operation: to the route guard, the documentation and
// the tests.
type Described struct {
	Pattern      string // "POST /v1/orders"
	Kind         string // "local" or "phased"
	TTL          time.Duration
	MaxBody      int64
	BodyOptional bool
	UUIDOnly     bool
	number       int16 // in the database
}

// Mount makes a route of every registered operation, by its pattern. caller gives the authenticated
// consumer, so what refuses strangers must be a middleware of routes.
func (r *Registry) Mount(routes gin.IRoutes, caller func(*gin.Context) domain.Consumer) {
	for i, o := range r.operations {
		method, path, _ := strings.Cut(o.Pattern, " ")
		routes.Handle(method, path, r.handlers[i](caller))
	}
}

// Operations lists all registered operations in the order of their registration.
func (r *Registry) Operations() []Described { return slices.Clone(r.operations) }

// bind gives a pattern its lasting number in the database: keys are scoped by it, so it survives
// restarts and is the same in every replica.
func (r *Registry) bind(ctx context.Context, pattern string) (int16, error) {
	numbers, err := r.cfg.DB.Endpoints(ctx, []string{pattern})
	return numbers[pattern], err
}

// claim reads the record of a key.
func (r *Registry) claim(ctx context.Context, s domain.Scope) (domain.Claim, bool, error) {
	defer r.metrics.timed("database", "claim")()
	return r.cfg.DB.Claim(ctx, s)
}

// outsideKey derives the key that an outside system sees for one step of one operation. It is the
// same on every attempt, and 36 characters long, which fits every provider's limit.
func outsideKey(s domain.Scope, step string) string {
	id := s.Key.ID()
	sum := sha256.Sum256(fmt.Appendf(nil, "%x\x00%d\x00%d\x00%s", id, s.Consumer, s.Endpoint, step))
	derived := uuid.UUID(sum[:16])
	derived[6] = derived[6]&0x0f | 0x80 // version 8: custom
	derived[8] = derived[8]&0x3f | 0x80
	return derived.String()
}
