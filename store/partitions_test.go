package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestEveryKeyThatMayBeUsedHasItsDay: from the oldest key that some operation accepts to the newest.
func TestEveryKeyThatMayBeUsedHasItsDay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		clock := &storetest.Clock{}
		db := d.Open(t, clock.Now)
		for _, moved := range []time.Duration{0, 240 * time.Hour} {
			clock.Move(moved)
			must(t, db.EnsurePartitions(t.Context()))
			must(t, db.EnsurePartitions(t.Context()))
			for _, age := range []time.Duration{-5 * time.Minute, 0, 24 * time.Hour, 72 * time.Hour, 168 * time.Hour, 7 * 24 * time.Hour} {
				id := uuid.Must(uuid.NewV7())
				ms := db.Now().Add(-age).UnixMilli()
				for i := range 6 {
					id[i] = byte(ms >> (40 - 8*i))
				}
				key, err := domain.ParseKey(id.String())
				must(t, err)
				tx := db.Begin()
				tx.ClaimDone(newKeyOf(domain.Scope{Key: key, Consumer: 1, Endpoint: 1}), created(db), "")
				if err := tx.Commit(t.Context()); err != nil {
					t.Errorf("a key of %s ago: %v", age, err)
				}
			}
		}
	})
}

// TestReplicasMakePartitionsTogether lets several of them do it at once.
func TestReplicasMakePartitionsTogether(t *testing.T) {
	t.Parallel()
	clock := &storetest.Clock{}
	d := storetest.Postgres(t)
	replicas := []*store.DB{d.Open(t, clock.Now), d.Open(t, clock.Now), d.Open(t, clock.Now)}
	clock.Move(100 * 24 * time.Hour)
	ended := make(chan error, len(replicas))
	for _, db := range replicas {
		go func() { ended <- db.EnsurePartitions(t.Context()) }()
	}
	for range replicas {
		must(t, <-ended)
	}
	if got := count(t, replicas[0], "SELECT count(*) FROM pg_inherits WHERE inhparent = 'idempotency_keys'::regclass"); got != 1+17+17 {
		t.Errorf("partitions: got %d, want two spans of days and the opaque one", got)
	}
}
