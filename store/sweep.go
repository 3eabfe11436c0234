package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// SweepRule says how long the records of one endpoint's keys are kept, counted from their completion.
type SweepRule struct {
	Endpoint  string        // its pattern
	TTL       time.Duration // of the answer
	Tombstone time.Duration // of the rest, under keys that do not tell their own age
}

// Swept is what a sweep did.
type Swept struct {
	Wiped             int64 // answers whose time was over
	TombstonesDeleted int64
	DaysDropped       int64 // partitions of the key table
	DaysKept          int64 // partitions that are old enough, but have an unfinished key or are in use
	DeliveriesDeleted int64 // with EventsDeleted and InboxDeleted: what was told and heard long ago
	EventsDeleted     int64
	InboxDeleted      int64
	KeyEventsDeleted  int64 // lines of the keys' journals
}

// Sweep ends what is over its time: it wipes answers, and later deletes what is left of them. It
// never touches an unfinished key. It works in short transactions, so it may be stopped at any moment
// and run in several processes at once; what an error or the end of ctx leaves is done next time.
//
// Its cost is that of what is over, however large the table is. An endpoint without a rule is treated
// as the longest rule says.
//
// Events and what became of them are kept for newsAge, lines of the keys' journals for keyEventAge.
//
// A key that tells its age belongs to three stretches of time. It can be new until it is one TTL old.
// An hour later no such key can come any more, and the sweep walks past it, once: what is done is
// wiped, and what is not goes on a list of stragglers. After two TTLs its whole day is deleted.
func (db *DB) Sweep(ctx context.Context, rules []SweepRule) (Swept, error) {
	s := &sweep{db: db, now: db.Now()}
	if err := s.plan(ctx, rules); err != nil {
		return Swept{}, fmt.Errorf("sweep: %w", err)
	}
	for _, step := range []func(context.Context) error{s.walk, s.stragglers, s.opaque, s.days, s.news, s.journal} {
		if err := step(ctx); err != nil {
			return s.did, fmt.Errorf("sweep: %w", err)
		}
	}
	return s.did, nil
}

// SweepLag is how far the sweep is behind with the endpoint where it is furthest behind.
func (db *DB) SweepLag(ctx context.Context, rules []SweepRule) (lag time.Duration, err error) {
	s := &sweep{db: db, now: db.Now()}
	if err := s.plan(ctx, rules); err != nil {
		return 0, err
	}
	for _, e := range s.endpoints {
		at, err := s.cursor(ctx, e)
		if err != nil {
			return 0, err
		}
		lag = max(lag, keyTime(s.limit(e)).Sub(keyTime(at)))
	}
	return lag, nil
}

const (
	// sweepBatch bounds the rows of one transaction, and with them the time that it holds locks.
	sweepBatch = 2000
	// sweepSlack is added to the age at which no new key can come: for clocks that differ, and for
	// requests that are under way.
	sweepSlack = time.Hour
	// stragglerPause is how long an unfinished key is left alone before it is looked at again.
	stragglerPause = time.Hour
)

// sweep is one run of Sweep.
type sweep struct {
	db        *DB
	now       time.Time
	endpoints []sweptEndpoint
	longest   time.Duration
	did       Swept
}

type sweptEndpoint struct {
	id             int16
	ttl, tombstone time.Duration
}

func (s *sweep) plan(ctx context.Context, rules []SweepRule) error {
	byPattern, longest := map[string]SweepRule{}, SweepRule{}
	for _, r := range rules {
		if r.TTL <= 0 || r.Tombstone < r.TTL {
			return fmt.Errorf("the rule of %s: the TTL must be more than zero, and a tombstone stays longer than its answer", r.Endpoint)
		}
		byPattern[r.Endpoint] = r
		longest.TTL, longest.Tombstone = max(longest.TTL, r.TTL), max(longest.Tombstone, r.Tombstone)
	}
	if len(rules) == 0 {
		return errors.New("there are no rules")
	}
	numbers, err := s.db.endpoints(ctx)
	for pattern, id := range numbers {
		r, known := byPattern[pattern]
		if !known {
			r = longest
		}
		s.endpoints = append(s.endpoints, sweptEndpoint{id, r.TTL, r.Tombstone})
	}
	s.longest = longest.TTL
	return err
}

// limit is the key before which all of an endpoint's keys are over their time.
func (s *sweep) limit(e sweptEndpoint) string { return firstKeyOf(s.now.Add(-e.ttl - sweepSlack)) }

// due is the last completion whose answer is over its time.
func (s *sweep) due(e sweptEndpoint) int64 { return s.now.Add(-e.ttl).UnixMicro() - 1 }

