package simulated

import (
	"encoding/json"
	"net/http"
	"time"

	"example.com/eenmaal/domain"
)

const (
	chargesPath       = "/psp/v1/charges"
	modificationsPath = "/psp/v1/modifications"
	faultsPath        = "/psp/v1/faults"
	keyHeader         = "Idempotency-Key"
)

// Codes of failures that the two halves must agree on.
const (
	codeUnavailable      = "unavailable"
	codeUnsupportedToken = "unsupported_token"
	codeNoCharge         = "charge_not_found"
	codeExceedsRest      = "exceeds_rest" // of a modification, final
	codeRefused          = "refused"      // of a modification, final
)

// chargeRequest is the body of POST /psp/v1/charges. What is absent by default must stay out of the
// JSON: the fingerprints of remembered keys are made of it.
type chargeRequest struct {
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Token     string `json:"token"`               // of a card
	Method    string `json:"method,omitzero"`     // "ideal", or absent for a card
	Capture   string `json:"capture,omitzero"`    // "manual", or absent
	ReturnURL string `json:"return_url,omitzero"` // after the hosted page
}

// charge is what the provider tells of a charge: the answer to a POST, and an element of the list. A
// declined charge has captured 0. Captured minus refunded is the money that moved. Version rises
// with every change.
type charge struct {
	ID             string    `json:"id"`
	Reference      string    `json:"reference"`
	IdempotencyKey string    `json:"idempotency_key"`
	Amount         int64     `json:"amount"`
	Currency       string    `json:"currency"`
	Status         string    `json:"status"`
	Captured       int64     `json:"captured"`
	Voided         int64     `json:"voided"` // of the reservation, given back
	Refunded       int64     `json:"refunded"`
	Version        int64     `json:"version"`
	RedirectURL    string    `json:"redirect_url,omitzero"` // while pending
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"` // of the last change
}

func (c charge) is(s domain.ChargeStatus) bool { return c.Status == string(s) }

type chargeList struct {
	Charges []charge `json:"charges"`
	Next    string   `json:"next,omitzero"` // of a list by time: what after= takes to read on
}

// modifyRequest is the body of POST /psp/v1/charges/{id}/captures, voids and refunds. A void has no
// amount.
type modifyRequest struct {
	Amount int64 `json:"amount,omitzero"`
}

// modification is the answer to a capture, void or refund, and an element of the list. The charge is
// as the modification left it; in the list, as it is now.
type modification struct {
	ID             string    `json:"id"`
	Kind           string    `json:"kind"`
	ChargeID       string    `json:"charge_id"`
	IdempotencyKey string    `json:"idempotency_key"`
	Amount         int64     `json:"amount"`
	CreatedAt      time.Time `json:"created_at"`
	Charge         charge    `json:"charge"`
}

type modificationList struct {
	Modifications []modification `json:"modifications"`
}

// event is the body of a webhook. The charge is as it was when the event happened.
type event struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"created_at"`
	Charge    charge    `json:"charge"`
}

// failure is the body of every answer that is not a charge. Charged is present, and false, only when
// the server has looked and is certain that nothing was done under this key.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Charged *bool  `json:"charged,omitempty"`
}

// reply is a complete answer. Those that settle a key are kept as these bytes.
type reply struct {
	status int
	body   []byte
}

func (re reply) writeTo(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(re.status)
	_, _ = w.Write(re.body) // the client may be gone; the ledger holds what it missed
}

func jsonReply(status int, v any) reply {
	body, err := json.Marshal(v)
	if err != nil {
		return reply{http.StatusInternalServerError, []byte(`{"code":"internal","message":"The answer cannot be written."}`)}
	}
	return reply{status, body}
}

func refuse(status int, code, message string) reply {
	return jsonReply(status, failure{Code: code, Message: message})
}

func notCharged(status int, code, message string) reply {
	return jsonReply(status, failure{Code: code, Message: message, Charged: new(bool)})
}
