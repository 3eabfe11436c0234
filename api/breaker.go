package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sony/gobreaker/v2"

	"example.com/eenmaal/domain"
)

// When the provider is left alone: after some failures in a row, or when half of many calls fail. After
// the pause it is asked one question, which moves no money, and its answer ends the pause or begins
// another one.
const (
	breakerFailures = 5
	breakerCalls    = 20
	breakerWindow   = time.Minute
	breakerPause    = 5 * time.Second
)

// errLeftAlone: the provider was not asked, because it failed too often.
var errLeftAlone = errors.New("the payment provider failed too often and is left alone for a moment")

// guarded is a provider behind a breaker. Without it every payment would wait for a provider that is
// down, and leave a payment in doubt behind.
//
// What counts as a failure is that the provider does not do its work: a "no" of the bank, of the
// provider or of its books is an answer.
type guarded struct {
	domain.PaymentProvider
	breaker *gobreaker.CircuitBreaker[any]
}

func guard(p domain.PaymentProvider, log *slog.Logger) *guarded {
	return &guarded{p, gobreaker.NewCircuitBreaker[any](gobreaker.Settings{
		Name: "payment provider", Interval: breakerWindow, BucketPeriod: breakerWindow / 6, Timeout: breakerPause,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.ConsecutiveFailures >= breakerFailures || c.Requests >= breakerCalls && 2*c.TotalFailures >= c.Requests
		},
		IsSuccessful: func(err error) bool {
			return err == nil || domain.KindOf(err) == domain.Refused || errors.Is(err, domain.ErrNoCharge)
		},
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) }, // it is we who stopped
		OnStateChange: func(_ string, from, to gobreaker.State) {
			log.Warn("breaker of the payment provider", "from", from.String(), "to", to.String())
		},
	})}
}

// asked makes a call unless the provider is left alone.
func asked[T any](g *guarded, call func() (T, error)) (result T, err error) {
	_, err = g.breaker.Execute(func() (any, error) {
		result, err = call()
		return nil, err
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		err = errLeftAlone
	}
	return result, err
}

// Charge asks for money. A provider that is left alone certainly charges nothing.
func (g *guarded) Charge(ctx context.Context, key string, r domain.ChargeRequest) (domain.Charge, error) {
	charge, err := asked(g, func() (domain.Charge, error) { return g.PaymentProvider.Charge(ctx, key, r) })
	if errors.Is(err, errLeftAlone) {
		err = fmt.Errorf("%w: %w", domain.ErrNotCharged, err)
	}
	return charge, err
}

// Find looks a charge up.
func (g *guarded) Find(ctx context.Context, key string, r domain.ChargeRequest) (domain.Charge, error) {
	return asked(g, func() (domain.Charge, error) { return g.PaymentProvider.Find(ctx, key, r) })
}

// Get reads a charge.
func (g *guarded) Get(ctx context.Context, id string) (domain.Charge, error) {
	return asked(g, func() (domain.Charge, error) { return g.PaymentProvider.Get(ctx, id) })
}

// List reads a page of charges.
func (g *guarded) List(ctx context.Context, from, to time.Time, cursor string) (domain.ChargePage, error) {
	return asked(g, func() (domain.ChargePage, error) { return g.PaymentProvider.List(ctx, from, to, cursor) })
}

// Modify changes a charge.
func (g *guarded) Modify(ctx context.Context, key string, r domain.ModifyRequest) (domain.Modified, error) {
	return asked(g, func() (domain.Modified, error) { return g.PaymentProvider.Modify(ctx, key, r) })
}

// FindModification looks a change up.
func (g *guarded) FindModification(ctx context.Context, key string, r domain.ModifyRequest) (domain.Modified, error) {
	return asked(g, func() (domain.Modified, error) { return g.PaymentProvider.FindModification(ctx, key, r) })
}

// refuse says whether a payment should not even begin, before its key is spent.
func (g *guarded) refuse(ctx context.Context) error {
	if err := g.probe(ctx); err != nil {
		refusal := domain.Errorf(domain.Unavailable, "provider_unavailable", "The payment provider does not answer: %w", err)
		refusal.RetryAfter = breakerPause
		return refusal
	}
	return nil
}

// probe asks a provider that has been left alone for long enough for a charge that is not there, and
// gives what that shows: one caller does, the others are told to wait. Otherwise it asks nothing.
func (g *guarded) probe(ctx context.Context) error {
	if g.breaker.State() == gobreaker.StateClosed {
		return nil
	}
	if _, err := g.Get(ctx, "none"); err != nil && !errors.Is(err, domain.ErrNoCharge) {
		return err
	}
	return nil
}

// state is 0 for closed, 1 for half open and 2 for open.
func (g *guarded) state() float64 { return float64(g.breaker.State()) }
