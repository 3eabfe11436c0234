package idempotent

import (
	"errors"
	"log/slog"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

func gone(claim domain.Claim) error {
	err := domain.Errorf(domain.Expired, "idempotency_key_expired", "The answer of this key is no longer kept. The request was not run again.")
	err.Resource = resourceOf(claim)
	return err
}

func resourceOf(claim domain.Claim) string {
	if claim.Resource != "" {
		return claim.Resource
	}
	return claim.Answer.Header.Get("Location")
}

// public gives an error that may leave the program. What was not foreseen is logged here, once, and
// told as a failure on our side.
func (o *Operation[In, Out]) public(cmd command[In], err error) error {
	if known, ok := errors.AsType[*domain.Error](err); ok {
		if known.Kind == domain.Unknown {
			o.registry.metrics.unknown.Inc()
		}
		if known.Unwrap() != nil {
			o.log(cmd, outcome(Reply{}, known)).Warn("operation failed", "error", err)
		}
		return known
	}
	if errors.Is(err, store.ErrKeySpent) {
		return gone(domain.Claim{})
	}
	if store.IsDown(err) || errors.Is(err, store.ErrCommitUnknown) {
		o.log(cmd, "retryable").Warn("operation failed", "error", err)
		return domain.Errorf(domain.Unavailable, "store_unavailable", "%s", domain.Sentence("store_unavailable"))
	}
	o.log(cmd, "retryable").Error("operation failed", "error", err)
	return domain.Errorf(domain.Unavailable, "retry_same_key", "%s", domain.Sentence("retry_same_key"))
}

// log is for lines about one request. The key is cut short, and the values of fields are never told.
func (o *Operation[In, Out]) log(cmd command[In], outcome string) *slog.Logger {
	return o.registry.cfg.Log.With("endpoint", o.Pattern, "key", cmd.scope.Key.Short(), "consumer", cmd.consumer,
		"request", cmd.hints.RequestID, "outcome", outcome)
}
