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

	"example.com/eenmaal/domain"
)

const (
	maxBody      = 16 << 10
	maxKey       = 255
	maxReference = 64

	captureManual = "manual"
)

// readCharge reads and checks one request to charge. bad is the answer for a request that is none.
func readCharge(w http.ResponseWriter, r *http.Request) (key string, req chargeRequest, bad *reply) {
	if key, bad = readKeyed(w, r, &req, "The body must be one JSON object with reference, amount, currency and token."); bad != nil {
		return "", req, bad
	}
	return key, req, req.validate()
}

// readModify reads and checks one request to modify a charge.
func readModify(w http.ResponseWriter, r *http.Request, kind domain.ModificationKind) (key string, req modifyRequest, bad *reply) {
	if key, bad = readKeyed(w, r, &req, "The body must be one JSON object with the amount, or {} for a void."); bad != nil {
		return "", req, bad
	}
	if (kind == domain.Void) != (req.Amount == 0) || req.Amount < 0 {
		return "", req, refusal(http.StatusBadRequest, "amount_invalid", "The amount must be greater than 0, and absent for a void.")
	}
	return key, req, nil
}

// readKeyed reads the key and the body of a request. form says what the body should have been.
func readKeyed(w http.ResponseWriter, r *http.Request, v any, form string) (key string, bad *reply) {
	key, ok := readKey(r.Header)
	if !ok {
		return "", refusal(http.StatusBadRequest, "key_required", "Send one Idempotency-Key of 1 to 255 characters.")
	}
	return key, readBody(w, r, v, form)
}

func readBody(w http.ResponseWriter, r *http.Request, v any, form string) *reply {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return refusal(http.StatusRequestEntityTooLarge, "too_large", "The body exceeds 16 KiB.")
	}
	if err != nil || decodeStrictly(body, v) != nil {
		return refusal(http.StatusBadRequest, "malformed", form)
	}
	return nil
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
	case r.Method != "" && r.Method != methodIDEAL:
		return refusal(http.StatusBadRequest, "method_invalid", `The method must be "ideal", or absent for a card.`)
	case r.Capture != "" && (r.Capture != captureManual || r.Method == methodIDEAL):
		return refusal(http.StatusBadRequest, "capture_invalid", `The capture must be "manual", for a card, or absent.`)
	case (r.Token == "") != (r.Method == methodIDEAL):
		return refusal(http.StatusBadRequest, "token_required", "A card needs a token, and nothing else has one.")
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
func (r chargeRequest) fingerprint() string { return fingerprint(r) }

func (r modifyRequest) fingerprint(kind domain.ModificationKind, charge string) string {
	return fingerprint([]any{kind, charge, r.Amount})
}

func fingerprint(v any) string {
	text, _ := json.Marshal(v) // plain fields cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func refusal(status int, code, message string) *reply {
	re := refuse(status, code, message)
	return &re
}
