package simulated

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/http"
	"strings"
	"time"

	"example.com/eenmaal/domain"
)

// postCharge charges once per key. A charge that succeeded or is reserved is answered with 201, one
// that awaits the customer with 202 and a declined one with 402, all with the charge; every repeat of
// the key gets the same bytes.
func (s *Server) postCharge(w http.ResponseWriter, r *http.Request) {
	key, req, bad := readCharge(w, r)
	if bad != nil {
		bad.writeTo(w)
		return
	}
	s.answerOnce(w, r, key, func(ctx context.Context) (reply, telling) { return s.settleCharge(ctx, key, req) })
}

// answerOnce runs do in the key's turn and tells the client as do decided. The turn ends before the
// client is told, so a client that is left without an answer can ask again at once.
func (s *Server) answerOnce(w http.ResponseWriter, r *http.Request, key string, do func(context.Context) (reply, telling)) {
	answer, how, err := s.inTurn(r.Context(), key, do)
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

func (s *Server) inTurn(ctx context.Context, key string, do func(context.Context) (reply, telling)) (reply, telling, error) {
	release, err := s.keys.take(ctx, key)
	if err != nil {
		return reply{}, 0, err
	}
	defer release()
	// A provider does not drop a charge because its client went away.
	answer, how := do(context.WithoutCancel(ctx))
	return answer, how, nil
}

func (s *Server) settleCharge(ctx context.Context, key string, req chargeRequest) (reply, telling) {
	mark := req.fingerprint()
	if answer, known := s.recall(ctx, key, mark); known {
		return answer, tellTruth
	}
	card, bad := s.cardFor(req)
	if bad != nil {
		return *bad, tellTruth
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
	return s.recordCharge(ctx, s.newEntry(key, req, card.outcome), mark, card.telling)
}

// cardFor gives the behaviour that was asked for, or the answer that it cannot be had here.
func (s *Server) cardFor(req chargeRequest) (card, *reply) {
	card, ok := req.card()
	switch needsPage := card.outcome == domain.ChargePending; {
	case !ok || needsPage && s.publicURL() == "":
		re := notCharged(http.StatusUnprocessableEntity, codeUnsupportedToken, "This way to pay is not supported.")
		return card, &re
	case needsPage && !s.mayReturnTo(req.ReturnURL):
		re := notCharged(http.StatusUnprocessableEntity, "return_url_refused", "The return address is not one of the shop's.")
		return card, &re
	}
	return card, nil
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

// recordCharge writes the charge, its event and the key's answer in one commit.
func (s *Server) recordCharge(ctx context.Context, e entry, mark string, how telling) (reply, telling) {
	answer, first, err := s.ledger.once(ctx, e.IdempotencyKey, mark, func(tx *sql.Tx) (reply, error) {
		if err := insertEntry(ctx, tx, e); err != nil {
			return reply{}, err
		}
		return jsonReply(answerStatus(e.charge), e.charge), insertEvent(ctx, tx, eventOf("charge."+e.Status, e.charge, s.now()), sending{copies: 1})
	})
	if err != nil || !first {
		return s.second(ctx, e.IdempotencyKey, mark, err), tellTruth
	}
	s.log.Info("charge recorded", "charge", e.ID, "reference", e.Reference,
		"amount", e.Amount, "currency", e.Currency, "status", e.Status)
	s.wakeSender()
	return answer, how
}

// second is the answer of a request whose key was answered meanwhile, which only another process on
// the same file can have done; its answer is ours then.
func (s *Server) second(ctx context.Context, key, mark string, err error) reply {
	if err != nil {
		return s.fail(err)
	}
	answer, known := s.recall(ctx, key, mark)
	if !known {
		return refuse(http.StatusInternalServerError, "internal", "The provider failed.")
	}
	return answer
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

func (s *Server) newEntry(key string, r chargeRequest, outcome domain.ChargeStatus) entry {
	now := s.now().UTC().Truncate(time.Millisecond) // the precision of the ledger
	e := entry{
		charge: charge{
			ID: newID("ch"), Reference: r.Reference, IdempotencyKey: key, Amount: r.Amount, Currency: r.Currency,
			Status: string(outcome), Version: 1, CreatedAt: now, UpdatedAt: now,
		},
		manual: r.Capture == captureManual,
	}
	switch {
	case outcome == domain.ChargePending:
		e.pageToken, e.returnURL = rand.Text(), r.ReturnURL
		e.pageURL = s.publicURL() + pagesPath + e.ID + "?s=" + e.pageToken
		e.RedirectURL = e.pageURL
	case outcome == domain.ChargeSucceeded && e.manual:
		e.Status = string(domain.ChargeAuthorized)
	case outcome == domain.ChargeSucceeded:
		e.Captured = r.Amount
	}
	return e
}

func newID(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()) }

func answerStatus(c charge) int {
	switch {
	case c.is(domain.ChargePending):
		return http.StatusAccepted
	case c.is(domain.ChargeDeclined):
		return http.StatusPaymentRequired
	default:
		return http.StatusCreated
	}
}
