package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// diary is a journal with an endpoint whose keys it is about.
type diary struct {
	*store.Journal
	t        *testing.T
	db       *store.DB
	endpoint int16
}

func newDiary(t *testing.T, d storetest.Database, now func() time.Time) diary {
	t.Helper()
	db := d.Open(t, now)
	numbers, err := db.Endpoints(t.Context(), []string{"POST /things"})
	must(t, err)
	j := store.OpenJournal(db, "one", nil)
	t.Cleanup(j.Close)
	return diary{j, t, db, numbers["POST /things"]}
}

func (d diary) key() domain.Scope {
	s := scope(d.t)
	s.Endpoint = d.endpoint
	return s
}

// tells gives the journal of a key in few words: kind, what it is about, how often.
func (d diary) tells(s domain.Scope) (string, domain.KeyTimeline) {
	d.t.Helper()
	timeline, err := d.KeyTimeline(d.t.Context(), s)
	must(d.t, err)
	var words []string
	for _, e := range timeline.Events {
		words = append(words, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", e.Kind, e.Step, e.Detail)), " ")+strings.Repeat("+", int(e.Times-1)))
	}
	return strings.Join(words, ", "), timeline
}

// TestAJournalTellsWhatHappenedWithItsKey, in order, and nothing of other keys.
func TestAJournalTellsWhatHappenedWithItsKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, base storetest.Database) {
		d := newDiary(t, base, nil)
		mine, other := d.key(), d.key()
		begin := d.db.Now()
		d.Note(domain.KeyEvent{Scope: mine, Kind: domain.KeyClaimed, Step: "reserve", Attempt: 1, Request: "a"})
		d.Note(domain.KeyEvent{Scope: other, Kind: domain.KeyReplayed, Detail: "redis", Request: "x"})
		d.Note(domain.KeyEvent{Scope: mine, Kind: domain.KeyFinished, Attempt: 1, Detail: "201", Request: "a"})
		d.Note(domain.KeyEvent{Scope: mine, Kind: domain.KeyExecuted, Detail: "201", Request: "a"})
		d.Note(domain.KeyEvent{Scope: mine, Kind: domain.KeyReplayed, Detail: "memory", Request: "b"})
		got, timeline := d.tells(mine)
		if got != "claimed reserve, finished 201, replayed memory" || timeline.Requests != 2 || timeline.Earlier {
			t.Fatalf("%s; %d requests", got, timeline.Requests)
		}
		first := timeline.Events[0]
		if first.Scope != mine || first.Endpoint != "POST /things" || first.Attempt != 1 || first.Request != "a" || first.Process != "one" || first.Times != 1 ||
			first.At.Before(begin) || first.At.After(d.db.Now()) || !timeline.Events[1].At.After(first.At) {
			t.Errorf("got %+v", first)
		}
		if got, timeline := d.tells(d.key()); got != "" || timeline.Requests != 0 {
			t.Errorf("of an unknown key: %s; %d", got, timeline.Requests)
		}
		if d.Written() != 4 || d.Dropped() != 0 {
			t.Errorf("%d written, %d dropped", d.Written(), d.Dropped())
		}
	})
}

// TestAJournalIsWrittenByItself, without anybody who reads it, and at the latest when it is closed.
func TestAJournalIsWrittenByItself(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, base storetest.Database) {
		d := newDiary(t, base, nil)
		s := d.key()
		for n := range int64(3) {
			d.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyStepped})
			eventually(t, func() bool { return d.Written() == n+1 })
		}
		d.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyFinished})
		d.Close()
		d.Close()
		if timeline, err := d.db.KeyTimeline(t.Context(), s); err != nil || len(timeline.Events) != 4 {
			t.Errorf("%v, %v", timeline, err)
		}
	})
}

// TestAHammeredKeyIsOneLine: what a request made happen stays apart.
func TestAHammeredKeyIsOneLine(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, base storetest.Database) {
		d := newDiary(t, base, nil)
		s := d.key()
		d.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyFinished, Request: "first"})
		for n := range 50 {
			d.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyReplayed, Detail: "memory", Request: fmt.Sprint("replay ", n)})
		}
		d.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyMismatched, Detail: "idempotency_key_reused", Request: "stranger"})
		_, timeline := d.tells(s)
		var all int64
		for _, e := range timeline.Events {
			all += e.Times
		}
		if len(timeline.Events) > 10 || all != 52 || timeline.Requests != 51 {
			t.Errorf("%d lines for %d events, %d requests", len(timeline.Events), all, timeline.Requests)
		}
		counts, err := d.db.KeyCounts(t.Context(), d.db.Now().Add(-2*time.Hour))
		must(t, err)
		sums := map[domain.KeyEventKind]int64{}
		for _, c := range counts {
			sums[c.Outcome] += c.Requests
		}
		if sums[domain.KeyReplayed] != 50 || sums[domain.KeyMismatched] != 1 || len(sums) != 2 || counts[0].Endpoint != "POST /things" {
			t.Errorf("counts %+v", counts)
		}
	})
}

