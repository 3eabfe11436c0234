package admin

import (
	"context"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/site"
)

// Support is what the desk does that is no operation with a key: the row itself says whether it was done,
// so doing it twice is doing it once. by is who did it.
type Support interface {
	// SettleAttention notes that a flag was dealt with.
	SettleAttention(ctx context.Context, id, by string) error
	// SettleUnknown notes what became of a payment in doubt.
	SettleUnknown(ctx context.Context, paymentID, found, by string) error
	// AnswerMessage notes that a contact message is answered.
	AnswerMessage(ctx context.Context, id, by string) error
	// ResendMail has a mail that was given up sent after all.
	ResendMail(ctx context.Context, id, by string) error
	// RetryEvent has an event of the provider's that waits or was given up looked at anew.
	RetryEvent(ctx context.Context, id, by string) error
}

// rowsPerPage is how many rows the lists have.
const rowsPerPage = 50

// listing is what the list in l asks for.
func listing(c *gin.Context, l listView) domain.Listing {
	return domain.Listing{State: l.Chosen, Text: l.Search, Cursor: cursorOf(c), Limit: rowsPerPage}
}

// act does what a form asks for, once it is kept who asked, and shows the page that the form was on. Its
// key only says which press it was.
func (d *Desk) act(c *gin.Context, action deed, back string, fn func(ctx context.Context, id, by string) error) error {
	form, err := site.Form(c)
	if err != nil {
		return err
	}
	key, err := site.KeyOf(c, form.Get("key"))
	if err != nil {
		return err
	}
	id, err := idOf(c)
	if err != nil {
		return err
	}
	ctx, cancel := site.Steadily(c)
	defer cancel()
	if err := d.notePress(ctx, c, action, id, key); err != nil {
		return err
	}
	if err := fn(ctx, id, staffOf(c)); err != nil {
		return err
	}
	d.Site.Log.InfoContext(ctx, "staff action", "staff", staffOf(c), "action", string(action), "about", id, "key", key.Short())
	return d.Site.See(c, back+id)
}

// idOf is the id in the address of a page. What is none names nothing.
func idOf(c *gin.Context) (string, error) {
	id := c.Param("id")
	if !site.IsFlow(id) {
		return "", domain.Errorf(domain.NotFound, "not_found", "There is nothing at this address.")
	}
	return id, nil
}

// newKey is the key of a form that is shown now.
func (d *Desk) newKey() string { return site.NewKey(d.Site.Now()) }
