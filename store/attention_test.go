package store_test

import (
	"testing"
	"time"

	"example.com/eenmaal/store/storetest"
)

func TestAFlagIsRaisedOncePerThing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		clock := &storetest.Clock{}
		db := d.Open(t, clock.Now)
		for _, flag := range [][3]string{{"late", "a", "first"}, {"late", "a", "second"}, {"late", "b", "third"}, {"odd", "a", "fourth"}} {
			clock.Move(time.Second)
			tx := db.Begin()
			tx.Flag(flag[0], flag[1], flag[2])
			must(t, tx.Commit(t.Context()))
		}
		list, err := db.Attention(t.Context())
		must(t, err)
		notes := ""
		for _, a := range list {
			notes += a.Note + " "
		}
		if notes != "first third fourth " {
			t.Errorf("open: %s", notes)
		}
		_, err = db.SQL().ExecContext(t.Context(), "UPDATE attention SET settled_at = created_at WHERE kind = 'late'")
		must(t, err)
		if list, err = db.Attention(t.Context()); err != nil || len(list) != 1 || list[0].Kind != "odd" || list[0].About != "a" || list[0].CreatedAt.Location() != time.UTC {
			t.Errorf("open after settling: %+v %v", list, err)
		}
	})
}
