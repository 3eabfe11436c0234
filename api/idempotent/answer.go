package idempotent

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"example.com/eenmaal/domain"
)

// answerOf encodes a result once and for all. The first caller and every replay get these bytes.
func answerOf(out any) (domain.Answer, error) {
	body, err := encode(out)
	if err != nil {
		return domain.Answer{}, err
	}
	answer := domain.Answer{Status: http.StatusCreated, Body: body,
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}}
	if o, ok := out.(interface{ HTTPStatus() int }); ok {
		answer.Status = o.HTTPStatus()
	}
	if o, ok := out.(interface{ Path() string }); ok {
		answer.Header["Location"] = []string{o.Path()}
	}
	return answer, nil
}

// refusalAnswer encodes a final "no".
func refusalAnswer(err error) (domain.Answer, error) {
	problem := ProblemOf(err)
	body, err := encode(problem)
	return domain.Answer{Status: problem.Status, Body: body, Header: http.Header{"Content-Type": {problemType}}}, err
}

// maxAnswer bounds what one key keeps. An answer is a receipt of what was done; what grows belongs
// behind a link.
const maxAnswer = 256 << 10

// encode gives the bytes of an answer. It comes before the commit, so what cannot be kept undoes
// everything: an effect without its answer would happen again.
func encode(out any) ([]byte, error) {
	body, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	if len(body) >= maxAnswer {
		return nil, fmt.Errorf("the answer of %d bytes is larger than %d", len(body)+1, maxAnswer)
	}
	return append(body, '\n'), nil
}

// refusalOf reads a remembered refusal back. A body that is no problem document (a declined payment)
// still has its code.
func refusalOf(a domain.Answer) error {
	var p struct {
		Code      string              `json:"code"`
		Detail    string              `json:"detail"`
		Resource  string              `json:"resource"`
		Operation string              `json:"operation"`
		Errors    []domain.FieldError `json:"errors"`
	}
	if err := json.Unmarshal(a.Body, &p); err != nil {
		return fmt.Errorf("decode stored refusal: %w", err)
	}
	kind := domain.Refused
	if a.Status == http.StatusPaymentRequired {
		kind = domain.Declined
	}
	return &domain.Error{Kind: kind, Code: p.Code, Message: p.Detail, Fields: p.Errors, Resource: p.Resource, Operation: p.Operation}
}
