package store_test

import (
	"testing"
	"time"

	"example.com/eenmaal/domain"
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

func TestASettledFlagIsGoneOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		tx := db.Begin()
		tx.Flag("late", "a", "by its id")
		tx.Flag("late", "b", "by what it is about")
		tx.Flag("odd", "b", "stays")
		must(t, tx.Commit(t.Context()))
		open, err := db.Attention(t.Context())
		must(t, err)
		for _, a := range open {
			if a.Note == "by its id" {
				must(t, db.SettleAttention(t.Context(), a.ID, "sanne"))
				if err := db.SettleAttention(t.Context(), a.ID, "piet"); domain.KindOf(err) != domain.NotFound {
					t.Errorf("settled twice: %v", err)
				}
			}
		}
		if err := db.SettleAttention(t.Context(), "no id", "sanne"); domain.KindOf(err) != domain.NotFound {
			t.Errorf("settled nothing: %v", err)
		}
		tx = db.Begin()
		tx.SettleFlag("late", "b", "the program")
		tx.SettleFlag("late", "a", "the program") // sanne has done it
		tx.SettleFlag("late", "c", "the program") // there is none
		must(t, tx.Commit(t.Context()))
		n, err := db.AttentionCount(t.Context())
		must(t, err)
		if open, err = db.Attention(t.Context()); err != nil || n != 1 || len(open) != 1 || open[0].Note != "stays" {
			t.Errorf("%d are open: %+v %v", n, open, err)
		}
		if got := count(t, db, "SELECT count(*) FROM attention WHERE settled_by = 'sanne' AND settled_at IS NOT NULL"); got != 1 {
			t.Errorf("%d settled by sanne, want 1", got)
		}
	})
}
