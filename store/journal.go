package store

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/eenmaal/domain"
)

// Journal writes down what happens with keys, for people to read. It is beside the requests: Note only
// puts a line into memory, and one goroutine writes many of them at once. Lines are lost when the memory
// is full, when the database does not take them, and when the process is killed. That is no loss of truth:
// what was done is in the key's own record, and in what it made.
type Journal struct {
	db      *DB
	process string
	log     *slog.Logger

	mu     sync.Mutex
	lines  []domain.KeyEvent // wait to be written
	ends   map[alike]int     // where among them an end of requests stands
	counts map[hourly]int64  // wait too
	last   time.Time         // of the last line

	writing sync.Mutex // one flush at a time
	spare   []domain.KeyEvent
	failing bool

	wake, full    chan struct{} // something waits; much waits
	closing, done chan struct{}
	closed        sync.Once
	written       atomic.Int64
	dropped       atomic.Int64
}

// hourly names one row of key_counts.
type hourly struct {
	hour     int64
	endpoint int16
	outcome  domain.KeyEventKind
}

const (
	journalRoom    = 8192                   // lines that may wait
	journalFull    = 1024                   // past it they are written at once
	journalPause   = 200 * time.Millisecond // lets lines gather
	journalTimeout = 2 * time.Second        // of one write
	maxDetail      = 64
)

// OpenJournal starts a journal. process is the name of this one, among those that share the database. The
// caller closes the journal before the database.
func OpenJournal(db *DB, process string, log *slog.Logger) *Journal {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	j := &Journal{db: db, process: process, log: log, ends: map[alike]int{}, counts: map[hourly]int64{}, wake: make(chan struct{}, 1), full: make(chan struct{}, 1),
		closing: make(chan struct{}), done: make(chan struct{})}
	go j.writeLoop()
	return j
}

// Note keeps an event for the next write, with the time of this moment. It never waits: when there is no
// room the line is lost, and counted as such. Requests that end alike, as the replays of a key that is
// hammered do, become one line with the time of the last one. Requests without a key, and those that
// executed, which a line of their attempt tells, are counted only.
func (j *Journal) Note(e domain.KeyEvent) {
	now := j.db.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.lines) == 0 && len(j.counts) == 0 {
		signal(j.wake)
	}
	if e.Ends() {
		j.counts[hourly{now.Truncate(time.Hour).UnixMicro(), e.Scope.Endpoint, e.Kind}]++
	}
	if e.Kind == domain.KeyExecuted || e.Scope.Key.IsZero() {
		return
	}
	if !now.After(j.last) { // keeps their order
		now = j.last.Add(time.Microsecond)
	}
	j.last = now
	e.At, e.Process, e.Times, e.Detail = now, j.process, 1, e.Detail[:min(len(e.Detail), maxDetail)]
	j.keep(e)
}

// keep puts a line among those that wait.
func (j *Journal) keep(e domain.KeyEvent) {
	id := alike{e.Scope.Key.ID(), e.Scope.Consumer, e.Scope.Endpoint, e.Kind, e.Detail}
	if e.Ends() {
		if i, ok := j.ends[id]; ok {
			e.Times += j.lines[i].Times
			j.lines[i] = e
			return
		}
	}
	if len(j.lines) >= roomFor(e) {
		j.dropped.Add(1)
		return
	}
	if e.Ends() {
		j.ends[id] = len(j.lines)
	}
	j.lines = append(j.lines, e)
	if len(j.lines) == journalFull {
		signal(j.full)
	}
}

// roomFor leaves half of the memory to what an attempt does: a storm of replays must not hide it.
func roomFor(e domain.KeyEvent) int {
	if e.Ends() {
		return journalRoom / 2
	}
	return journalRoom
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is signalled already
	}
}

// Written counts the lines that were written.
func (j *Journal) Written() int64 { return j.written.Load() }

// Dropped counts the lines that are lost.
func (j *Journal) Dropped() int64 { return j.dropped.Load() }

// Close writes what waits and ends the journal. Notes that come later are never written. It may be called
// again.
func (j *Journal) Close() {
	j.closed.Do(func() { close(j.closing) })
	<-j.done
}

func (j *Journal) writeLoop() {
	defer close(j.done)
	for {
		select {
		case <-j.wake:
		case <-j.closing:
			j.Flush()
			return
		}
		select {
		case <-time.After(journalPause):
		case <-j.full:
		case <-j.closing:
		}
		j.Flush()
	}
}

// Flush writes what this process has noted until now, for a reader who wants to see it.
func (j *Journal) Flush() {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.mu.Lock()
	lines, counts := j.lines, j.counts
	j.lines, j.counts = j.spare[:0], map[hourly]int64{}
	clear(j.ends)
	j.mu.Unlock()
	j.spare = lines
	if len(lines) == 0 && len(counts) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), journalTimeout)
	defer cancel()
	tx := j.db.Begin()
	tx.insertKeyEvents(lines)
	tx.addKeyCounts(counts)
	err := tx.Commit(ctx)
	if err != nil {
		j.dropped.Add(sumOf(lines))
	} else {
		j.written.Add(int64(len(lines)))
	}
	if err != nil && !j.failing {
		j.log.Warn("the journal of keys cannot be written, its lines are lost", "error", err)
	}
	j.failing = err != nil
}

// alike is what requests have in common that make one line.
type alike struct {
	key      [16]byte
	consumer int64
	endpoint int16
	kind     domain.KeyEventKind
	detail   string
}

func sumOf(lines []domain.KeyEvent) (n int64) {
	for _, e := range lines {
		n += e.Times
	}
	return n
}

const (
	insertKeyEvent = `INSERT INTO key_events (key, consumer_id, at, endpoint_id, attempt, times, kind, step, request_id, detail, process) VALUES `
	keyEventRow    = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// insertKeyEventsOf are the statements for that many lines. There are few, so that each is prepared once.
var insertKeyEventsOf = map[int]string{256: insertRows(256), 16: insertRows(16), 1: insertRows(1)}

func insertRows(n int) string {
	return insertKeyEvent + strings.Repeat(keyEventRow+", ", n-1) + keyEventRow
}

// insertKeyEvents queues lines of the journal.
func (tx *Tx) insertKeyEvents(lines []domain.KeyEvent) {
	for _, size := range []int{256, 16, 1} {
		for ; len(lines) >= size; lines = lines[size:] {
			args := make([]any, 0, 11*size)
			for _, e := range lines[:size] {
				args = append(args, keyID(e.Scope), e.Scope.Consumer, e.At.UnixMicro(), e.Scope.Endpoint, e.Attempt, e.Times,
					string(e.Kind), e.Step, e.Request, e.Detail, e.Process)
			}
			tx.queue(insertKeyEventsOf[size], args...)
		}
	}
}

// addKeyCounts queues counts of requests, in one order: two processes must not wait for each other.
func (tx *Tx) addKeyCounts(counts map[hourly]int64) {
	names := make([]hourly, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, hourly.compare)
	for _, n := range names {
		tx.queue(`INSERT INTO key_counts (hour, endpoint_id, outcome, requests) VALUES (?, ?, ?, ?)
			ON CONFLICT (hour, endpoint_id, outcome) DO UPDATE SET requests = key_counts.requests + excluded.requests`,
			n.hour, n.endpoint, string(n.outcome), counts[n])
	}
}

func (h hourly) compare(other hourly) int {
	return cmp.Or(cmp.Compare(h.hour, other.hour), cmp.Compare(h.endpoint, other.endpoint), cmp.Compare(h.outcome, other.outcome))
}
