package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// work is what customers make others do. The rest goes on for ever, at its times.
const work = `'send_mail', 'modify_charge', 'apply_event', 'publish_event', 'deliver_event'`

// settle waits, after healing, until nothing is on its way any more: keys, jobs and the provider's news.
func (w *world) settle(t *testing.T) {
	t.Helper()
	w.await(t, "I12", recoveryBound, "unfinished keys", func() ([]string, error) {
		return w.texts(`SELECT e.pattern || ' ' || k.key || ' state ' || k.state || ' attempt ' || k.attempt
			FROM idempotency_keys k JOIN endpoints e ON e.id = k.endpoint_id WHERE k.state IN (1, 2)`)
	})
	if *patience < rescue || *length < rescue { // a short run does not wait for that
		w.handBack(t)
	}
	// The job of a worker that was killed is found after a minute. One that failed waits longer every time,
	// up to hours; here it waits for five seconds at most.
	w.awaitWork(t, "I9", *patience, "jobs that are not done", func() ([]string, error) {
		if _, err := w.sql.Exec(w.query(`UPDATE river_job SET scheduled_at = now() + interval '5 seconds'
			WHERE state = 'retryable' AND scheduled_at > now() + interval '5 seconds'`)); err != nil {
			return nil, err
		}
		return w.texts(`SELECT kind || ' ' || state || ' ' || args || ' attempt ' || attempt FROM river_job
			WHERE state NOT IN ('completed', 'cancelled', 'discarded') AND kind IN (` + work + `)`)
	})
	w.await(t, "I11", *patience, "changes at the provider of which the shop has not heard", w.unheard)
	w.await(t, "I11", *patience, "events in the inbox without effect", func() ([]string, error) {
		return w.texts(`SELECT event_id || ' ' || type || ' ' || state || ' ' || note FROM inbox WHERE state NOT IN ('applied', 'superseded')`)
	})
}

// handBack makes the jobs free at once that wait for a worker who has died, for a time when the clock was
// ahead, or for the leader of the workers, who may have died at that time as well and whose term ends
// only then. One that is being done is done twice, which every job must bear.
func (w *world) handBack(t *testing.T) {
	t.Helper()
	free := `UPDATE river_job SET state = 'available', scheduled_at = now()
		WHERE (state IN ('running', 'retryable', 'scheduled') OR state = 'available' AND scheduled_at > now()) AND kind IN (` + work + `)`
	if _, err := w.sql.ExecContext(t.Context(), w.query(free)); err != nil {
		t.Fatal(err)
	}
}

// awaitWork waits like await, but not before the list has stopped getting shorter: a slow machine is not a
// stuck one.
func (w *world) awaitWork(t *testing.T, invariant string, bound time.Duration, what string, list func() ([]string, error)) {
	t.Helper()
	for least := math.MaxInt; ; {
		left, err := list()
		if err != nil || len(left) == 0 || len(left) >= least || w.caught() {
			break
		}
		least = len(left)
		time.Sleep(2 * time.Second)
	}
	w.await(t, invariant, bound, what, list)
}

// await waits until a list is empty; what is left after the bound breaks the invariant.
func (w *world) await(t *testing.T, invariant string, bound time.Duration, what string, list func() ([]string, error)) {
	t.Helper()
	begin := time.Now()
	for {
		left, err := list()
		if err == nil && len(left) == 0 {
			t.Logf("no %s any more %s after it was waited for", what, time.Since(begin).Round(100*time.Millisecond))
			return
		}
		if w.caught() {
			return
		}
		if time.Since(begin) > bound {
			w.violation(invariant, "after %s there are %s: %s %v", bound, what, strings.Join(left[:min(5, len(left))], "; "), err)
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// unheard lists the charges whose last change is not in the inbox.
func (w *world) unheard() (list []string, err error) {
	charges, err := w.ledger()
	if err != nil {
		return nil, err
	}
	bodies, err := w.texts(`SELECT convert_from(body, 'UTF8') FROM inbox`)
	if err != nil {
		return nil, err
	}
	heard := map[string]int64{}
	for _, body := range bodies {
		var event struct{ Charge charge }
		if err := json.Unmarshal([]byte(body), &event); err != nil {
			return nil, err
		}
		heard[event.Charge.ID] = max(heard[event.Charge.ID], event.Charge.Version)
	}
	for _, c := range charges {
		if heard[c.ID] < c.Version {
			list = append(list, fmt.Sprintf("%s %s version %d, heard of %d", c.ID, c.Status, c.Version, heard[c.ID]))
		}
	}
	return list, nil
}

// ledger gives all charges of the provider's that name an order of the shop's.
func (w *world) ledger() (all []charge, err error) {
	numbers, err := w.texts("SELECT number FROM orders")
	if err != nil {
		return nil, err
	}
	for _, number := range numbers {
		charges, err := ledger(w.provider.addr, number)
		if err != nil {
			return nil, err
		}
		all = append(all, charges...)
	}
	return all, nil
}

// replayAll asks once more for everything that was answered for good: with copies that are spoilt, and
// with every copy of the answers gone. The replicas are new, so they remember nothing.
func (w *world) replayAll(t *testing.T) {
	t.Helper()
	if w.cache != nil {
		w.restartAll(t)
		w.poison(mistype)
		w.fire(replayedPoisoned, w.replay())
		w.poison(swap)
		w.fire(replayedPoisoned, w.replay())
		if err := w.cache.FlushAll(context.Background()).Err(); err != nil {
			t.Error(err)
		}
	}
	w.restartAll(t)
	w.fire(replayed, w.replay())
}

func (w *world) restartAll(t *testing.T) {
	t.Helper()
	if rollingRestart(w, nil, 0) == 0 {
		t.Error("the replicas do not start anew")
	}
}

// replay asks for all final answers as retries, which look for a copy first. An answer that differs is
// noticed where it comes in.
func (w *world) replay() int {
	acks := w.history.finals()
	work := make(chan ack)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for a := range work {
				w.repeat(a.op, 1)
			}
		})
	}
	for _, a := range acks {
		work <- a
	}
	close(work)
	all.Wait()
	return len(acks)
}

// query is one of Postgres' in the words of the database there is.
func (w *world) query(text string) string {
	if w.sqlite {
		return forSQLite.Replace(text)
	}
	return text
}

// texts are the values of a query that gives one text a row.
func (w *world) texts(query string) (list []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	rows, err := w.sql.QueryContext(ctx, w.query(query))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

// pairs are the rows of a query that gives a name and a text.
func (w *world) pairs(query string) (map[string]string, error) {
	list, err := w.texts(query)
	all := map[string]string{}
	for _, line := range list {
		name, text, _ := strings.Cut(line, "\x1f")
		all[name] = text
	}
	return all, err
}

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