// TestAFullJournalDropsAndCounts: it never waits, and a storm of replays leaves room for what an attempt
// does. The one who holds the lock on the table stands for a database that is slow.
func TestAFullJournalDropsAndCounts(t *testing.T) {
	t.Parallel()
	d := newDiary(t, storetest.Postgres(t), nil)
	block, err := d.db.SQL().BeginTx(t.Context(), nil)
	must(t, err)
	defer func() { _ = block.Rollback() }() // ends the lock, whatever happens
	_, err = block.ExecContext(t.Context(), "LOCK TABLE key_events IN ACCESS EXCLUSIVE MODE")
	must(t, err)
	s := d.key()
	d.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyClaimed})
	eventually(t, func() bool { // it writes, in vain
		return count(t, d.db, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'key_events'::regclass") > 0
	})
	for n := range 20_000 {
		d.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyReplayed, Detail: fmt.Sprint(n)})
		if n%10 == 0 {
			d.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyStepped})
		}
	}
	lost := d.Dropped()
	if lost < 10_000 {
		t.Errorf("%d lines dropped", lost)
	}
	must(t, block.Rollback())
	d.Close()
	_, timeline := d.tells(s)
	steps := count(t, d.db, "SELECT count(*) FROM key_events WHERE kind = 'stepped'")
	replays := count(t, d.db, "SELECT sum(times) FROM key_events WHERE kind = 'replayed'")
	if steps != 2000 || int64(replays)+d.Dropped() < 20_000 || !timeline.Earlier || len(timeline.Events) != store.KeyEventsShown {
		t.Errorf("%d steps and %d replays kept, %d dropped; %d shown", steps, replays, d.Dropped(), len(timeline.Events))
	}
}

// TestAJournalThatCannotBeWrittenIsGivenUp: its lines are lost and counted, and later ones are written.
func TestAJournalThatCannotBeWrittenIsGivenUp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, base storetest.Database) {
		d := newDiary(t, base, nil)
		s := d.key()
		_, err := d.db.SQL().ExecContext(t.Context(), "ALTER TABLE key_events RENAME TO elsewhere")
		must(t, err)
		d.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyClaimed})
		d.Flush()
		if d.Dropped() != 1 || d.Written() != 0 {
			t.Errorf("%d dropped, %d written", d.Dropped(), d.Written())
		}
		_, err = d.db.SQL().ExecContext(t.Context(), "ALTER TABLE elsewhere RENAME TO key_events")
		must(t, err)
		d.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyFinished})
		if got, _ := d.tells(s); got != "finished" {
			t.Errorf("got %s", got)
		}
	})
}

// TestJournalsOfReplicasAreOne, and their counts add up.
func TestJournalsOfReplicasAreOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, base storetest.Database) {
		d := newDiary(t, base, nil)
		two := store.OpenJournal(d.db, "two", nil)
		t.Cleanup(two.Close)
		s := d.key()
		for n := range 4 {
			j := []*store.Journal{d.Journal, two}[n%2]
			j.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyReplayed, Request: fmt.Sprint(n)})
			j.Flush()
		}
		_, timeline := d.tells(s)
		var processes []string
		for _, e := range timeline.Events {
			processes = append(processes, e.Process)
		}
		if !slices.Equal(processes, []string{"one", "two", "one", "two"}) || timeline.Requests != 4 {
			t.Errorf("%v, %d requests", processes, timeline.Requests)
		}
		if n := count(t, d.db, "SELECT sum(requests) FROM key_counts"); n != 4 {
			t.Errorf("%d counted", n)
		}
	})
}

// TestOldLinesOfAJournalAreSwept in batches; the counts stay longer.
func TestOldLinesOfAJournalAreSwept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, base storetest.Database) {
		a := newAttic(t, base)
		j := store.OpenJournal(a.db, "one", nil)
		t.Cleanup(j.Close)
		s := a.scope(a.keyAt(0), a.messages)
		note := func(n int) {
			for range n {
				j.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyStepped})
			}
			j.Note(domain.KeyEvent{Scope: s, Kind: domain.KeyReplayed})
			j.Flush()
		}
		note(4050)
		if got := a.pass(6*day + 23*time.Hour); got.KeyEventsDeleted != 0 {
			t.Errorf("before their time: %+v", got)
		}
		note(3)
		if got := a.pass(2 * time.Hour); got.KeyEventsDeleted != 4051 {
			t.Errorf("%d deleted", got.KeyEventsDeleted)
		}
		if lines, counts := count(t, a.db, "SELECT count(*) FROM key_events"), count(t, a.db, "SELECT sum(requests) FROM key_counts"); lines != 4 || counts != 2 {
			t.Errorf("%d lines and %d requests are left", lines, counts)
		}
		a.pass(91 * day)
		if n := count(t, a.db, "SELECT count(*) FROM key_counts"); n != 0 {
			t.Errorf("%d counts are left", n)
		}
	})
}

// BenchmarkNote is what a request pays for its line.
func BenchmarkNote(b *testing.B) {
	db := storetest.SQLite(b).Open(b, nil)
	j := store.OpenJournal(db, "one", nil)
	defer j.Close()
	e := domain.KeyEvent{Scope: scope(b), Kind: domain.KeyReplayed, Detail: "memory", Request: "01a22c73-8af0-75c2-8076-c03278e2791b"}
	b.ReportAllocs()
	for b.Loop() {
		j.Note(e)
	}
}
