package web_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/eenmaal/domain"
)

// TestAFailedMessageIsToldAsItStands: that it was not sent is said only when that is certain. Whatever
// failed, the form is there with what was typed and with the same key, and sending it again counts once.
func TestAFailedMessageIsToldAsItStands(t *testing.T) {
	t.Parallel()
	const notSent, unknown, busy = "not sent yet", "We do not know yet if your message arrived", "We are still taking in your message"
	for _, tt := range []struct {
		failure  error
		id, says string
	}{
		{domain.Errorf(domain.Unavailable, "retry_same_key", "Undone."), "contact-again", notSent},
		{domain.Errorf(domain.Unavailable, "store_unavailable", "The commit may have come through."), "contact-unknown", unknown},
		{domain.Errorf(domain.Unknown, "outcome_unknown", "Unknown."), "contact-unknown", unknown},
		{errors.New("something else"), "contact-unknown", unknown},
		{domain.Errorf(domain.Busy, "operation_in_progress", "Still runs."), "contact-busy", busy},
	} {
		t.Run(fmt.Sprint(tt.failure), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			path, form := contactForm(b)
			form.Set("key", "019e2f00-0000-7000-8000-00000000000a") // as the script makes it
			b.contactFails = tt.failure
			b.post(path, form)
			b.want(503, path, tt.id, "contact-form")
			for _, said := range []string{notSent, unknown, busy} {
				if got := strings.Contains(b.last.body, said); got != (said == tt.says) {
					t.Errorf("the page says %q: %v", said, got)
				}
			}
			if !strings.Contains(b.last.body, "Is the teapot heavy?") || b.last.header.Get("Retry-After") == "" {
				t.Error("what was typed is lost, or nobody is told when to try again")
			}
			again, shown := b.last.form(t, path)
			if again != path || shown.Get("key") != form.Get("key") {
				t.Errorf("it would be sent to %s with the key %s", again, shown.Get("key"))
			}
			b.post(again, form)
			b.want(200, path+"/received", "received")
			if len(b.messages) != 1 {
				t.Errorf("%d messages", len(b.messages))
			}
		})
	}
}

// TestAMessageThatArrivedInSpiteOfAnErrorIsReceived: the answer was lost between the database and the shop.
func TestAMessageThatArrivedInSpiteOfAnErrorIsReceived(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path, form := contactForm(b)
	b.onContact = func(f *fake) error {
		f.messages[domain.FlowConsumer("contact", strings.TrimPrefix(path, "/contact/")).ID] =
			domain.Message{ID: "m", Reference: "C-58", Email: form.Get("email"), Text: "Is the teapot heavy?\nRegards"}
		return domain.Errorf(domain.Unavailable, "store_unavailable", "The answer was lost.")
	}
	b.post(path, form)
	b.want(200, path+"/received", "received")
}

// TestAContactFormOutlivesTheDatabase: nothing can be looked up, so nothing is said of the message but
// that we do not know.
func TestAContactFormOutlivesTheDatabase(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path, form := contactForm(b)
	b.readFails = errors.New("the database is away")
	b.post(path, form)
	b.want(503, path, "contact-unknown", "contact-form")
	if !strings.Contains(b.last.body, "Is the teapot heavy?") {
		t.Error("what was typed is lost")
	}
	b.readFails = nil
	b.post(path, form)
	b.want(200, path+"/received", "received")
	if len(b.messages) != 1 {
		t.Errorf("%d messages", len(b.messages))
	}
}
