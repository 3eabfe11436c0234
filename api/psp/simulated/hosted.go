package simulated

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"net/http"
	"net/url"
	"time"

	"example.com/eenmaal/domain"
)

const (
	pagesPath = "/testbank/"
	pageLife  = 24 * time.Hour // after that a page is gone, whatever became of its charge
)

// choice is what one button of the hosted page does.
type choice struct {
	outcome domain.ChargeStatus
	sending sending
	early   bool // the webhook is delivered before the browser gets its answer
	older   bool // news of the pending charge follows the newer one
	stay    bool // the customer is not sent back to the shop
}

// early waits for longer than a try may take: the sender steps in only if the process dies meanwhile.
var choices = map[string]choice{
	"approve":  {outcome: domain.ChargeSucceeded, sending: sending{copies: 1}},
	"decline":  {outcome: domain.ChargeDeclined, sending: sending{copies: 1}},
	"cancel":   {outcome: domain.ChargeCanceled, sending: sending{copies: 1}},
	"late":     {outcome: domain.ChargeSucceeded, sending: sending{copies: 1, delay: 5 * time.Second}},
	"thrice":   {outcome: domain.ChargeSucceeded, sending: sending{copies: 3}},
	"early":    {outcome: domain.ChargeSucceeded, sending: sending{copies: 1, delay: 2 * webhookTimeout}, early: true},
	"disorder": {outcome: domain.ChargeSucceeded, sending: sending{copies: 1}, older: true},
	"never":    {outcome: domain.ChargeSucceeded},
	"stay":     {outcome: domain.ChargeSucceeded, sending: sending{copies: 1}, stay: true},
}

// troubles are the buttons for a lesson, in the order of the page.
var troubles = []string{"late", "thrice", "early", "disorder", "never", "stay"}

// getPage shows the choice, or what became of it.
func (s *Server) getPage(w http.ResponseWriter, r *http.Request) {
	if e, ok := s.pageEntry(w, r); ok {
		s.showPage(w, r, http.StatusOK, pageOf(e))
	}
}

// postPage settles the charge as the pressed button says and sends the customer back. Pressed a
// second time it changes nothing and shows what became of the charge.
func (s *Server) postPage(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	e, ok := s.pageEntry(w, r)
	if !ok {
		return
	}
	pressed, known := choices[r.PostFormValue("do")]
	if !known {
		s.showPage(w, r, http.StatusBadRequest, pageOf(e))
		return
	}
	// The bank has decided, even when the customer hangs up.
	settled, err := s.settlePending(context.WithoutCancel(r.Context()), e.ID, pressed)
	switch {
	case err != nil:
		s.log.Error("provider's ledger failed", "error", err)
		s.showPage(w, r, http.StatusInternalServerError, page{Notice: "problem"})
	case settled && !pressed.stay && e.returnURL != "":
		seeOther(w, withCharge(e.returnURL, e.ID))
	default:
		seeOther(w, inLang(r.URL, pageLang(r)))
	}
}

// pageEntry gives the charge of a page. Without the page's token, or too late, there is no such page.
func (s *Server) pageEntry(w http.ResponseWriter, r *http.Request) (entry, bool) {
	e, found, err := s.ledger.entry(r.Context(), r.PathValue("id"))
	if err != nil {
		s.log.Error("provider's ledger failed", "error", err)
		s.showPage(w, r, http.StatusInternalServerError, page{Notice: "problem"})
		return entry{}, false
	}
	token := r.URL.Query().Get("s")
	if !found || e.pageToken == "" || subtle.ConstantTimeCompare([]byte(token), []byte(e.pageToken)) != 1 ||
		s.now().Sub(e.CreatedAt) > pageLife {
		s.showPage(w, r, http.StatusNotFound, page{Notice: "missing"})
		return entry{}, false
	}
	return e, true
}

// settlePending ends the wait of a pending charge and puts the news into the outbox, in one commit.
// settled is false when it had ended before.
func (s *Server) settlePending(ctx context.Context, id string, how choice) (settled bool, err error) {
	before, _, err := s.ledger.entry(ctx, id)
	if err != nil {
		return false, err
	}
	if how.outcome == domain.ChargeSucceeded && before.manual {
		how.outcome = domain.ChargeAuthorized
	}
	var news event
	err = s.ledger.write(ctx, func(tx *sql.Tx) error {
		var after entry
		if after, settled, err = settle(ctx, tx, id, how.outcome, s.now()); err != nil || !settled {
			return err
		}
		news = eventOf("charge."+after.Status, after.charge, s.now())
		if err := insertEvent(ctx, tx, news, how.sending); err != nil || !how.older {
			return err
		}
		// The older news has an id of its own: a receiver that knows the first such event by its id
		// would not even look at it.
		older := eventOf("charge.pending", before.charge, before.CreatedAt)
		return insertEvent(ctx, tx, older, sending{copies: 1, delay: news.CreatedAt.Sub(older.CreatedAt) + time.Second})
	})
	if err != nil || !settled {
		return false, err
	}
	s.log.Info("charge settled", "charge", id, "reference", before.Reference, "status", how.outcome)
	if how.early {
		s.sendNow(s.stopping, news.ID)
	}
	s.wakeSender()
	return true, nil
}

// cancelOverdue ends the charges whose customer took too long.
func (s *Server) cancelOverdue(ctx context.Context) {
	ids, err := s.ledger.overdue(ctx, s.now().Add(-s.pageTTL))
	for _, id := range ids {
		if err == nil {
			_, err = s.settlePending(ctx, id, choices["cancel"])
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("cancel overdue charges", "error", err)
	}
}

// seeOther redirects to an address that may be relative to the page, which http.Redirect would rewrite.
func seeOther(w http.ResponseWriter, address string) {
	w.Header().Set("Location", address)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
}

// withCharge names the charge to the shop. It says nothing of how it ended: that is for the provider
// to tell, not for an address that anybody can write.
func withCharge(returnURL, id string) string {
	u, err := url.Parse(returnURL)
	if err != nil {
		return returnURL // it was checked when the charge was made
	}
	q := u.Query()
	q.Set("payment", id)
	u.RawQuery = q.Encode()
	return u.String()
}
