package simulated

import (
	"context"
	"database/sql"
	"net/http"
	"time"

	"example.com/eenmaal/domain"
)

// postModification makes the handler that captures, voids or refunds once per key. What is left
// decides: a modification that exceeds it is refused with 422, and that is the key's answer for good.
func (s *Server) postModification(kind domain.ModificationKind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key, req, bad := readModify(w, r, kind)
		if bad != nil {
			bad.writeTo(w)
			return
		}
		m := modification{Kind: string(kind), ChargeID: r.PathValue("id"), IdempotencyKey: key, Amount: req.Amount}
		mark := req.fingerprint(kind, m.ChargeID)
		s.answerOnce(w, r, key, func(ctx context.Context) (reply, telling) { return s.settleModification(ctx, m, mark) })
	}
}

func (s *Server) settleModification(ctx context.Context, m modification, mark string) (reply, telling) {
	if answer, known := s.recall(ctx, m.IdempotencyKey, mark); known {
		return answer, tellTruth
	}
	switch _, found, err := s.ledger.entry(ctx, m.ChargeID); {
	case err != nil:
		return s.fail(err), tellTruth
	case !found:
		return notCharged(http.StatusNotFound, codeNoCharge, "There is no such charge."), tellTruth
	}
	trouble := s.faults.take(m.Kind, m.ChargeID)
	switch trouble {
	case faultUnavailable:
		return notCharged(http.StatusServiceUnavailable, codeUnavailable, "The provider is unavailable."), tellTruth
	case faultSlow:
		if !s.wait(ctx, s.slow) {
			return notCharged(http.StatusServiceUnavailable, codeUnavailable, "The provider is shutting down."), tellTruth
		}
	}
	return s.recordModification(ctx, m, mark, trouble)
}

// recordModification writes the changed charge, the modification, its event and the key's answer in
// one commit.
func (s *Server) recordModification(ctx context.Context, m modification, mark string, trouble fault) (reply, telling) {
	m.ID, m.CreatedAt = newID("mod"), s.now().UTC().Truncate(time.Millisecond)
	answer, first, err := s.ledger.once(ctx, m.IdempotencyKey, mark, func(tx *sql.Tx) (reply, error) {
		if trouble == faultRefuse {
			return refuse(http.StatusUnprocessableEntity, codeRefused, "The bank refused."), nil
		}
		return modify(ctx, tx, m)
	})
	if err != nil || !first {
		return s.second(ctx, m.IdempotencyKey, mark, err), tellTruth
	}
	s.log.Info("modification answered", "charge", m.ChargeID, "kind", m.Kind, "amount", m.Amount, "status", answer.status)
	s.wakeSender()
	return answer, trouble.telling()
}

func modify(ctx context.Context, tx *sql.Tx, m modification) (reply, error) {
	kind := domain.ModificationKind(m.Kind)
	after, done, err := change(ctx, tx, kind, m.ChargeID, m.Amount, m.CreatedAt)
	if err != nil {
		return reply{}, err
	}
	if !done {
		return refuse(http.StatusUnprocessableEntity, codeExceedsRest, "The charge has less than that left to "+m.Kind+"."), nil
	}
	if kind == domain.Void {
		m.Amount = after.Voided
	}
	m.Charge = after.charge
	if err := insertModification(ctx, tx, m); err != nil {
		return reply{}, err
	}
	news := eventOf(changeEvents[kind], after.charge, m.CreatedAt)
	return jsonReply(http.StatusCreated, m), insertEvent(ctx, tx, news, sending{copies: 1})
}

var changeEvents = map[domain.ModificationKind]string{
	domain.Capture: "charge.captured", domain.Void: "charge.voided", domain.Refund: "charge.refunded",
}

func insertModification(ctx context.Context, tx *sql.Tx, m modification) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO modifications (id, charge_id, idempotency_key, kind, amount, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		m.ID, m.ChargeID, m.IdempotencyKey, m.Kind, m.Amount, m.CreatedAt.UnixMilli())
	return err
}

// modifications lists those made with the key, oldest first, each with its charge as it is now. The
// list is never nil.
func (l *ledger) modifications(ctx context.Context, key string) ([]modification, error) {
	rows, err := l.db.QueryContext(ctx, `
		SELECT id, charge_id, idempotency_key, kind, amount, created_at
		FROM modifications WHERE idempotency_key = ? ORDER BY seq`, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err below tells what matters
	list := []modification{}
	for rows.Next() {
		var m modification
		var ms int64
		if err := rows.Scan(&m.ID, &m.ChargeID, &m.IdempotencyKey, &m.Kind, &m.Amount, &ms); err != nil {
			return nil, err
		}
		m.CreatedAt = time.UnixMilli(ms).UTC()
		list = append(list, m)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range list {
		e, _, err := l.entry(ctx, list[i].ChargeID)
		if err != nil {
			return nil, err
		}
		list[i].Charge = e.charge
	}
	return list, nil
}
