package api

import (
	"context"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
)

// submitContact keeps a message for the shop's staff.
func (a *API) submitContact(_ context.Context, tx *idempotent.Tx, in SubmitContact) (ContactMessage, error) {
	message := domain.Message{Name: in.Name, Email: in.Email, Text: in.Message}.Normalize()
	if err := message.Validate(); err != nil {
		return ContactMessage{}, err
	}
	message.ID, message.Reference, message.CreatedAt = newID(), "C-"+drawReadable(6), tx.Now()
	tx.InsertMessage(message, tx.Scope)
	return ContactMessage{ID: message.ID, Reference: message.Reference}, nil
}
