package store_test

import (
	"context"
	"errors"
	"testing"

	"example.com/eenmaal/domain/fault"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// Trouble before a commit leaves nothing. Trouble after it leaves everything, and whoever hears of it
// must not take it for a failure.
func TestTroubleAroundACommitTellsWhetherItHappened(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db, trouble := d.Open(t, nil), errors.New("trouble")
		for point, messages := range map[string]int{"before_commit": 0, "after_commit": 1} {
			ctx := fault.With(t.Context(), func(_ context.Context, at string) error {
				if at == point {
					return trouble
				}
				return nil
			})
			tx := db.Begin()
			tx.InsertMessage(message(db), scope(t))
			err := tx.Commit(ctx)
			if !errors.Is(err, trouble) || errors.Is(err, store.ErrCommitUnknown) != (messages == 1) {
				t.Errorf("%s: got %v", point, err)
			}
			if got := count(t, db, "SELECT count(*) FROM messages"); got != messages {
				t.Errorf("%s: %d messages, want %d", point, got, messages)
			}
			must(t, func() error { _, err := db.SQL().ExecContext(t.Context(), "DELETE FROM messages"); return err }())
		}
	})
}
