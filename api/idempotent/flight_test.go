package idempotent

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/eenmaal/domain"
)

func TestAFlightHasOneLeaderAndALimitedCrowd(t *testing.T) {
	t.Parallel()
	var f flights
	s := scopeOf(t, 1)
	bring := func(sum byte) *flight {
		return newFlight(domain.Fingerprint{Sum: [32]byte{sum}}, "request", time.Now())
	}
	fl, lead, err := f.join(s, bring(1), 2)
	if !lead || err != nil {
		t.Fatalf("first: %v %v", lead, err)
	}
	for range 2 {
		if same, lead, err := f.join(s, bring(1), 2); same != fl || lead || err != nil {
			t.Fatalf("waiter: %v %v", lead, err)
		}
	}
	if _, _, err := f.join(s, bring(1), 2); domain.KindOf(err) != domain.Busy {
		t.Errorf("past the cap: %v", err)
	}
	if _, _, err := f.join(s, bring(2), 2); !errors.Is(err, errMismatch) {
		t.Errorf("another request: %v", err)
	}
	if _, err := fl.wait(t.Context(), time.Millisecond); domain.KindOf(err) != domain.Busy {
		t.Errorf("impatient: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fl.wait(gone, time.Hour); domain.KindOf(err) != domain.Busy {
		t.Errorf("hung up: %v", err)
	}
	f.land(s, fl, Reply{Answer: domain.Answer{Status: 201}}, nil)
	if reply, err := fl.wait(t.Context(), time.Hour); reply.Answer.Status != 201 || err != nil {
		t.Errorf("landed: %+v %v", reply, err)
	}
	if _, lead, err := f.join(s, bring(1), 2); !lead || err != nil {
		t.Errorf("after the landing: %v %v", lead, err)
	}
}
