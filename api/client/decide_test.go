package client

import (
	"errors"
	"net/http"
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		after  string // Retry-After
		err    error
		want   verdict
	}{
		{status: 200, want: verdict{action: accept}},
		{status: 201, want: verdict{action: accept}},
		{status: 202, want: verdict{action: accept}},
		{status: 201, err: errors.New("cut off"), want: verdict{action: again}},
		{err: errors.New("connection reset"), want: verdict{action: again}},
		{status: 409, after: "2", want: verdict{again, 2 * time.Second}},
		{status: 409, after: "soon", want: verdict{action: again}},
		{status: 409, want: verdict{action: refuse}},
		{status: 408, want: verdict{action: again}},
		{status: 425, want: verdict{action: again}},
		{status: 429, after: "30", want: verdict{again, 30 * time.Second}},
		{status: 500, want: verdict{action: again}},
		{status: 502, want: verdict{action: again}},
		{status: 503, after: "1", want: verdict{again, time.Second}},
		{status: 504, want: verdict{action: again}},
		{status: 301, want: verdict{action: refuse}},
		{status: 400, after: "1", want: verdict{action: refuse}},
		{status: 401, want: verdict{action: refuse}},
		{status: 402, want: verdict{action: refuse}},
		{status: 403, want: verdict{action: refuse}},
		{status: 404, want: verdict{action: refuse}},
		{status: 410, want: verdict{action: refuse}},
		{status: 422, want: verdict{action: refuse}},
	} {
		header := http.Header{}
		if c.after != "" {
			header.Set("Retry-After", c.after)
		}
		if got := decide(c.status, header, c.err); got != c.want {
			t.Errorf("%d, Retry-After %q, %v: got %+v, want %+v", c.status, c.after, c.err, got, c.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Mon, 30 Nov 2026 09:00:00 GMT" // far from the clock of this machine, as clocks may be
	for value, want := range map[string]time.Duration{
		"0": 0, "-5": 0, "7": 7 * time.Second,
		"99999999999":                   farAway,
		"99999999999999999999999999":    farAway,
		"Mon, 30 Nov 2026 09:00:12 GMT": 12 * time.Second,
		"Mon, 30 Nov 2026 08:00:00 GMT": 0,
		"Mon, 30 Nov 2999 08:00:00 GMT": farAway,
		"soon":                          0,
	} {
		got, told := retryAfter(http.Header{"Retry-After": {value}, "Date": {date}})
		if got != want || !told {
			t.Errorf("%q: got %s, %v; want %s", value, got, told, want)
		}
	}
	if _, told := retryAfter(http.Header{"Date": {date}}); told {
		t.Error("told, without the header")
	}
	inAMinute := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
	if got, _ := retryAfter(http.Header{"Retry-After": {inAMinute}}); got < 50*time.Second || got > time.Minute {
		t.Errorf("without a Date: got %s", got)
	}
}

// TestFullJitter draws often enough that a half-empty range would show.
func TestFullJitter(t *testing.T) {
	t.Parallel()
	const draws, rounds = 8, 400
	var low, high [draws]int
	for range rounds {
		pauses := fullJitter()
		for n := range draws {
			top := min(longestPause, firstPause<<n)
			switch pause := pauses.NextBackOff(); {
			case pause < 0 || pause > top:
				t.Fatalf("pause %d is %s, not within 0 to %s", n, pause, top)
			case pause < top/4:
				low[n]++
			case pause > top*3/4:
				high[n]++
			}
		}
	}
	for n := range draws {
		if low[n] < rounds/10 || high[n] < rounds/10 {
			t.Errorf("pause %d: of %d draws %d in the lowest quarter, %d in the highest", n, rounds, low[n], high[n])
		}
	}
}
