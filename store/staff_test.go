package store_test

import (
	"strings"
	"testing"
	"time"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

// TestAStaffSessionIsFoundByItsTokenAlone covers S18: the token of the session before is worth nothing.
func TestAStaffSessionIsFoundByItsTokenAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var clock storetest.Clock
		db := d.Open(t, clock.Now)
		ctx, now := t.Context(), db.Now()
		s := domain.StaffSession{Staff: "eva", CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(time.Hour)}
		must(t, db.StartStaffSession(ctx, "first", "", s))
		got, ok, err := db.StaffSession(ctx, "first")
		if must(t, err); !ok || got != s {
			t.Fatalf("got %+v, want %+v", got, s)
		}
		if _, ok, err := db.StaffSession(ctx, "other"); ok || err != nil {
			t.Errorf("another token: %t %v", ok, err)
		}
		must(t, db.StartStaffSession(ctx, "second", "first", s))
		if _, ok, _ := db.StaffSession(ctx, "first"); ok {
			t.Error("the session before goes on")
		}
		clock.Move(time.Minute)
		must(t, db.SeeStaffSession(ctx, "second"))
		if got, _, err := db.StaffSession(ctx, "second"); err != nil || got.SeenAt.Sub(now) < time.Minute {
			t.Errorf("seen at %s %v", got.SeenAt, err)
		}
		must(t, db.EndStaffSession(ctx, "second"))
		must(t, db.EndStaffSession(ctx, "second"))
		if _, ok, _ := db.StaffSession(ctx, "second"); ok {
			t.Error("the session that was ended goes on")
		}
		must(t, db.StartStaffSession(ctx, "third", "", s))
		clock.Move(time.Hour)
		if _, ok, _ := db.StaffSession(ctx, "third"); ok {
			t.Error("a session goes on after its time")
		}
		must(t, db.StartStaffSession(ctx, "fourth", "", s)) // sweeps the third
		var rows int
		must(t, db.SQL().QueryRowContext(ctx, "SELECT count(*) FROM staff_sessions").Scan(&rows))
		if rows != 1 {
			t.Errorf("%d sessions are kept", rows)
		}
	})
}

func TestSignInTriesAreCountedForAWhile(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		var clock storetest.Clock
		db := d.Open(t, clock.Now)
		ctx, start := t.Context(), db.Now()
		for range 3 {
			must(t, db.NoteSignInTry(ctx, []string{"a", "b"}, start.Add(-time.Hour)))
			clock.Move(time.Minute)
		}
		tries, err := db.SignInTries(ctx, "a", start.Add(-time.Second), 2)
		if must(t, err); len(tries) != 2 || !tries[0].After(tries[1]) || tries[1].Sub(start) < time.Minute {
			t.Errorf("got %v, want the newest two", tries)
		}
		if tries, err := db.SignInTries(ctx, "a", start.Add(90*time.Second), 9); err != nil || len(tries) != 1 {
			t.Errorf("since a while: %v %v", tries, err)
		}
		must(t, db.ForgetSignInTries(ctx, []string{"a"}))
		must(t, db.NoteSignInTry(ctx, []string{"c"}, start.Add(90*time.Second)))
		for subject, want := range map[string]int{"a": 0, "b": 1, "c": 1} {
			if tries, err := db.SignInTries(ctx, subject, start.Add(-time.Hour), 9); err != nil || len(tries) != want {
				t.Errorf("%s: %v %v, want %d", subject, tries, err, want)
			}
		}
	})
}

// TestWhoAskedFirstIsTheOneWhoDidIt: an action's key has one name.
func TestWhoAskedFirstIsTheOneWhoDidIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		key := scope(t).Key
		for _, staff := range []string{"eva", "abe"} {
			again, err := db.NoteStaffAction(t.Context(), domain.StaffAction{Staff: staff, Action: "refund", About: "order", Key: key})
			if must(t, err); again != (staff == "abe") {
				t.Errorf("%s asks again: %t", staff, again)
			}
		}
		if again, err := db.NoteStaffAction(t.Context(), domain.StaffAction{Staff: "abe", Action: "cancel", About: "order", Key: key}); err != nil || again {
			t.Errorf("another action with the key: %t %v", again, err)
		}
		list, err := db.StaffActions(t.Context(), "order")
		if must(t, err); len(list) != 2 || list[0].Staff != "eva" || list[1].Action != "cancel" || list[0].Key != key || list[0].At.IsZero() {
			t.Errorf("got %+v", list)
		}
		if list, err := db.StaffActions(t.Context(), strings.Repeat("x", 9)); err != nil || len(list) != 0 {
			t.Errorf("about nothing: %v %v", list, err)
		}
	})
}
