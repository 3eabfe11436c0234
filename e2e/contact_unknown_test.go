package e2e

import "testing"

// loseCommits makes the database go away in the middle of taking in a message, until the world is healed:
// on Postgres at the commit, whose answer is lost; on SQLite before anything can be looked up.
func (w *world) loseCommits() (heal func()) {
	w.t.Helper()
	statements := []string{"ALTER TABLE messages RENAME TO messages_away"}
	undo := "ALTER TABLE messages_away RENAME TO messages"
	if w.db.url != "" {
		statements = []string{
			`CREATE OR REPLACE FUNCTION go_away() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`,
			`CREATE CONSTRAINT TRIGGER go_away AFTER INSERT ON messages DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION go_away()`,
		}
		undo = "DROP TRIGGER go_away ON messages"
	}
	run := func(statement string) {
		w.t.Helper()
		if _, err := w.sql.ExecContext(w.t.Context(), statement); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, statement := range statements {
		run(statement)
	}
	return func() { w.t.Helper(); run(undo) }
}

// TestAMessageInDoubtIsSentAgain: the shop does not know whether the message is there. It says so and not
// that it was not sent; the form keeps what was typed, and pressing again with the same key counts once.
func TestAMessageInDoubtIsSentAgain(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		for _, scripts := range []bool{true, false} {
			w := newWorld(t, database{dir: t.TempDir(), url: db.url})
			before := w.counts().messages
			b := w.visitor()
			if !scripts {
				b.withoutScripts()
			}
			b.writeMessage("Do you repair mugs?")
			path := b.path()
			b.js("Object.assign(" + find("contact-form") + ".dataset, {tries: 1})")
			heal := w.loseCommits()
			b.click("send")
			b.says("contact-unknown", "We do not know yet if your message arrived")
			if got := b.text("send"); got != "Send it again" {
				t.Errorf("the button says %q", got)
			}
			if got := b.js(find("field-message") + ".value"); got != "Do you repair mugs?" {
				t.Errorf("the form holds %q, want what was typed", got)
			}
			heal()
			b.click("send")
			b.shows("received")
			w.wants(counts{messages: before + 1})
			presses := w.front.seen(path)
			first, last := presses[0].form(t).Get("key"), presses[len(presses)-1].form(t).Get("key")
			if len(presses) < 2 || first == "" || first != last {
				t.Errorf("of %d presses the first had the key %q, the last %q", len(presses), first, last)
			}
		}
	})
}

// TestALostAnswerIsNotANo: the message arrived and the answer did not. The page that waits does not know,
// says so, and finds the message when it is sent again.
func TestALostAnswerIsNotANo(t *testing.T) {
	needBrowser(t)
	eachDatabase(t, func(t *testing.T, db database) {
		w := newWorld(t, db)
		b := w.visitor()
		b.writeMessage("Do you repair mugs?")
		w.front.on(b.path(), -1, dropAnswer)
		b.js("Object.assign(" + find("contact-form") + ".dataset, {tries: 1})")
		b.click("send")
		b.says("wait", "We do not know yet if this arrived. Trying again is safe: it counts once.")
		w.wants(message)
		w.front.heal()
		b.click("send")
		b.shows("received")
		w.wants(message)
	})
}
