package e2e

import (
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// T30, T72 and T77: a worker is killed when a mail, a refund and a delivery have been made and it does not
// know; its successor when it has begun with others and nothing was made. The third does what is left:
// each once, or once more under the same id.
func TestKilledWorkersLoseNothingAndRepeatNothing(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		o := newOffice(t, db, settings{})
		made := o.holdAnswers(nil)
		first := o.sell()
		o.awaitHeld(made)
		o.worker.kill()

		o.heal()
		begun := o.holdRequests()
		o.startWorker()
		second := o.sell()
		o.awaitHeld(begun)
		o.worker.kill()

		if got := o.jobs("state = 'running'"); got < 6 {
			t.Fatalf("%d jobs were running when their workers were killed, want 6: the test is void", got)
		}
		o.heal()
		o.startWorker()
		o.finish(3 * time.Minute) // they are taken over after one
		mails, told := o.wantsEachOnce(first, second)

		// What the first worker had done was done again.
		if slices.Max(mails) < 2 || slices.Max(told) < 2 || o.bank.countGets("/modifications") == 0 {
			t.Errorf("the mails have %v copies, the events %v, and the provider was asked %d times for a refund: the test is void",
				mails, told, o.bank.countGets("/modifications"))
		}
	})
}

// A worker that is told to stop lets its jobs end.
func TestAStoppedWorkerFinishesItsJobs(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		o := newOffice(t, db, settings{})
		release := make(chan struct{})
		held := o.holdAnswers(release)
		number := o.sell()
		o.awaitHeld(held)
		o.terminate()
		close(release)
		if status := o.worker.exit(t, 20*time.Second); status != 0 {
			t.Errorf("the exit status is %d", status)
		}
		for query, want := range map[string]int{
			"SELECT count(*) FROM mails WHERE kind = 'order_paid' AND sent_at IS NOT NULL": 1,
			"SELECT count(*) FROM modifications WHERE status = 'succeeded'":                1,
			"SELECT count(*) FROM deliveries WHERE state = 'delivered' AND tries = 1":      1,
			"SELECT count(*) FROM river_job WHERE state = 'running'":                       0,
		} {
			if got := o.number(query); got != want {
				t.Errorf("%s gives %d, want %d", query, got, want)
			}
		}
		o.startWorker()
		o.finish(patience)
		mails, told := o.wantsEachOnce(number)
		if slices.Max(mails) > 1 || slices.Max(told) > 1 {
			t.Errorf("the mails have %v copies, the events %v, want one of each", mails, told)
		}
	})
}

// A worker that is told to stop does not wait for ever. What it leaves is nobody's, and done at once by
// the next; what a killed one leaves seems to be somebody's for a minute.
func TestAStoppedWorkerLeavesItsJobsToTheNext(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		o := newOffice(t, db, settings{"SHUTDOWN_TIMEOUT": "1s"})
		held := o.holdAnswers(nil)
		number := o.sell()
		o.awaitHeld(held)
		o.terminate()
		o.worker.exit(t, 20*time.Second)
		if got := o.jobs("state = 'running'"); got != 0 {
			t.Errorf("%d jobs are marked as running, and nobody runs", got)
		}
		o.heal()
		o.startWorker()
		o.finish(patience)
		o.wantsEachOnce(number)
	})
}

// The mail server takes a mail and the connection breaks: it gets the same mail again.
func TestAMailWithoutAnAnswerIsSentAgainAsItWas(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		o := newOffice(t, db, settings{})
		var lost atomic.Bool
		o.link.on(nil, func(<-chan struct{}) bool { return lost.Swap(true) })
		number := o.sell()
		o.finish(patience)
		mails, _ := o.wantsEachOnce(number)
		slices.Sort(mails)
		if !slices.Equal(mails, []int{1, 2}) {
			t.Errorf("the mails have %v copies, want 2 of the first", mails)
		}
	})
}

// wantsEachOnce compares what the world has with what the shop wrote, for every sale. It gives how many
// copies came of each mail and of each event.
func (o *office) wantsEachOnce(numbers ...string) (mails, told []int) {
	o.t.Helper()
	n := len(numbers)
	if got, want := o.counts(), (counts{orders: n, paid: n, charges: n, mails: 2 * n}); got != want {
		o.t.Errorf("in the end there are %s, want %s", got, want)
	}
	o.stockAddsUp()
	for _, number := range numbers {
		if charges := ledger(o.t, o.psp.addr, number); len(charges) != 1 || charges[0].Refunded != refundAmount {
			o.t.Errorf("the provider has the charges %+v, want one with %d refunded", charges, refundAmount)
		}
	}
	mails = o.wantsSame("mails", o.texts("SELECT message_id FROM mails WHERE sent_at IS NOT NULL"), o.mails.copies(o.t, o.email), 2*n)
	events := map[string][]string{}
	for _, post := range o.hooks.seen("/told") {
		events[post.event] = append(events[post.event], post.body)
	}
	told = o.wantsSame("events", o.texts(`SELECT e.id FROM events e JOIN deliveries d ON d.event_id = e.id WHERE d.state = 'delivered'`), events, 2*n)
	return mails, told
}

// wantsSame compares the ids of what the shop sent with those of what came, n of them. Copies under one
// id must be the same.
func (o *office) wantsSame(what string, sent []string, came map[string][]string, n int) (copies []int) {
	o.t.Helper()
	slices.Sort(sent)
	if ids := slices.Sorted(maps.Keys(came)); len(ids) != n || !slices.Equal(ids, sent) {
		o.t.Errorf("there came the %s %v, the shop sent %v, want the same %d", what, ids, sent, n)
	}
	for id, all := range came {
		copies = append(copies, len(all))
		for _, text := range all {
			if text != all[0] {
				o.t.Errorf("copies of %s differ:\n%s\n%s", id, all[0], text)
			}
		}
	}
	return copies
}
