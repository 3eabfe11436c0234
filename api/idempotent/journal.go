package idempotent

import (
	"errors"
	"strconv"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// Journal keeps what happens with keys where people can read it. Note is called on the way of every
// request, so it must not wait. Nothing is ever decided by what it has kept or lost.
type Journal interface {
	Note(e domain.KeyEvent)
}

// Note tells the journal of something that happened with a key outside of its runs.
func (r *Registry) Note(e domain.KeyEvent) {
	if r.cfg.Journal != nil {
		r.cfg.Journal.Note(e)
	}
}

// HasJournal reports whether anybody hears of what Note tells.
func (r *Registry) HasJournal() bool { return r.cfg.Journal != nil }

// note tells of the run.
func (r *Run) note(kind domain.KeyEventKind, step, detail string) {
	r.registry.Note(domain.KeyEvent{Scope: r.key.Scope, Kind: kind, Attempt: r.attempt, Step: step, Request: r.key.Request, Detail: detail})
}

// noteTakeOver tells who goes on with the key: a retry, or the shop without one.
func (r *Run) noteTakeOver() {
	kind := domain.KeyTakenOver
	if r.absent {
		kind = domain.KeyResumed
	}
	r.note(kind, "", "")
}

// note tells of a request.
func (o *Operation[In, Out]) note(s domain.Scope, kind domain.KeyEventKind, request, detail string) {
	o.registry.Note(domain.KeyEvent{Scope: s, Kind: kind, Request: request, Detail: detail})
}

// detailOf is what the journal tells of a request's end beside its outcome: a code, the place where its
// answer was found, or the answer's status.
func detailOf(reply Reply, err error) string {
	switch {
	case err != nil:
		return wordOf(err)
	case reply.from != "":
		return reply.from
	default:
		return strconv.Itoa(reply.Answer.Status)
	}
}

// wordOf names an error without what it may quote.
func wordOf(err error) string {
	known, ok := errors.AsType[*domain.Error](err)
	switch {
	case err == nil:
		return "ok"
	case ok:
		return known.Code
	case errors.Is(err, store.ErrLeaseLost):
		return "lease_lost"
	case errors.Is(err, store.ErrCommitUnknown):
		return "commit_unknown"
	default:
		return "failed"
	}
}
