package api_test

import (
	"slices"
	"testing"

	"example.com/eenmaal/store/storetest"
)

// The suite puts every registered operation through the same troubles, by its example alone: called
// twice and by fifty at once (twice_test.go), broken off (suite_crash_test.go), left by its client
// (suite_disconnect_test.go), confused with another request (suite_mismatch_test.go), and repeated too
// late (expiry_test.go).

// trial is one operation in a shop where things go wrong, and in a calm one beside it that gets the
// same requests, each of them once.
type trial struct {
	example example
	*shop
	faults   *faults
	calm     *shop
	database storetest.Database // of the shop, for a second process
	points   []string           // that a run of the operation passes, in their order
}

// eachOperation runs a test for every operation on both databases, each time in shops of its own.
func eachOperation(t *testing.T, test func(t *testing.T, o *trial)) {
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		for _, e := range examples {
			t.Run(e.pattern, func(t *testing.T) {
				t.Parallel()
				test(t, newTrial(t, fresh(t, d), e))
			})
		}
	})
}

func newTrial(t *testing.T, d storetest.Database, e example) *trial {
	t.Helper()
	o := &trial{example: e, faults: &faults{}, database: d, calm: newShop(t, storetest.SQLite(t))}
	o.shop = newShop(t, d, withPlan(o.faults.plan), withRegistry(noMemory))
	o.survives("no trouble", func(c call) {
		o.faults.passed = nil
		wantStatus(t, e.pattern, o.do(c), e.status)
		o.points = slices.DeleteFunc(slices.Clone(o.faults.passed), withinAStep)
	})
	if len(o.points) < 2 {
		t.Fatalf("%s passes %v: too few points to be broken off", e.pattern, o.points)
	}
	return o
}

// withinAStep tells the points in the middle of a step, around its commit, and the one before the answer.
// A run that breaks off there might as well have done so at the step's begin or end, unless the commit's
// answer is lost: that is told in lost_test.go.
func withinAStep(point string) bool {
	return slices.Contains([]string{"before_commit", "after_commit", "after_claim", "before_finish_commit", "before_write"}, point)
}

// survives lets a request meet trouble, and then be sent again with its key until the answer is final:
// it is the usual answer, it is repeated byte for byte, and what it left behind is what one undisturbed
// request does.
func (o *trial) survives(what string, trouble func(c call)) {
	o.t.Helper()
	calm := o.example.request(o.calm)
	calm.key = newKey()
	wantStatus(o.t, "undisturbed", o.calm.do(calm), o.example.status)

	c := o.example.request(o.shop)
	c.key = newKey()
	trouble(c)
	final := o.untilFinal(c)
	wantStatus(o.t, what, final, o.example.status)
	wantReplay(o.t, what, final, o.do(c))
	if got, want := o.example.effects(o.shop), o.example.effects(o.calm); got != want {
		o.t.Fatalf("%s: effects %s, of undisturbed requests %s", what, got, want)
	}
}
