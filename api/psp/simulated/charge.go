package simulated

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"time"

	"example.com/eenmaal/domain"
)

// postCharge charges a card once per key. A succeeded charge is answered with 201 and a declined one
// with 402, both with the charge; every repeat of the key gets the same bytes.
func (s *Server) postCharge(w http.ResponseWriter, r *http.Request) {
	key, req, bad := readCharge(w, r)
	if bad != nil {
		bad.writeTo(w)
		return
	}
	answer, how, err := s.chargeOnce(r.Context(), key, req)
	if err != nil {
		return // gave up while an earlier request with its key was running
	}
	switch how {
	case tellTruth:
		answer.writeTo(w)
	case tellFailure:
		refuse(http.StatusInternalServerError, "internal", "The provider failed.").writeTo(w)
	case tellNothing:
		s.wait(r.Context(), silence)
		refuse(http.StatusGatewayTimeout, "timeout", "The provider took too long.").writeTo(w)
	}
}

// chargeOnce takes the key's turn and settles the request. The turn ends before the client is told,
// so a client that is left without an answer can ask again at once.
func (s *Server) chargeOnce(ctx context.Context, key string, req chargeRequest) (reply, telling, error) {
	release, err := s.keys.take(ctx, key)
	if err != nil {
		return reply{}, 0, err
	}
	defer release()
	// A provider does not drop a charge because its client went away.
	answer, how := s.settle(context.WithoutCancel(ctx), key, req)
	return answer, how, nil
}

func (s *Server) settle(ctx context.Context, key string, req chargeRequest) (reply, telling) {
	mark := req.fingerprint()
	if answer, known := s.recall(ctx, key, mark); known {
		return answer, tellTruth
	}
	card, ok := cards[req.Token]
	if !ok {
		return notCharged(http.StatusUnprocessableEntity, codeUnsupportedToken, "This card token is not supported."), tellTruth
	}
	if card.refuseOnce {
		tries, err := s.ledger.countTry(ctx, key, mark)
		if err != nil {
			return s.fail(err), tellTruth
		}
		if tries == 1 {
			return notCharged(http.StatusServiceUnavailable, codeUnavailable, "The provider is unavailable."), tellTruth
		}
	}
	if card.slow && !s.wait(ctx, s.slow) {
		return notCharged(http.StatusServiceUnavailable, codeUnavailable, "The provider is shutting down."), tellTruth
	}
	return s.record(ctx, key, req, mark, card)
}

// recall gives the answer that the key already has, or the refusal when it was used for something else.
func (s *Server) recall(ctx context.Context, key, mark string) (answer reply, known bool) {
	memory, err := s.ledger.memory(ctx, key)
	switch {
	case err != nil:
		return s.fail(err), true
	case memory == nil:
		return reply{}, false
	case memory.fingerprint != mark:
		return refuse(http.StatusUnprocessableEntity, "key_reused", "This key was used for another request."), true
	default:
		return memory.answer, memory.answer.status != 0
	}
}

// record writes the charge and the key's answer in one commit. The ledger refuses a second charge
// for the key, which only another process on the same file could have made; its answer is ours then.
func (s *Server) record(ctx context.Context, key string, req chargeRequest, mark string, card card) (reply, telling) {
	made := req.charge(key, card.outcome, s.now())
	status := http.StatusCreated
	if card.outcome == domain.ChargeDeclined {
		status = http.StatusPaymentRequired
	}
	answer := jsonReply(status, made)
	first, err := s.ledger.record(ctx, made, mark, answer)
	if err != nil {
		return s.fail(err), tellTruth
	}
	if !first {
		answer, known := s.recall(ctx, key, mark)
		if !known {
			return refuse(http.StatusInternalServerError, "internal", "The provider failed."), tellTruth
		}
		return answer, tellTruth
	}
	s.log.Info("charge recorded", "charge", made.ID, "reference", made.Reference,
		"amount", made.Amount, "currency", made.Currency, "status", made.Status)
	return answer, card.telling
}

// wait sleeps. It gives false when ctx or the server ended first.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	case <-s.stopping.Done():
		return false
	}
}

func (r chargeRequest) charge(key string, outcome domain.ChargeStatus, now time.Time) charge {
	c := charge{
		ID: "ch_" + strings.ToLower(rand.Text()), Reference: r.Reference, IdempotencyKey: key,
		Amount: r.Amount, Currency: r.Currency, Status: string(outcome),
		CreatedAt: now.UTC().Truncate(time.Millisecond), // the precision of the ledger
	}
	if outcome == domain.ChargeSucceeded {
		c.Captured = r.Amount
	}
	return c
}
