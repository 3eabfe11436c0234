package simulated

import (
	"encoding/json"
	"net/http"
	"time"
)

const (
	chargesPath = "/psp/v1/charges"
	keyHeader   = "Idempotency-Key"
)

// Codes of failures that the two halves must agree on.
const (
	codeUnavailable      = "unavailable"
	codeUnsupportedToken = "unsupported_token"
)

// chargeRequest is the body of POST /psp/v1/charges.
type chargeRequest struct {
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Token     string `json:"token"`
}

// charge is one line of the ledger: the answer to a POST, and an element of the list. A declined
// charge has captured 0. Captured minus refunded is the money that moved.
type charge struct {
	ID             string    `json:"id"`
	Reference      string    `json:"reference"`
	IdempotencyKey string    `json:"idempotency_key"`
	Amount         int64     `json:"amount"`
	Currency       string    `json:"currency"`
	Status         string    `json:"status"`
	Captured       int64     `json:"captured"`
	Refunded       int64     `json:"refunded"`
	CreatedAt      time.Time `json:"created_at"`
}

type chargeList struct {
	Charges []charge `json:"charges"`
}

// failure is the body of every answer that is not a charge. Charged is present, and false, only when
// the server has looked and is certain that nothing was charged under this key.
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
