package simulated

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"unicode/utf8"
)

const (
	maxBody      = 16 << 10
	maxKey       = 255
	maxReference = 64
)

// readCharge reads and checks one request to charge. bad is the answer for a request that is none.
func readCharge(w http.ResponseWriter, r *http.Request) (key string, req chargeRequest, bad *reply) {
	key, ok := readKey(r.Header)
	if !ok {
		return "", req, refusal(http.StatusBadRequest, "key_required", "Send one Idempotency-Key of 1 to 255 characters.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return "", req, refusal(http.StatusRequestEntityTooLarge, "too_large", "The body exceeds 16 KiB.")
	}
	if err != nil || decodeStrictly(body, &req) != nil {
		return "", req, refusal(http.StatusBadRequest, "malformed", "The body must be one JSON object with reference, amount, currency and token.")
	}
	return key, req, req.validate()
}

func readKey(h http.Header) (key string, ok bool) {
	values := h.Values(keyHeader)
	if len(values) != 1 || values[0] == "" || len(values[0]) > maxKey || !utf8.ValidString(values[0]) {
		return "", false
	}
	return values[0], true
}

func decodeStrictly(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

func (r chargeRequest) validate() *reply {
	switch {
	case r.Reference == "" || len(r.Reference) > maxReference:
		return refusal(http.StatusBadRequest, "reference_invalid", "The reference must have 1 to 64 characters.")
	case r.Amount <= 0:
		return refusal(http.StatusBadRequest, "amount_invalid", "The amount must be greater than 0.")
	case !isCurrency(r.Currency):
		return refusal(http.StatusBadRequest, "currency_invalid", "The currency must be three capitals, such as EUR.")
	case r.Token == "":
		return refusal(http.StatusBadRequest, "token_required", "The token must not be empty.")
	}
	return nil
}

func isCurrency(s string) bool {
	if len(s) != 3 {
		return false
	}
	for _, c := range []byte(s) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

// fingerprint tells requests apart by their content, whatever the spacing and order of their JSON.
// It is also the only trace of the token that is kept.
func (r chargeRequest) fingerprint() string {
	text, _ := json.Marshal(r) // four plain fields cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func refusal(status int, code, message string) *reply {
	re := refuse(status, code, message)
	return &re
}
