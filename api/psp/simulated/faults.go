package simulated

import (
	"net/http"
	"slices"
	"sync"

	"example.com/eenmaal/domain"
)

// fault is what goes wrong with one capture, void or refund. A repeat of its key finds the recorded
// answer and is simply answered.
type fault string

const (
	faultDoneThenTimeout fault = "done_then_timeout"
	faultDoneThen500     fault = "done_then_500"
	faultUnavailable     fault = "unavailable_once" // 503, nothing done; the next request is fine
	faultSlow            fault = "slow"
	faultRefuse          fault = "refuse" // 422, final
)

var allFaults = []fault{faultDoneThenTimeout, faultDoneThen500, faultUnavailable, faultSlow, faultRefuse}

func (f fault) telling() telling {
	switch f {
	case faultDoneThenTimeout:
		return tellNothing
	case faultDoneThen500:
		return tellFailure
	default:
		return tellTruth
	}
}

// faultRequest is the body of POST /psp/v1/faults: the fault meets the next such call, of that charge
// when one is named.
type faultRequest struct {
	Call   string `json:"call"` // "capture", "void" or "refund"
	Fault  fault  `json:"fault"`
	Charge string `json:"charge,omitzero"`
}

// faults are those that wait for their call. They are kept in memory only: a restart clears them.
type faults struct {
	mu      sync.Mutex
	waiting []faultRequest
}

const maxFaults = 100

func (f *faults) add(r faultRequest) (ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) >= maxFaults {
		return false
	}
	f.waiting = append(f.waiting, r)
	return true
}

// take gives the oldest fault that waits for such a call, "" when there is none.
func (f *faults) take(call, charge string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.waiting, func(r faultRequest) bool {
		return r.Call == call && (r.Charge == "" || r.Charge == charge)
	})
	if i < 0 {
		return ""
	}
	found := f.waiting[i].Fault
	f.waiting = slices.Delete(f.waiting, i, i+1)
	return found
}

func (s *Server) postFault(w http.ResponseWriter, r *http.Request) {
	var req faultRequest
	if bad := readBody(w, r, &req, "The body must be one JSON object with call, fault and perhaps charge."); bad != nil {
		bad.writeTo(w)
		return
	}
	if _, known := changes[domain.ModificationKind(req.Call)]; !known || !slices.Contains(allFaults, req.Fault) {
		refuse(http.StatusBadRequest, "fault_invalid", "There is no such call or no such fault.").writeTo(w)
		return
	}
	if !s.faults.add(req) {
		refuse(http.StatusTooManyRequests, "too_many_faults", "Too many faults wait for their call.").writeTo(w)
		return
	}
	jsonReply(http.StatusCreated, req).writeTo(w)
}
