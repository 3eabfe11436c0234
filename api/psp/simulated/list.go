package simulated

import (
	"context"
	"net/http"
)

// getCharges lists charges by reference, by key or by both, oldest first; or, with from and to, by the
// time of their last change.
//
// Asked by key, it first waits for a request with that key that is being handled. Without this,
// "none" would be a lie while a slow charge is on its way into the ledger.
func (s *Server) getCharges(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Has("from") {
		s.getPeriod(w, r)
		return
	}
	reference, key := r.URL.Query().Get("reference"), r.URL.Query().Get("idempotency_key")
	if reference == "" && key == "" {
		refuse(http.StatusBadRequest, "filter_required", "Ask by reference, by idempotency_key or by from and to.").writeTo(w)
		return
	}
	if err := s.awaitKey(r.Context(), key); err != nil {
		return // gave up waiting
	}
	charges, err := s.ledger.charges(context.WithoutCancel(r.Context()), reference, key)
	if err != nil {
		s.fail(err).writeTo(w)
		return
	}
	jsonReply(http.StatusOK, chargeList{Charges: charges}).writeTo(w)
}

// getCharge gives one charge as it is now.
func (s *Server) getCharge(w http.ResponseWriter, r *http.Request) {
	e, found, err := s.ledger.entry(r.Context(), r.PathValue("id"))
	switch {
	case err != nil:
		s.fail(err).writeTo(w)
	case !found:
		refuse(http.StatusNotFound, codeNoCharge, "There is no such charge.").writeTo(w)
	default:
		jsonReply(http.StatusOK, e.charge).writeTo(w)
	}
}

// getModifications lists the modifications made with a key, as getCharges does for charges.
func (s *Server) getModifications(w http.ResponseWriter, r *http.Request) {
	key := r.URL.Query().Get("idempotency_key")
	if key == "" {
		refuse(http.StatusBadRequest, "filter_required", "Ask by idempotency_key.").writeTo(w)
		return
	}
	if err := s.awaitKey(r.Context(), key); err != nil {
		return // gave up waiting
	}
	list, err := s.ledger.modifications(context.WithoutCancel(r.Context()), key)
	if err != nil {
		s.fail(err).writeTo(w)
		return
	}
	jsonReply(http.StatusOK, modificationList{Modifications: list}).writeTo(w)
}

func (s *Server) awaitKey(ctx context.Context, key string) error {
	if key == "" {
		return nil
	}
	release, err := s.keys.take(ctx, key)
	if err != nil {
		return err
	}
	release()
	return nil
}
