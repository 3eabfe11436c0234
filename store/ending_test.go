package store_test

import (
	"database/sql"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
	"example.com/eenmaal/store/storetest"
)

// TestAPaymentAndTheEndOfItsOrderWaitForEachOther: on Postgres the two may be open at the same time. Each
// is stopped in the middle of its transaction, after its writes and before its commit; the other waits
// for it, and finds then that what it had decided by is no longer so.
func TestAPaymentAndTheEndOfItsOrderWaitForEachOther(t *testing.T) {
	t.Parallel()
	for name, trigger := range map[string]string{
		"the payment is first": "BEFORE INSERT ON payments",
		"the end is first":     "BEFORE UPDATE ON products",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := storetest.Postgres(t)
			d.URL = patientURL(t, d.URL)
			db := storetest.Seeded(t, d, nil)
			order := anOrder(t, db)
			release := stopAt(t, db, trigger)

			pay := func() error {
				tx := db.Begin()
				id := uuid.NewString()
				tx.InsertPayment(domain.Payment{ID: id, OrderID: order.ID, Status: domain.PaymentProcessing, Amount: order.Total,
					ProviderKey: id, CreatedAt: db.Now()}, scope(t), errors.New("taken"))
				return tx.Commit(t.Context())
			}
			end := func() error {
				tx := db.Begin()
				tx.CancelOrder(order, domain.CancelExpired, nil)
				return tx.Commit(t.Context())
			}
			both := []func() error{pay, end}
			if name == "the end is first" {
				both = []func() error{end, pay}
			}
			first, second := make(chan error, 1), make(chan error, 1)
			go func() { first <- both[0]() }()
			waiting(t, db, 1)
			go func() { second <- both[1]() }()
			waiting(t, db, 2)
			release()
			if err := <-first; err != nil {
				t.Errorf("the first: %v", err)
			}
			if err := <-second; !errors.Is(err, store.ErrStale) {
				t.Errorf("the second: %v, want ErrStale", err)
			}
		})
	}
}

// patientURL has locks waited for as long as this test needs.
func patientURL(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	q := u.Query()
	q.Set("lock_timeout", "60s")
	q.Set("statement_timeout", "60s")
	u.RawQuery = q.Encode()
	return u.String()
}

func anOrder(t *testing.T, db *store.DB) domain.Order {
	t.Helper()
	id := uuid.NewString()
	order := domain.Order{ID: id, Number: id, Status: domain.OrderAwaitingPayment, Language: "en", Total: domain.EUR(1850), CreatedAt: db.Now(),
		Lines: []domain.Line{{SKU: "mug", Name: "Mug", Quantity: 1, UnitPrice: domain.EUR(1850)}}}
	tx := db.Begin()
	tx.InsertOrder(order, scope(t))
	must(t, tx.Commit(t.Context()))
	return order
}

// stopAt has transactions stop at a trigger until release is called.
func stopAt(t *testing.T, db *store.DB, trigger string) (release func()) {
	t.Helper()
	for _, statement := range []string{
		`CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$`,
		`CREATE TRIGGER stop ` + trigger + ` FOR EACH ROW EXECUTE FUNCTION stop()`,
	} {
		_, err := db.SQL().ExecContext(t.Context(), statement)
		must(t, err)
	}
	holder, err := db.SQL().BeginTx(t.Context(), &sql.TxOptions{})
	must(t, err)
	_, err = holder.ExecContext(t.Context(), "SET LOCAL idle_in_transaction_session_timeout = 0")
	must(t, err)
	_, err = holder.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock(1)")
	must(t, err)
	return func() { must(t, holder.Rollback()) }
}

// TestACommitWhoseSessionIsEndedIsTriedOnAnother: as by an operator, or by a server that is restarted.
func TestACommitWhoseSessionIsEndedIsTriedOnAnother(t *testing.T) {
	t.Parallel()
	d := storetest.Postgres(t)
	d.URL = patientURL(t, d.URL)
	db := storetest.Seeded(t, d, nil)
	release := stopAt(t, db, "BEFORE INSERT ON messages")
	committed := make(chan error, 1)
	go func() {
		tx := db.Begin()
		tx.InsertMessage(message(db), scope(t))
		committed <- tx.Commit(t.Context())
	}()
	waiting(t, db, 1)
	if got := count(t, db, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock'`); got != 1 {
		t.Fatalf("%d sessions were ended", got)
	}
	release()
	if err := <-committed; err != nil {
		t.Errorf("got %v", err)
	}
	if got := count(t, db, "SELECT count(*) FROM messages"); got != 1 {
		t.Errorf("%d messages, want 1", got)
	}
}

// waiting waits until n sessions wait for a lock.
func waiting(t *testing.T, db *store.DB, n int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); count(t, db,
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %d sessions wait for a lock", n)
		}
	}
}
