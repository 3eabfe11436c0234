package api

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
)

// RegisterWebhookEndpoint is the body of POST /v1/webhook-endpoints. Without events all are sent.
type RegisterWebhookEndpoint struct {
	URL    string   `json:"url"`
	Events []string `json:"events,omitzero"`
}

// WebhookEndpoint is what the API tells of an endpoint.
type WebhookEndpoint struct {
	ID         string    `json:"id"`
	URL        string    `json:"url"`
	Events     []string  `json:"events"`          // all when empty
	Secret     string    `json:"secret,omitzero"` // only when this one endpoint is asked for
	CreatedAt  time.Time `json:"created_at"`
	DisabledAt time.Time `json:"disabled_at,omitzero"` // when the receiver said 410
}

// RegisteredEndpoint is the answer to POST /v1/webhook-endpoints. It is stored, so it holds no secret.
type RegisteredEndpoint struct{ WebhookEndpoint }

// Path is where the endpoint is found, with its secret.
func (e RegisteredEndpoint) Path() string { return "/v1/webhook-endpoints/" + e.ID }

// DeleteWebhookEndpoint is DELETE /v1/webhook-endpoints/{id}. It has no body.
type DeleteWebhookEndpoint struct {
	ID string `json:"-" path:"id"`
}

// DeletedEndpoint is the answer to it.
type DeletedEndpoint struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

// HTTPStatus is that of something that is no more.
func (DeletedEndpoint) HTTPStatus() int { return http.StatusOK }

func newWebhookEndpoint(e domain.WebhookEndpoint) WebhookEndpoint {
	return WebhookEndpoint{ID: e.ID, URL: e.URL, Events: append([]string{}, e.Events...), CreatedAt: e.CreatedAt, DisabledAt: e.DisabledAt}
}

// registerWebhookEndpoint keeps where a consumer wants its events sent.
func (a *API) registerWebhookEndpoint(ctx context.Context, tx *idempotent.Tx, in RegisterWebhookEndpoint) (RegisteredEndpoint, error) {
	endpoint := domain.WebhookEndpoint{Consumer: tx.Scope.Consumer, URL: in.URL, Events: in.Events}
	err := endpoint.Validate(a.outbound.CheckURL(in.URL))
	if err != nil {
		return RegisteredEndpoint{}, err
	}
	others, err := a.db.WebhookEndpoints(ctx, endpoint.Consumer)
	if err != nil {
		return RegisteredEndpoint{}, err
	}
	if endpoint.Slot, err = domain.FreeSlot(others); err != nil {
		return RegisteredEndpoint{}, err
	}
	endpoint.ID, endpoint.Secret, endpoint.CreatedAt = newID(), newWebhookSecret(), tx.Now()
	tx.InsertWebhookEndpoint(endpoint, tx.Scope,
		domain.Errorf(domain.Refused, "webhook_endpoint_exists", "You have a webhook endpoint with this URL."))
	return RegisteredEndpoint{newWebhookEndpoint(endpoint)}, nil
}

// newWebhookSecret makes the secret that signs what is sent to one endpoint, as Standard Webhooks writes it.
func newWebhookSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails, by its contract
	return "whsec_" + base64.StdEncoding.EncodeToString(b)
}

// deleteWebhookEndpoint ends an endpoint: what is still on its way to it is given up.
func (a *API) deleteWebhookEndpoint(ctx context.Context, tx *idempotent.Tx, in DeleteWebhookEndpoint) (DeletedEndpoint, error) {
	endpoint, err := a.ownWebhookEndpoint(ctx, tx.Scope.Consumer, in.ID)
	if err != nil {
		return DeletedEndpoint{}, err
	}
	tx.DeleteWebhookEndpoint(endpoint.ID)
	return DeletedEndpoint{ID: endpoint.ID, Deleted: true}, nil
}

// ownWebhookEndpoint reads an endpoint that the consumer has. One that is deleted, or somebody else's,
// is as absent as one that never was.
func (a *API) ownWebhookEndpoint(ctx context.Context, consumer int64, text string) (domain.WebhookEndpoint, error) {
	id, err := parseID(text, "webhook_endpoint")
	if err != nil {
		return domain.WebhookEndpoint{}, err
	}
	endpoint, err := a.db.WebhookEndpoint(ctx, id)
	if err == nil && (!has(consumer, endpoint.Consumer) || !endpoint.DeletedAt.IsZero()) {
		return domain.WebhookEndpoint{}, notThere("webhook_endpoint")
	}
	return endpoint, err
}

// getWebhookEndpoints lists the caller's endpoints.
func (a *API) getWebhookEndpoints(c *gin.Context) {
	endpoints, err := a.db.WebhookEndpoints(c.Request.Context(), caller(c).ID)
	if err != nil {
		a.fail(c, err)
		return
	}
	list := make([]WebhookEndpoint, len(endpoints))
	for i, e := range endpoints {
		list[i] = newWebhookEndpoint(e)
	}
	live(c, list)
}

// getWebhookEndpoint tells one of the caller's endpoints, with the secret to check what it receives.
func (a *API) getWebhookEndpoint(c *gin.Context) {
	endpoint, err := a.ownWebhookEndpoint(c.Request.Context(), caller(c).ID, c.Param("id"))
	if err != nil {
		a.fail(c, err)
		return
	}
	out := newWebhookEndpoint(endpoint)
	out.Secret = endpoint.Secret
	live(c, out)
}
