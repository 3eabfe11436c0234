package main

import (
	"os"
	"testing"
	"time"
)

func TestHistogramKeepsTimesWithinAThirtieth(t *testing.T) {
	t.Parallel()
	for _, want := range []time.Duration{0, 7 * time.Microsecond, 450 * time.Microsecond, 12 * time.Millisecond, 3 * time.Second, time.Minute} {
		var h histogram
		h.add(want)
		if got := h.at(0.5); got < want-want/30 || got > want+want/30 {
			t.Errorf("got %s, want about %s", got, want)
		}
	}
}

func TestHistogramFindsPercentiles(t *testing.T) {
	t.Parallel()
	var a, b histogram
	for i := range 1000 {
		a.add(time.Duration(i) * time.Microsecond)
		b.add(time.Second)
	}
	if got := a.at(0.99); got < 960*time.Microsecond || got > 1020*time.Microsecond {
		t.Errorf("p99: got %s, want about 990µs", got)
	}
	a.merge(&b)
	if got := a.at(0.75); got < 980*time.Millisecond {
		t.Errorf("p75 of both: got %s, want about a second", got)
	}
}

func TestAMissedGoalFailsTheGateAndOnlyThere(t *testing.T) {
	t.Parallel()
	r := report{Rows: []row{
		{Value: triple{0.3, 0.4, 2}, Goal: atLeast(0.5)},
		{Value: triple{1, 1.1, 9}, Goal: atMost(1.2)},
		{Value: triple{1, 1.001, 1.002}, Goal: exactly(1)},
		{Value: triple{0, 0, 0}},
	}}
	for fraction, fails := range map[float64]bool{0: false, 0.7: false, 1: true} {
		if got := r.judge(fraction) != nil; got != fails {
			t.Errorf("gate %g: fails %t, want %t", fraction, got, fails)
		}
	}
	r.Rows[2].Value.Median = 1.5
	if r.judge(0.1) == nil {
		t.Error("a count that has to be exact passed with 1.5")
	}
}

func TestRatiosAreFormedInsideTheRound(t *testing.T) {
	t.Parallel()
	of := func(n ...int) (list []slice) {
		for _, ops := range n {
			list = append(list, slice{ops: ops, elapsed: time.Second})
		}
		return list
	}
	if got, want := ratio(of(10, 200, 3000), of(20, 100, 1000), slice.perSecond), (triple{0.5, 2, 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOwnProcessHasMemoryAndTime(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc")
	}
	if residentOf(os.Getpid()) <= 1 {
		t.Error("this process holds no memory")
	}
	for began := time.Now(); cpuOf(os.Getpid()) == 0; {
		if time.Since(began) > 10*time.Second {
			t.Fatal("this process used no time")
		}
	}
}
