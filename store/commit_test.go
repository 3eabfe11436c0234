package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/stdlib"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

func scope(t testing.TB) domain.Scope {
	t.Helper()
	key, err := domain.ParseKey(uuid.Must(uuid.NewV7()).String())
	must(t, err)
	return domain.Scope{Key: key, Consumer: 1, Endpoint: 1}
}

func message(db *store.DB) domain.Message {
	id := uuid.NewString()
	return domain.Message{ID: id, Reference: "C-" + id, Email: "sanne@example.nl", Text: "Hello", CreatedAt: db.Now()}
}

func newKeyOf(s domain.Scope) store.NewKey {
	return store.NewKey{Scope: s, Request: "request", Fingerprint: domain.Fingerprint{Sum: [32]byte{1}, Fields: []byte{2}}}
}

func created(db *store.DB) domain.Answer {
	return domain.Answer{Status: 201, Body: []byte("{}\n"), At: db.Now()}
}

func count(t testing.TB, db *store.DB, query string) (n int) {
	t.Helper()
	must(t, db.SQL().QueryRowContext(context.Background(), query).Scan(&n))
	return n
}

// failing makes the first n inserts of a message fail with an SQLSTATE, as the server would.
func failing(t *testing.T, db *store.DB, n int, code string) {
	t.Helper()
	for _, statement := range []string{
		"CREATE SEQUENCE tries",
		fmt.Sprintf(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('tries') <= %d THEN RAISE EXCEPTION USING ERRCODE = '%s'; END IF; RETURN NEW; END $$`, n, code),
		"CREATE TRIGGER fail BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION fail()",
	} {
		_, err := db.SQL().ExecContext(t.Context(), statement)
		must(t, err)
	}
}

// TestAnErrorThatBlamesNobodyIsTriedAgain covers T38 and F4: a deadlock, a serialization failure and a
// lock that could not be had are repeated inside, with everything that belongs to them.
func TestAnErrorThatBlamesNobodyIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"40001", "40P01", "55P03"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			db := storetest.Postgres(t).Open(t, nil)
			failing(t, db, 3, code)
			tx, s := db.Begin(), scope(t)
			tx.InsertMessage(message(db), s)
			tx.ClaimDone(newKeyOf(s), created(db), "")
			must(t, tx.Commit(t.Context()))
			if keys, messages := count(t, db, "SELECT count(*) FROM idempotency_keys"), count(t, db, "SELECT count(*) FROM messages"); keys != 1 || messages != 1 {
				t.Errorf("%d keys and %d messages, want one of each", keys, messages)
			}
		})
	}
}

func TestAnErrorThatDoesNotPassIsBusyAndLeavesNothing(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t).Open(t, nil)
	failing(t, db, 100, "40001")
	tx, s := db.Begin(), scope(t)
	tx.InsertMessage(message(db), s)
	tx.ClaimDone(newKeyOf(s), created(db), "")
	if err := tx.Commit(t.Context()); !errors.Is(err, store.ErrBusy) || !store.IsDown(err) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	if got := count(t, db, "SELECT count(*) FROM idempotency_keys"); got != 0 {
		t.Errorf("%d keys were spent", got)
	}
}

// TestAFullDiskUndoesEverythingAndPasses: the database is down as far as the caller is concerned, and the
// same transaction is done when there is room again.
func TestAFullDiskUndoesEverythingAndPasses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		d.Pool = 2
		db := d.Open(t, nil)
		makeRoom := full(t, db)
		s := scope(t)
		claim := func() error {
			tx := db.Begin()
			m := message(db)
			m.Text = strings.Repeat("Hello ", 10_000) // more than the room in a page
			tx.ClaimDone(newKeyOf(s), created(db), "")
			tx.InsertMessage(m, s)
			return tx.Commit(t.Context())
		}
		if err := claim(); !store.IsDown(err) || errors.Is(err, store.ErrCommitUnknown) {
			t.Errorf("on a full disk: got %v, want one that says it is down", err)
		}
		if keys := count(t, db, "SELECT count(*) FROM idempotency_keys"); keys != 0 {
			t.Errorf("%d keys were spent", keys)
		}
		makeRoom()
		must(t, claim())
	})
}

// full leaves a database no room, and gives the way to make room. Postgres says so by itself only when its
// disk is full; the chaos harness does that.
func full(t *testing.T, db *store.DB) (makeRoom func()) {
	t.Helper()
	if db.Postgres() {
		failing(t, db, 1, "53100")
		return func() {}
	}
	limit := func(pages int) {
		for range 2 { // the limit belongs to a connection, and the pool has two
			conn, err := db.SQL().Conn(t.Context())
			must(t, err)
			_, err = conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages))
			must(t, err)
			defer func() { must(t, conn.Close()) }()
		}
	}
	limit(1) // it cannot be less than there are
	return func() { limit(1_000_000) }
}

// TestALockThatEndsAReadPasses: whoever has locked the table, for a migration perhaps, will be done soon.
func TestALockThatEndsAReadPasses(t *testing.T) {
	t.Parallel()
	db, s := storetest.Postgres(t).Open(t, nil), scope(t)
	block, err := db.SQL().BeginTx(t.Context(), nil)
	must(t, err)
	_, err = block.ExecContext(t.Context(), "LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE")
	must(t, err)
	if _, _, err := db.Claim(t.Context(), s); !store.IsDown(err) {
		t.Errorf("while the table is locked: got %v, want one that says it is down", err)
	}
	must(t, block.Rollback())
	_, _, err = db.Claim(t.Context(), s)
	must(t, err)
}

// A connection may break between two statements. Whoever is next to use it must be told of a database that
// cannot be reached, and not of something that nobody foresaw.
func TestAConnectionThatIsFoundClosedMeansThatTheDatabaseIsDown(t *testing.T) {
	t.Parallel()
	conn, err := storetest.Postgres(t).Open(t, nil).SQL().Conn(t.Context())
	must(t, err)
	defer func() { _ = conn.Close() }()
	_ = conn.Raw(func(driver any) error {
		pg := driver.(*stdlib.Conn).Conn()
		must(t, pg.Close(t.Context()))
		_, err := pg.Exec(t.Context(), "SELECT 1")
		if err == nil || !store.IsDown(err) {
			t.Errorf("%v is not known as a database that is down", err)
		}
		return err
	})
}

func TestAViolatedConstraintUndoesEverythingAndSaysWhatItMeans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := storetest.Seeded(t, d, nil)
		first, soldOut := scope(t), errors.New("sold out")
		claim := func(s domain.Scope, m domain.Message, lamps int64) error {
			tx := db.Begin()
			tx.InsertMessage(m, s)
			tx.TakeStock(domain.Line{SKU: "lamp", Quantity: lamps}, soldOut)
			tx.ClaimDone(newKeyOf(s), created(db), "")
			return tx.Commit(t.Context())
		}
		m := message(db)
		must(t, claim(first, m, 1))
		same := message(db)
		same.Reference = m.Reference
		spent := scope(t)
		must(t, claim(spent, message(db), 1))
		_, err := db.SQL().ExecContext(t.Context(), "DELETE FROM idempotency_keys WHERE key = '"+uuid.UUID(spent.Key.ID()).String()+"'")
		must(t, err)
		for _, c := range []struct {
			name  string
			scope domain.Scope
			m     domain.Message
			lamps int64
			want  error
		}{
			{"the key is taken", first, message(db), 1, store.ErrKeyTaken},
			{"the key is taken and there is nothing left", first, message(db), 9, store.ErrKeyTaken},
			{"the record is gone", spent, message(db), 1, store.ErrKeySpent},
			{"the number is taken", scope(t), same, 1, store.ErrStale},
			{"too few left", scope(t), message(db), 2, soldOut},
		} {
			if err := claim(c.scope, c.m, c.lamps); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", c.name, err, c.want)
			}
		}
		if lamps, messages, keys := count(t, db, "SELECT stock FROM products WHERE sku = 'lamp'"), count(t, db, "SELECT count(*) FROM messages"),
			count(t, db, "SELECT count(*) FROM idempotency_keys"); lamps != 1 || messages != 2 || keys != 1 {
			t.Errorf("%d lamps, %d messages, %d keys; want 1, 2, 1", lamps, messages, keys)
		}
	})
}

// TestTheDatabaseRefusesWhatNoCodeMayWrite covers S12's second line: the rules hold for whoever writes.
func TestTheDatabaseRefusesWhatNoCodeMayWrite(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := storetest.Seeded(t, d, nil)
		for _, statement := range []string{
			"UPDATE products SET stock = -1 WHERE sku = 'mug'",
			"UPDATE products SET price = 0 WHERE sku = 'mug'",
			"INSERT INTO order_lines (order_id, position, sku, name, quantity, unit_price) VALUES ('01900000-0000-7000-8000-000000000000', 0, 'mug', 'Mug', 1, 1)",
		} {
			if _, err := db.SQL().ExecContext(t.Context(), statement); err == nil {
				t.Errorf("accepted: %s", statement)
			}
		}
	})
}

// takeOver makes the caller the holder of a key. ok is false when it cannot be had.
func takeOver(t *testing.T, db *store.DB, s domain.Scope, attempt int64) (ok bool, err error) {
	t.Helper()
	tx := db.Begin()
	tx.TakeOver(s, attempt, time.Minute, 0, 0)
	if err = tx.Commit(t.Context()); errors.Is(err, store.ErrLeaseLost) {
		return false, nil
	}
	return err == nil, err
}

func release(t *testing.T, db *store.DB, s domain.Scope, attempt int64) error {
	t.Helper()
	tx := db.Begin()
	tx.Release(s, attempt, time.Minute)
	return tx.Commit(t.Context())
}

// TestAnAttemptThatWasTakenOverWritesNothing covers T11, T44 and F28: every write of a run carries its number.
func TestAnAttemptThatWasTakenOverWritesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db, s := storetest.Seeded(t, d, nil), scope(t)
		tx := db.Begin()
		tx.ClaimRunning(newKeyOf(s), 20*time.Millisecond, []byte("steps"))
		must(t, tx.Commit(t.Context()))
		time.Sleep(30 * time.Millisecond)
		if ok, err := takeOver(t, db, s, 1); !ok || err != nil {
			t.Fatalf("take over: %v %v", ok, err)
		}
		if ok, err := takeOver(t, db, s, 1); ok || err != nil {
			t.Errorf("taken over twice: %v %v", ok, err)
		}
		if ok, err := takeOver(t, db, s, 2); ok || err != nil {
			t.Errorf("a live lease was taken over: %v %v", ok, err)
		}
		for name, write := range map[string]func(*store.Tx){
			"finish": func(tx *store.Tx) { tx.Finish(s, 1, created(db), "") },
			"record": func(tx *store.Tx) { tx.RecordSteps(s, 1, time.Minute, nil) },
		} {
			late := db.Begin()
			late.InsertMessage(message(db), scope(t))
			write(late)
			if err := late.Commit(t.Context()); !errors.Is(err, store.ErrLeaseLost) {
				t.Errorf("%s by the old attempt: %v", name, err)
			}
		}
		must(t, release(t, db, s, 1)) // changes nothing either
		claim, found, err := db.Claim(t.Context(), s)
		if err != nil || !found || claim.State != domain.Running || claim.Attempt != 2 || string(claim.Steps) != "steps" {
			t.Errorf("claim: %+v %v %v", claim, found, err)
		}
		if claim.LeaseLeft <= 0 || claim.LeaseLeft > time.Minute {
			t.Errorf("lease left: %s", claim.LeaseLeft)
		}
		if got := count(t, db, "SELECT count(*) FROM messages"); got != 0 {
			t.Errorf("%d messages of an attempt without a lease", got)
		}
	})
}

func TestAClaimIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		db := storetest.Seeded(t, d, nil)
		for _, text := range []string{uuid.Must(uuid.NewV7()).String(), uuid.NewString(), "order:" + uuid.NewString()} {
			key, err := domain.ParseKey(text)
			must(t, err)
			s := domain.Scope{Key: key, Consumer: -7, Endpoint: 3}
			if _, found, err := db.Claim(t.Context(), s); found || err != nil {
				t.Fatalf("an unused key: %v %v", found, err)
			}
			answer := domain.Answer{Status: 402, Header: map[string][]string{"Content-Type": {"text/plain"}, "Link": {"<a>", "<b>"}},
				Body: []byte("no\x00\xff"), Request: "request", At: db.Now()}
			tx := db.Begin()
			tx.ClaimDone(newKeyOf(s), answer, "/v1/things/1")
			must(t, tx.Commit(t.Context()))
			claim, found, err := db.Claim(t.Context(), s)
			must(t, err)
			if !found || claim.State != domain.Done || claim.Resource != "/v1/things/1" || fmt.Sprint(claim.Answer) != fmt.Sprint(answer) ||
				claim.Fingerprint.Sum != newKeyOf(s).Fingerprint.Sum || string(claim.Fingerprint.Fields) != "\x02" || !claim.FirstSeen.Equal(answer.At) {
				t.Errorf("read back %+v, wrote %+v", claim, answer)
			}
			other := s
			other.Consumer++
			if _, found, _ := db.Claim(t.Context(), other); found {
				t.Error("another consumer sees the key")
			}
			var shown sql.NullString
			must(t, db.SQL().QueryRowContext(t.Context(), "SELECT key_text FROM idempotency_keys WHERE key = '"+uuid.UUID(key.ID()).String()+"'").Scan(&shown))
			if _, timed := key.Time(); timed == shown.Valid {
				t.Errorf("%s: key_text is %q", text, shown.String)
			}
		}
	})
}
