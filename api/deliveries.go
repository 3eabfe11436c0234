package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/jobs"
)

// Delivery is what the API tells of one event on its way to one endpoint.
type Delivery struct {
	ID          string               `json:"id"`
	EventID     string               `json:"event_id"` // the webhook-id of every try
	Type        string               `json:"type"`
	State       domain.DeliveryState `json:"state"`
	Tries       int                  `json:"tries"`
	NextTryAt   time.Time            `json:"next_try_at,omitzero"` // not before
	LastStatus  int                  `json:"last_status,omitzero"`
	LastError   string               `json:"last_error,omitzero"`
	CreatedAt   time.Time            `json:"created_at"`
	DeliveredAt time.Time            `json:"delivered_at,omitzero"`
}

// DeliveryPage is one page of deliveries, newest first. NextCursor, when there is one, asks for the
// next page.
type DeliveryPage struct {
	Deliveries []Delivery `json:"deliveries"`
	NextCursor string     `json:"next_cursor,omitzero"`
}

// Redeliver is POST /v1/webhook-endpoints/{id}/deliveries/{delivery}/redeliveries. It has no body.
type Redeliver struct {
	EndpointID string `json:"-" path:"id"`
	DeliveryID string `json:"-" path:"delivery"`
}

// Redelivery is the answer to it: the delivery, which is pending again.
type Redelivery struct{ Delivery }

// HTTPStatus says that the sending is still to come.
func (Redelivery) HTTPStatus() int { return http.StatusAccepted }

func newDelivery(d domain.Delivery) Delivery {
	return Delivery{ID: d.ID, EventID: d.EventID, Type: d.EventType, State: d.State, Tries: d.Tries, NextTryAt: d.NextTryAt,
		LastStatus: d.LastStatus, LastError: d.LastError, CreatedAt: d.CreatedAt, DeliveredAt: d.DeliveredAt}
}

// redeliver makes a delivery that ended pending again, for as long as a new one would be tried.
func (a *API) redeliver(ctx context.Context, tx *idempotent.Tx, in Redeliver) (Redelivery, error) {
	endpoint, err := a.ownWebhookEndpoint(ctx, tx.Scope.Consumer, in.EndpointID)
	if err != nil {
		return Redelivery{}, err
	}
	id, err := parseID(in.DeliveryID, "delivery")
	if err != nil {
		return Redelivery{}, err
	}
	before, err := a.db.Delivery(ctx, id)
	if err != nil {
		return Redelivery{}, err
	}
	if before.EndpointID != endpoint.ID {
		return Redelivery{}, notThere("delivery")
	}
	if !endpoint.Open() {
		return Redelivery{}, domain.Errorf(domain.Refused, "webhook_endpoint_disabled", "The receiver said that it is gone. Delete this endpoint and register a new one.")
	}
	after, err := before.Again(tx.Now(), tx.Now().Add(a.retryWindow))
	if err != nil {
		return Redelivery{}, err
	}
	tx.ChangeDelivery(before.State, after)
	tx.SettleFlag(domain.DeadDelivery, after.ID, "a redelivery")
	a.jobs.Enqueue(tx.Tx, jobs.Deliver, after.ID)
	return Redelivery{newDelivery(after)}, nil
}

const (
	deliveriesPerPage    = 50
	maxDeliveriesPerPage = 100
)

// getDeliveries lists what was sent to one of the caller's endpoints: ?limit= at most so many, ?cursor=
// the next_cursor of the page before.
func (a *API) getDeliveries(c *gin.Context) {
	page, err := a.deliveryPage(c)
	if err != nil {
		a.fail(c, err)
		return
	}
	live(c, page)
}

func (a *API) deliveryPage(c *gin.Context) (DeliveryPage, error) {
	endpoint, err := a.ownWebhookEndpoint(c.Request.Context(), caller(c).ID, c.Param("id"))
	if err != nil {
		return DeliveryPage{}, err
	}
	limit, err := strconv.Atoi(c.DefaultQuery("limit", strconv.Itoa(deliveriesPerPage)))
	if err != nil || limit < 1 || limit > maxDeliveriesPerPage {
		return DeliveryPage{}, domain.Errorf(domain.Malformed, "limit_malformed", "The limit must be a number from 1 to %d.", maxDeliveriesPerPage)
	}
	cursor := c.Query("cursor")
	if cursor != "" {
		if cursor, err = parseID(cursor, "delivery"); err != nil {
			return DeliveryPage{}, domain.Errorf(domain.Malformed, "cursor_malformed", "The cursor must be the next_cursor of another page.")
		}
	}
	deliveries, err := a.db.DeliveriesTo(c.Request.Context(), endpoint.ID, cursor, limit+1)
	if err != nil {
		return DeliveryPage{}, err
	}
	page := DeliveryPage{Deliveries: []Delivery{}}
	for _, d := range deliveries[:min(limit, len(deliveries))] {
		page.Deliveries = append(page.Deliveries, newDelivery(d))
	}
	if len(deliveries) > limit {
		page.NextCursor = deliveries[limit-1].ID
	}
	return page, nil
}
