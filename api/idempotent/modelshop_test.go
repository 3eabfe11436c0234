package idempotent_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
)

// restart is a new process: its memory is empty.
func (w *world) restart(rt *rapid.T) {
	cacheBytes := rapid.SampledFrom([]int{-1, 0}).Draw(rt, "cache")
	r, err := idempotent.NewRegistry(idempotent.Config{DB: w.db, CacheBytes: cacheBytes, Patience: 20 * time.Second})
	if err != nil {
		rt.Fatal(err)
	}
	options := idempotent.Options{TTL: modelTTL}
	local, err1 := idempotent.Local(context.Background(), r, "POST /local", options, w.local)
	phased, err2 := idempotent.Phased(context.Background(), r, "POST /phased", options, w.phased)
	if err := errors.Join(err1, err2); err != nil {
		rt.Fatal(err)
	}
	w.registry = r
	w.ops = map[string]*idempotent.Operation[in, out]{"local": local, "phased": phased}
}

// decide is the shop's rule for a body.
func decide(body string) error {
	switch body {
	case "wrong":
		return domain.Errorf(domain.Invalid, "wrong", "Wrong.")
	case "refused":
		return domain.Errorf(domain.Refused, "refused", "No, %s.", uuid.NewString())
	default:
		return nil
	}
}

// effect writes a row and gives an answer that no second run could give again.
func (w *world) effect(tx *idempotent.Tx, op string) out {
	name, attempt := nameOf(op, tx.Scope), uuid.NewString()
	tx.Enqueue(fmt.Sprintf("INSERT INTO effects (name, attempt) VALUES ('%s', '%s')", name, attempt), execAll)
	return out{attempt}
}

func execAll(ctx context.Context, block *sql.Tx, statements []any) error {
	for _, s := range statements {
		if _, err := block.ExecContext(ctx, s.(string)); err != nil {
			return err
		}
	}
	return nil
}

func nameOf(op string, s domain.Scope) string {
	return fmt.Sprintf("%s %d %s", op, s.Consumer, s.Key.String())
}

func (w *world) local(_ context.Context, tx *idempotent.Tx, in in) (out, error) {
	if err := decide(in.Text); err != nil {
		return out{}, err
	}
	return w.effect(tx, "local"), nil
}

func (w *world) phased(ctx context.Context, run *idempotent.Run, in in) (out, error) {
	name, err := idempotent.Step(ctx, run, "reserve", func(tx *idempotent.Tx) (string, error) {
		return nameOf("phased", tx.Scope), decide(in.Text)
	})
	if err != nil {
		return out{}, err
	}
	if _, err := idempotent.Call(ctx, run, "charge", func(_ context.Context, key string) (bool, error) { return true, w.charge(key, name) }); err != nil {
		return out{}, err
	}
	return idempotent.Finish(ctx, run, func(tx *idempotent.Tx) (out, error) { return w.effect(tx, "phased"), nil })
}

// charge is a provider that honours keys, and loses questions and answers.
func (w *world) charge(key, name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	mood := w.provider
	w.provider = ""
	if mood == "down" {
		return domain.Errorf(domain.Unavailable, "provider_unavailable", "No.")
	}
	w.charges[key] = name
	if mood == "silent" {
		return domain.Errorf(domain.Unknown, "outcome_unknown", "Perhaps.")
	}
	return nil
}

// The model looks at the database by plain SQL, as a witness from outside.

func (w *world) exec(rt *rapid.T, statement string) {
	if _, err := w.db.SQL().ExecContext(context.Background(), statement); err != nil {
		rt.Fatal(err)
	}
}

func (w *world) count(rt *rapid.T, query string) (n int) {
	if err := w.db.SQL().QueryRowContext(context.Background(), query).Scan(&n); err != nil {
		rt.Fatal(err)
	}
	return n
}

// micros is the database's clock.
func (w *world) micros() string {
	if w.db.Postgres() {
		return "(extract(epoch from clock_timestamp()) * 1000000)::bigint"
	}
	return "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
}

// where names the row of a key.
func (w *world) where(p place) string {
	return fmt.Sprintf("key = '%s' AND consumer_id = %d AND endpoint_id = (SELECT id FROM endpoints WHERE pattern = 'POST /%s')",
		uuid.UUID(p.key.ID()), p.consumer, p.op)
}

// fromDatabase reads an answer that was committed and never sent.
func (w *world) fromDatabase(rt *rapid.T, p place, body string) *record {
	r := &record{body: body, done: true}
	var at int64
	var answer []byte
	query := "SELECT done_at, status, body FROM idempotency_keys WHERE state = 3 AND " + w.where(p)
	if err := w.db.SQL().QueryRowContext(context.Background(), query).Scan(&at, &r.status, &answer); err != nil {
		rt.Fatal(err)
	}
	r.at, r.answer = time.UnixMicro(at).UTC(), string(answer)
	return r
}