func (s *sweep) walk(ctx context.Context) error {
	for _, e := range s.endpoints {
		if err := s.walkEndpoint(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// errSweptElsewhere: another sweep has moved the cursor.
var errSweptElsewhere = errors.New("another sweep goes on here")

func (s *sweep) walkEndpoint(ctx context.Context, e sweptEndpoint) error {
	for {
		at, err := s.cursor(ctx, e)
		if err != nil || at == s.limit(e) {
			return err
		}
		if at > s.limit(e) { // the TTL was raised: keys may have come behind the cursor
			err = s.move(ctx, e, at, s.limit(e))
		} else {
			err = s.walkBatch(ctx, e, at)
		}
		if err != nil && !errors.Is(err, errSweptElsewhere) {
			return err
		}
	}
}

// wipe makes a tombstone of a row. The link to what was made moves out of the header.
func (d dialect) wipe() string {
	return `UPDATE idempotency_keys SET state = 4, input = NULL, steps = NULL, body = ?, header = '',
		resource = CASE resource WHEN '' THEN ` + d.location + ` ELSE resource END
		WHERE state = 3 AND done_at <= ? AND endpoint_id = ? `
}

// The rows that a wipe is for.
const (
	walked    = `AND key > ? AND key <= ?`
	straggler = `AND key = ? AND consumer_id = ?`
)

// leave lists what is not a tombstone yet: a finished key for when its time is over.
const leave = `INSERT INTO key_stragglers (key, consumer_id, endpoint_id, look_at)
	SELECT key, consumer_id, endpoint_id, CASE state WHEN 3 THEN done_at + ? ELSE ? END FROM idempotency_keys
	WHERE state < 4 AND endpoint_id = ? AND key > ? AND key <= ? ON CONFLICT DO NOTHING`

// walkBatch sweeps the next keys of an endpoint: not more than a batch, and not further than a day, so
// that it meets one partition.
func (s *sweep) walkBatch(ctx context.Context, e sweptEndpoint, at string) error {
	to, err := s.endOfBatch(ctx, e, at, min(s.limit(e), firstKeyOf(dayOf(keyTime(at)).AddDate(0, 0, 1))))
	if err != nil {
		return err
	}
	var wiped int64
	tx := s.db.Begin()
	tx.queueMove(e, at, to)
	tx.queue(s.db.dialect.wipe()+walked, []byte{}, s.due(e), e.id, at, to).counting(&wiped)
	tx.queue(leave, e.ttl.Microseconds(), s.now.Add(stragglerPause).UnixMicro(), e.id, at, to)
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	s.did.Wiped += wiped
	return nil
}

func (s *sweep) endOfBatch(ctx context.Context, e sweptEndpoint, from, to string) (string, error) {
	last, found, err := s.db.oneKey(ctx, endOfBatch, from, to, e.id, sweepBatch-1)
	if found {
		return last, err
	}
	return to, err
}

const endOfBatch = `SELECT key FROM idempotency_keys WHERE key > ? AND key < ? AND endpoint_id = ? ORDER BY key LIMIT 1 OFFSET ?`

// stragglers looks at the keys left behind whose time to be looked at has come. A wiped one leaves the
// list.
func (s *sweep) stragglers(ctx context.Context) error {
	for _, e := range s.endpoints {
		for more := true; more; {
			var err error
			if more, err = s.stragglersOf(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *sweep) stragglersOf(ctx context.Context, e sweptEndpoint) (more bool, err error) {
	var due []struct {
		Key        string
		ConsumerID int64
	}
	err = s.db.gorm.WithContext(ctx).Table("key_stragglers").Where("endpoint_id = ? AND look_at <= ?", e.id, s.now.UnixMicro()).
		Order("look_at").Limit(sweepBatch).Find(&due).Error
	if err != nil || len(due) == 0 {
		return false, err
	}
	wiped := make([]int64, len(due))
	tx := s.db.Begin()
	for i, k := range due {
		tx.queue(s.db.dialect.wipe()+straggler, []byte{}, s.due(e), e.id, k.Key, k.ConsumerID).counting(&wiped[i])
		tx.queue(settled, k.Key, k.ConsumerID, e.id, k.Key, k.ConsumerID, e.id)
		tx.queue(lookLater, s.now.Add(stragglerPause).UnixMicro(), k.Key, k.ConsumerID, e.id)
	}
	if err := tx.Commit(ctx); err != nil {
		return false, err
	}
	for _, n := range wiped {
		s.did.Wiped += n
	}
	return len(due) == sweepBatch, nil
}

const (
	settled = `DELETE FROM key_stragglers WHERE key = ? AND consumer_id = ? AND endpoint_id = ? AND NOT EXISTS
		(SELECT 1 FROM idempotency_keys WHERE key = ? AND consumer_id = ? AND endpoint_id = ? AND state < 4)`
	lookLater = `UPDATE key_stragglers SET look_at = ? WHERE key = ? AND consumer_id = ? AND endpoint_id = ?`
)
