package chaos

import (
	"context"
	"time"
)

// ofDatabase are the troubles that Postgres is told to make itself, since nothing around it can.
func ofDatabase() []nemesis {
	return []nemesis{
		{"serialization failures", serializationFailures},
		{"leases of a wrong clock", wrongClock},
	}
}

// serializationFailures lets three of ten transactions that write a key fail as those do that ran into
// another one: nobody is to blame, and the same once more succeeds.
func serializationFailures(w *world, _ *replica, d time.Duration) int {
	const begin = `CREATE SEQUENCE IF NOT EXISTS refused;
		ALTER SEQUENCE refused RESTART;
		CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF random() < 0.3 THEN
				PERFORM nextval('refused');
				RAISE EXCEPTION 'could not serialize access, says the harness' USING ERRCODE = '40001';
			END IF;
			RETURN NEW;
		END $$;
		CREATE OR REPLACE TRIGGER refuse BEFORE INSERT OR UPDATE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION refuse()`
	if w.tell(begin) != nil {
		return 0
	}
	time.Sleep(2 * d)
	for try := 0; w.tell("DROP TRIGGER IF EXISTS refuse ON idempotency_keys") != nil; try++ {
		if try == 100 {
			w.violation("harness", "Postgres goes on refusing")
			break
		}
		time.Sleep(100 * time.Millisecond) // it is being hurt in another way too
	}
	return w.number("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM refused")
}

// wrongClock leaves what there is when the database's clock was two hours ahead, somebody claimed keys,
// the clock was put right and who had the keys died: leases that end in two hours.
func wrongClock(w *world, _ *replica, _ time.Duration) (claimed int) {
	const ahead = `WITH moved AS (UPDATE idempotency_keys SET lease_until = lease_until + 7200000000, look_at = look_at + 7200000000
		WHERE state = 1 RETURNING 1) SELECT count(*) FROM moved`
	for try := 0; claimed == 0 && try < 50; try++ {
		time.Sleep(20 * time.Millisecond)
		claimed = w.number(ahead)
	}
	if claimed > 0 {
		for _, r := range w.replicas {
			r.kill("")
		}
	}
	return claimed
}

// tell has Postgres do something. It waits for a lock as shortly as the shop's own migrations do: whoever
// comes later waits behind it.
func (w *world) tell(what string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	block, err := w.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = block.Rollback() }() // nothing to undo after the commit
	if _, err := block.ExecContext(ctx, "SET LOCAL lock_timeout = '300ms'; "+what); err != nil {
		return err
	}
	return block.Commit()
}

// number is the one number of a query, or 0 while Postgres does not answer.
func (w *world) number(query string) (n int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = w.sql.QueryRowContext(ctx, query).Scan(&n)
	return n
}
