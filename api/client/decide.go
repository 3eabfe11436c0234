package client

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// verdict is what to do about the outcome of one try.
type verdict struct {
	action action
	after  time.Duration // with again: wait at least this long
}

type action int

const (
	again  action = iota // nothing is certain, or it may pass: same key, same bytes
	accept               // done
	refuse               // a lasting no: sending it again cannot help
	stop                 // the same, but an earlier try may have been carried out; see try
)

// decide is the whole rule of when to retry. err means that no answer arrived whole, which says
// nothing about whether the request was carried out.
func decide(status int, header http.Header, err error) verdict {
	wait, told := retryAfter(header)
	switch {
	case err != nil:
		return verdict{action: again}
	case status >= 200 && status < 300:
		return verdict{action: accept}
	case status == http.StatusConflict && told: // the first request with this key still runs
		return verdict{again, wait}
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		return verdict{again, wait}
	case status >= 500:
		return verdict{again, wait}
	default: // 409 without Retry-After among them: the key was used for another request
		return verdict{action: refuse}
	}
}

// farAway stands for every Retry-After that is longer than anybody waits.
const farAway = 365 * 24 * time.Hour

// retryAfter reads seconds or a date. A date is compared with the answer's own Date, so that the two
// clocks need not agree. What cannot be read still tells to come back.
func retryAfter(header http.Header) (wait time.Duration, told bool) {
	value := header.Get("Retry-After")
	if value == "" {
		return 0, false
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) { // out of range gives the nearest number
		return time.Duration(min(max(seconds, 0), int64(farAway/time.Second))) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, true
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return min(max(at.Sub(now), 0), farAway), true
}
